"""Read columns of data frames of any library, and make arrays and levels of them."""

from .base import Column, objects
from .labels import labels_of
from .levels import Levels, levels, levels_of
from .numeric import as_numbers, refuse_levels, with_numbers
from .tables import columns_of, is_table, value_of

__all__ = [
    "Column",
    "Levels",
    "as_numbers",
    "columns_of",
    "is_table",
    "labels_of",
    "levels",
    "levels_of",
    "objects",
    "refuse_levels",
    "value_of",
    "with_numbers",
]
