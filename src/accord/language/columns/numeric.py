"""Make an array of numbers of a column, or say why that is not possible."""

import datetime
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.masked import unmasked
from ..static import Static
from .base import Column, rows_in_words
from .levels import Levels
from .reading import read_column
from .remedies import say

_DATES = (datetime.date, np.datetime64)
_DURATIONS = (datetime.timedelta, np.timedelta64)


def with_numbers(value: Any, where: str) -> Any:
    """Replace the columns of data frames in a model's argument by NumPy arrays; all else stays the same object.

    Columns in dicts, lists and tuples, and behind `ac.static`, are found too. `where` begins the messages.

    **Raises** `DataError` for a column that is not numbers, and for a whole data frame.
    """
    match value:
        case Static():
            inner = with_numbers(value.value, where)
            return value if inner is value.value else Static(inner)
        case dict():
            return _each(value, value.items(), lambda items: dict(items), where)
        # Long lists of numbers are common; lists that begin with a number hold no columns. (`case [first, *_]` would
        # match arrays from NumPy 2.5 on, and fail for those without an axis.)
        case list() | tuple() if (
            type(value) in (list, tuple)
            and value
            and not isinstance(value[0], (bool, int, float, str, np.generic))
        ):
            build = list if isinstance(value, list) else tuple
            return _each(value, enumerate(value), lambda items: build(v for _, v in items), where)
        case _:
            return as_numbers(value, where)


def _each(whole: Any, items: Any, build: Callable[[Any], Any], where: str) -> Any:
    old = list(items)
    new = [(key, with_numbers(value, f"{where}, entry {key!r}")) for key, value in old]
    if all(a is b for (_, a), (_, b) in zip(old, new, strict=True)):
        return whole
    return build(new)


def as_numbers(value: Any, where: str) -> Any:
    """Make a NumPy array of numbers or truth values of a column; any other value stays as it is.

    Nothing is copied that has no need to be. Missing numbers and truth values are NaN, so that the array is of floats.

    **Raises** `DataError` for whole numbers with missing entries, masked entries, dates, durations, words, categories,
    and mixtures.
    """
    value = unmasked(value, where)
    column = read_column(value)
    if column is None:
        return value
    return numbers_of(column, f"{where}{_named(column, where)}")


def numbers_of(column: Column, where: str) -> np.ndarray:
    """Make numbers of a column that has been read; as `as_numbers`."""
    if column.is_categorical or column.is_text:
        raise DataError(f"{where} holds {_words(column)}, not numbers. {_remedy_for_words(column)}")
    if column.kind == "O":
        column = _of_objects(column, where)
    if column.kind == "M":
        raise DataError(
            f"{where} holds dates ({column.type}), which are not numbers. Convert them, for instance to days since the "
            f"first: {say('days', column.library, column.name)}."
        )
    if column.kind == "m":
        raise DataError(
            f"{where} holds durations ({column.type}), which have no unit as numbers. Convert them, for instance to "
            f"days: {say('duration', column.library, column.name)}."
        )
    if column.kind == "f" or not column.num_missing:
        return column.values
    if column.kind == "b":
        return _floats(column)
    missing = column.missing if column.missing is not None else np.zeros(0, bool)
    raise DataError(
        f"{where} holds whole numbers ({column.type}), of which {column.num_missing} of {len(missing)} are missing "
        f"({rows_in_words(missing)}). {say('drop', column.library, column.name)}; or, if the model says what is "
        f"missing by `obs_mask=`, pass floats, {say('floats', column.library, column.name)}: missing ones are NaN."
    )


def _of_objects(column: Column, where: str) -> Column:
    """Give the column the dtype that all of its objects have."""
    missing = column.missing if column.missing is not None else np.zeros(len(column.values), bool)
    present = column.values[~missing]
    kinds = [_kind(value) for value in present.ravel()]
    common: Any = {"library": column.library, "name": column.name, "type": column.type}
    found = set(kinds)
    if column.values.ndim > 1 and not missing.any() and found <= {"i", "f", "b"}:
        return Column(np.array(column.values.tolist()), None, **common, kind="f")
    if not found:
        return Column(np.full(len(missing), np.nan), missing, **common, kind="f")
    if found <= {"i", "f"}:
        kind = "f" if "f" in found else "i"
        plain = Column(column.values, missing, **common, kind=kind)
        if kind == "f":
            try:
                return Column(_floats(plain), missing, **common, kind="f")
            except OverflowError as error:
                raise DataError(f"{where} holds numbers that do not fit float64. Scale them.") from error
        if missing.any():
            return plain
        try:
            return Column(np.array(column.values.tolist(), np.int64), missing, **common, kind="i")
        except OverflowError as error:
            raise DataError(
                f"{where} holds integers that do not fit int64. Scale them, or pass them as floats."
            ) from error
    if len(found) == 1 and found <= {"b", "M", "m"}:
        kind = kinds[0]
        values = column.values if missing.any() or kind != "b" else np.array(column.values.tolist(), bool)
        return Column(values, missing, **common, kind=kind)
    # Numbers are what was asked for; otherwise the first entry says what the others should have been.
    expected = {"i", "f"} if found & {"i", "f"} else {kinds[0]}
    odd = next(i for i, kind in enumerate(kinds) if kind not in expected) if found != expected else 0
    if expected == {"O"}:
        odd = 0
    value = present.ravel()[odd]
    row = int(np.flatnonzero(~missing)[odd]) if present.ndim == 1 else odd
    total = f"{sum(kind in ('i', 'f') for kind in kinds)} of {len(kinds)} entries are numbers"
    advice = (
        "Put them into one array, such as `np.stack(list(column))`"
        if isinstance(value, (list, tuple, np.ndarray))
        else "Correct it, or make the column one of numbers"
    )
    raise DataError(
        f"{where} is a column of objects: row {row}, counted from 0, holds {_shown(value)}, which is a "
        f"{type(value).__name__} and not a number ({total}). {advice}."
    )


def _floats(column: Column) -> np.ndarray:
    """Convert the entries to floats, missing ones to NaN."""
    missing = column.missing if column.missing is not None else np.zeros(len(column.values), bool)
    found = np.full(len(missing), np.nan)
    found[~missing] = [float(value) for value in column.values[~missing]]
    return found


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "b"
    if isinstance(value, _DURATIONS):
        return "m"
    if isinstance(value, _DATES):
        return "M"
    if isinstance(value, numbers.Integral):
        return "i"
    if isinstance(value, (numbers.Real, Decimal)):
        return "f"
    return "s" if isinstance(value, str) else "O"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _named(column: Column, where: str) -> str:
    return f" (column {column.name!r})" if column.name and not where.endswith(repr(column.name)) else ""


def _words(column: Column) -> str:
    if column.is_categorical:
        return f"categories ({column.type})"
    first = next((value for value in column.values if isinstance(value, str)), None)
    return f"words ({column.type})" + ("" if first is None else f", such as {_shown(first)}")


def _remedy_for_words(column: Column) -> str:
    named = say("levels", column.library, column.name)
    remedy = (
        f"Make codes and labels of it, {named}: pass the whole to the model, which indexes by its `.codes`; the labels "
        "are its `.levels`, for `coords=`."
    )
    if not column.is_categorical and column.num_missing < len(column.values) and _are_numbers(column):
        return f"They look like numbers: {say('parse', column.library, column.name)}. If they are categories: {named}."
    return remedy


def _are_numbers(column: Column) -> bool:
    try:
        for value in column.values:
            if isinstance(value, str):
                float(value)
    except ValueError:
        return False
    return True


def refuse_levels(value: Any, where: str) -> None:
    """Raise `DataError` where levels stand for an array."""
    if isinstance(value, Levels):
        raise DataError(f"{where} is given levels as a whole. Give their codes: write `.codes` behind them.")
