"""Make plain labels of an index, a column, dates or a list."""

import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.errors import DataError, OptionError
from ...core.masked import unmasked
from .base import rows_in_words
from .reading import read_column

_UNITS = ("D", "s", "ms", "us", "ns")


def labels_of(coords: Any, where: str) -> tuple[Any, ...]:
    """Make labels (words, numbers, truth values, NumPy's dates) of a list, an array, or a column of a data frame.

    **Raises** `OptionError` for levels as a whole; `DataError` for missing or masked entries.
    """
    if hasattr(coords, "levels") and hasattr(coords, "codes") and not hasattr(coords, "to_numpy"):
        raise OptionError(
            f"{where}: got levels as a whole, which have a label for each level and a code for each row. Write "
            "`.levels` behind them for one label for each level."
        )
    coords = unmasked(coords, where)
    column = None if isinstance(coords, np.ndarray) else read_column(coords)
    if column is None:
        return plain_labels(np.asarray(coords) if not isinstance(coords, (list, tuple)) else coords)
    if column.num_missing and column.missing is not None:
        raise DataError(
            f"{where}: {column.num_missing} of {len(column.missing)} labels are missing "
            f"({rows_in_words(column.missing)}). Fill them."
        )
    return plain_labels(column.values)


def plain_labels(values: Iterable[Any]) -> tuple[Any, ...]:
    """Make labels that have a hash and an order: Python's numbers and words, dates in their coarsest unit.

    Objects of other kinds, such as the intervals of `pandas.cut`, are labelled by what they print.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return _dates(values)
    given: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    found = [each.item() if isinstance(each, np.generic) and not _is_date(each) else each for each in given]
    if found and all(_is_date(each) for each in found):
        return _dates(_in_one_unit([_in_numpy(each) for each in found]))
    return tuple(each if isinstance(each, (str, bool, int, float)) else str(each) for each in found)


def _is_date(value: Any) -> bool:
    return isinstance(value, (datetime.date, np.datetime64))


def _in_numpy(value: Any) -> np.datetime64:
    """Convert a date in its own unit: nanoseconds reach from 1678 to 2262 only, and NumPy wraps others silently."""
    if isinstance(value, np.datetime64):
        return value
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    # A Timestamp of pandas knows nanoseconds, of which NumPy would see microseconds.
    return value.to_datetime64() if hasattr(value, "to_datetime64") else np.datetime64(value)


def _in_one_unit(dates: list[np.datetime64]) -> np.ndarray:
    """Make an array of dates of several units: in the finest, or in microseconds if that does not reach them all."""
    finest = np.array(dates)
    reaches = all(there.astype(each.dtype) == each for there, each in zip(finest, dates, strict=True))
    return finest if reaches else np.array(dates, "datetime64[us]")


def _dates(values: np.ndarray) -> tuple[Any, ...]:
    """Write dates in the coarsest unit that fits them all: days print as days."""
    for unit in _UNITS:
        coarse = values.astype(f"datetime64[{unit}]")
        if (coarse.astype(values.dtype) == values).all():
            return tuple(coarse)
    return tuple(values)
