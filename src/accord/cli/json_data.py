"""Read arguments by name from JSON: an object of columns, or a list of records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import DataError
from .cells import MISSING, from_values


def open_json(path: Path) -> dict[str, Callable[[], Any]]:
    """Return getters of arguments, by key or by name in the records.

    **Raises** `DataError` for a file that is not JSON, with line and column, or not data by name.
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"{path}: an object has the key {twice!r} {keys.count(twice)} times. Leave one.")
        return found

    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=distinct)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
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


def _from_json(path: Path, name: str, value: Any) -> Any:
    if isinstance(value, dict):
        if value and list(value) == [str(row) for row in range(len(value))]:
            raise DataError(
                f"{path}: {name!r} has a key for each row, as pandas writes it. Write `df.to_json(orient='records')`."
            )
        return {key: _from_json(path, f"{name}/{key}", entry) for key, entry in value.items()}
    if not isinstance(value, list) or (value and all(isinstance(entry, str) for entry in value)):
        return value  # words stay words: they may be labels of something else than rows
    if value and not any(isinstance(entry, dict | list) for entry in value):
        read = [_read(entry) for entry in value]
        return from_values(read, name, lambda row: f"{path}: {name!r}, entry {row}, counted from 0")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = np.asarray(value, float)  # null becomes NaN
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {name!r} is no array of numbers: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: {name!r} mixes numbers with words.")
    return array


def _read(value: Any) -> Any:
    """Convert marks of missing entries to None: R's jsonlite writes "NA" among numbers."""
    return None if isinstance(value, str) and value in MISSING else value
