"""Read arguments by name from JSON: an object of columns, or a list of records."""

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import DataError
from .cells import MISSING, from_values
from .files import whole

_GROWTH = 4  # times its size that JSON takes in memory: 3.6 for numbers of 18 digits, 11 for numbers of one
_DEEPEST = 32  # objects inside of each other
_TOO_DEEP = "lists or objects are nested too deeply. Give arrays by name."
_TOO_LARGE = "is too large for float64, whose largest number is 1.8e308. Scale it."


def open_json(path: Path) -> dict[str, Callable[[], Any]]:
    """Return getters of arguments, by key or by name in the records.

    **Raises** `DataError` for a file that is not JSON, with line and column, or not data by name.
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((twice, count),) = Counter(key for key, _ in pairs).most_common(1)
            raise DataError(f"{path}: an object has the key {twice!r} {count} times. Leave one.")
        return found

    def finite(word: str) -> float:
        value = float(word)
        if math.isinf(value):
            raise DataError(f"{path}: the number {word} {_TOO_LARGE}")
        return value

    text = whole(path, _GROWTH)
    try:
        content = json.loads(text.decode("utf-8-sig"), object_pairs_hook=distinct, parse_float=finite)
    except DataError:
        raise
    except RecursionError as error:
        raise DataError(f"{path}: {_TOO_DEEP}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    except ValueError as error:  # of Python, for a whole number of thousands of digits
        raise DataError(f"{path}: a whole number {_TOO_LARGE}") from error
    if isinstance(content, list) and content and all(isinstance(each, dict) for each in content):
        return _records(path, content)
    if not isinstance(content, dict):
        raise DataError(
            f'{path}: data by name is wanted, such as {{"y": [1, 2]}}, or records, [{{"y": 1}}, {{"y": 2}}]; got a '
            f"{type(content).__name__}{' of other things than records' if content else ''}."
        )
    return {name: _value_reader(path, name, value) for name, value in content.items()}


def _records(path: Path, records: list[dict[str, Any]]) -> dict[str, Callable[[], Any]]:
    names = list(records[0])
    for row, record in enumerate(records):
        for name in names:
            if name not in record:
                raise DataError(
                    f"{path}: record {row}, counted from 0, has no {name!r}, which the first one has. Write null for "
                    "what is missing."
                )
        for name in record:
            if name not in names:
                raise DataError(
                    f"{path}: record {row}, counted from 0, has {name!r}, which the first one lacks."
                )
    return {name: _column_reader(path, name, [record[name] for record in records]) for name in names}


def _column_reader(path: Path, name: str, values: list[Any]) -> Callable[[], Any]:
    def read() -> Any:
        if any(isinstance(value, dict | list) for value in values):
            return _from_json(path, name, values)
        return from_values(
            [_read(value) for value in values], name, lambda row: f"{path}, record {row}, {name!r}"
        )

    return read


def _value_reader(path: Path, name: str, value: Any) -> Callable[[], Any]:
    return lambda: _from_json(path, name, value)


def _from_json(path: Path, name: str, value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict):
        if depth == _DEEPEST:
            raise DataError(f"{path}: {name.split('/')[0]!r}: {_TOO_DEEP}")
        if value and list(value) == [str(row) for row in range(len(value))]:
            raise DataError(
                f"{path}: {name!r} has a key for each row, as pandas writes it. Write `df.to_json(orient='records')`."
            )
        return {key: _from_json(path, f"{name}/{key}", entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, int) and not _is_int64(value):
        raise DataError(
            f"{path}: {name!r} is a whole number that does not fit int64. Scale it, or write it as 1e20."
        )
    if not isinstance(value, list) or (value and all(isinstance(entry, str) for entry in value)):
        return value  # words stay words: they may be labels of something else than rows
    if value and not any(isinstance(entry, dict | list) for entry in value):
        read = [_read(entry) for entry in value]
        return from_values(read, name, lambda row: f"{path}: {name!r}, entry {row}, counted from 0")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            if not all(_is_int64(entry) for entry in array.ravel().tolist() if isinstance(entry, int)):
                raise ValueError("a whole number does not fit int64. Scale it, or write it as 1e20")
            array = np.asarray(value, float)  # null becomes NaN
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: {name!r} is no array of numbers: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: {name!r} mixes numbers with words.")
    return array


def _read(value: Any) -> Any:
    """Convert marks of missing entries to None: R's jsonlite writes "NA" among numbers."""
    return None if isinstance(value, str) and value in MISSING else value


def _is_int64(value: int) -> bool:
    return -(2**63) <= value < 2**63
