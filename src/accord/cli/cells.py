"""Convert a column of a file to an argument (numbers, booleans, or levels of words), or name the wrong cell."""

import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import DataError
from ..language.columns import Column, levels_of, objects

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})
"""Contents of missing cells."""

Place = Callable[[int], str]
"""Location of a row in words: file, line and column."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|Inf|INF|infinity|Infinity)"
)
_WITH_COMMA = re.compile(r"[+-]?[0-9.]*,[0-9.,]+(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.+Z-]*)?")
_MOST_DIGITS = 4000  # Python converts no whole number of more than 4300
_LARGEST = sys.float_info.max
_TRUTH = {"true": True, "false": False}


def from_words(words: Sequence[str], name: str, place: Place) -> Any:
    """Convert a column of text: integers if all cells are, else numbers, else booleans, else levels.

    Missing numbers and booleans become NaN, so that the column has floats.

    **Raises** as `from_values`, and for a number above 1.8e308.
    """
    values = [_value(word) for word in words]
    for row, value in enumerate(values):
        if isinstance(value, float) and math.isinf(value) and "n" not in words[row].lower():  # as in inf
            raise _too_large(place(row))
    return from_values(values, name, place)


def from_values(values: Sequence[Any], name: str, place: Place) -> Any:
    """Convert a column of numbers, booleans or words, None for missing ones, to an array or levels.

    **Raises** `DataError` for a column of several kinds, numbers with a comma, dates, a missing word, and a whole
    number that does not fit int64.
    """
    kinds = [_kind(value) for value in values]
    found = {kind for kind in kinds if kind}
    if not found:
        return np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if isinstance(value, str):
            _check_word(value, place(row), is_alone=found == {"w"})
    if found == {"w"}:
        return _levels(values, name, place)
    if found == {"b"} or found <= {"i", "f"}:
        return _array(values, None in values, found, place)
    is_number = bool(found & {"i", "f"})
    row = next(
        i for i, kind in enumerate(kinds) if kind and (kind not in ("i", "f") if is_number else kind == "w")
    )
    num_others = sum(kind in ("i", "f") if is_number else kind == "b" for kind in kinds)
    what = "number" if is_number else "truth value"
    raise DataError(
        f"{place(row)}: {values[row]!r} is no {what}, but {num_others} of the {len(values)} cells of the column are. "
        "Correct it, or write NA if it is missing. Labels of categories must all be words, such as 'g1' for 1."
    )


def _array(values: Sequence[Any], has_missing: bool, found: set[str], place: Place) -> np.ndarray:
    if has_missing or "f" in found:
        floats = [np.nan if value is None else value for value in values]
        for row, value in enumerate(floats):
            if isinstance(value, int) and abs(value) > _LARGEST:
                raise _too_large(place(row))
        return np.array(floats, float)
    if found == {"b"}:
        return np.array(values, bool)
    for row, value in enumerate(values):
        if not -(2**63) <= value < 2**63:
            raise DataError(
                f"{place(row)}: {_shown(value)} does not fit int64. Scale it, or write it with a decimal point."
            )
    return np.array(values, np.int64)


def _levels(values: Sequence[Any], name: str, place: Place) -> Any:
    missing = np.array([value is None for value in values])
    if missing.any():
        raise DataError(
            f"{place(int(missing.argmax()))}: the cell is missing, in a column of words ({int(missing.sum())} of "
            f"{len(values)} are). Leave these rows out, or write a label of their own, such as 'unknown'."
        )
    return levels_of(Column(objects(values), missing, "numpy", name, "words", "U"), place(0))


def _value(word: str) -> Any:
    if word in MISSING:
        return None
    if _WHOLE.fullmatch(word):
        return int(word) if len(word) <= _MOST_DIGITS else float(word)
    if _NUMBER.fullmatch(word):
        return float(word)
    return _TRUTH.get(word.lower(), word)


def _shown(value: int) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:20]}... ({len(text)} digits)"


def _too_large(place: str) -> DataError:
    return DataError(f"{place}: the number is too large for float64, whose largest is 1.8e308. Scale it.")


def _kind(value: Any) -> str:
    """Return the kind of a cell: i, f, b or w; empty for a missing one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "b"
    return "i" if isinstance(value, int) else "f" if isinstance(value, float) else "w"


def _check_word(word: str, place: str, is_alone: bool) -> None:
    """Raise `DataError` for a word that was meant to be a number."""
    if word == ".":
        raise DataError(
            f"{place}: '.' is no number. If it stands for a missing cell, as in SAS and Stata, leave the cell empty or "
            "write NA."
        )
    if _WITH_COMMA.fullmatch(word):
        raise DataError(
            f"{place}: {word!r} has a comma. Write decimals with a point, and thousands without a mark: in R "
            "`write.csv` rather than `write.csv2`, in pandas `read_csv(decimal=',')` first."
        )
    if is_alone and _DATE.fullmatch(word):
        raise DataError(
            f"{place}: {word!r} is a date, which is not a number. Write numbers, such as days since the first."
        )
