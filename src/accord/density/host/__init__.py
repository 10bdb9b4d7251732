"""Compute in NumPy what a traced function makes of data, before anything is compiled."""

from .evaluate import CONTROL, MAX_TURNS, is_computable, results_of, run, turns_of
from .partial import HostArray, computed, on_host
from .rounding import ROUNDINGS, Rounding
from .rules import ELEMENTWISE
from .unevaluable import UnevaluableError

__all__ = [
    "CONTROL",
    "ELEMENTWISE",
    "MAX_TURNS",
    "ROUNDINGS",
    "HostArray",
    "Rounding",
    "UnevaluableError",
    "computed",
    "is_computable",
    "on_host",
    "results_of",
    "run",
    "turns_of",
]
