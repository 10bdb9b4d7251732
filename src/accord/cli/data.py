"""Read a model's arguments by name from a JSON, CSV, NPZ or Parquet file."""

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import DataError, suggest


def read_data(path: Path) -> dict[str, Any]:
    """Arguments by name: of JSON the keys, of NPZ the arrays, of CSV and Parquet the columns.

    Numbers become NumPy arrays, and stay Python numbers where they stand alone; an empty cell and a `null` among
    numbers are NaN. Words stay lists of strings.

    **Raises** `DataError` for a file that is not there, cannot be read, or is not of the kind that its name says.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: the data must be a file ending in {', '.join(_READERS)}.{suggest(path.suffix, _READERS)}"
        )
    try:
        return reader(path)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r} to read data from.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise DataError(
            f'{path}: data by name is wanted, such as {{"y": [1, 2]}}; got a {type(content).__name__}.'
        )
    return {str(name): _from_json(path, str(name), value) for name, value in content.items()}


def _from_json(path: Path, name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _from_json(path, f"{name}/{key}", entry) for key, entry in value.items()}
    if not isinstance(value, list) or (value and all(isinstance(entry, str) for entry in value)):
        return value
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            array = np.asarray(value, float)  # null becomes NaN
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {name!r} is no array of numbers: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise DataError(f"{path}: {name!r} mixes numbers with words.")
    return array


def _read_csv(path: Path) -> dict[str, Any]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (ValueError, csv.Error) as error:
        raise DataError(f"{path} is not CSV in UTF-8: {error}.") from error
    if len(rows) < 2:
        raise DataError(f"{path}: a line of column names and at least one line of data are wanted.")
    names = [name.strip() for name in rows[0]]
    if len(set(names)) != len(names):
        raise DataError(f"{path}: column names must be different, got {', '.join(names)}.")
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise DataError(f"{path}: row {number} has {len(row)} cells for {len(names)} columns.")
    columns = zip(*rows[1:], strict=True)
    return {
        name: _from_words([cell.strip() for cell in column])
        for name, column in zip(names, columns, strict=True)
    }


def _from_words(cells: list[str]) -> np.ndarray | list[str]:
    """A column as whole numbers if all are, else as numbers, else as truth values, else as words."""
    for convert in (int, lambda cell: float(cell or "nan"), _truth):
        try:
            return np.asarray([convert(cell) for cell in cells])
        except (ValueError, KeyError, OverflowError):
            continue
    return cells


def _truth(cell: str) -> bool:
    return {"true": True, "false": False}[cell.lower()]


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: array if array.ndim else array.item() for name, array in arrays.items()}
    except (ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is not an NPZ file of plain arrays: {error}.") from error


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            'reading Parquet needs the package pyarrow. Install it with: pip install "accord[parquet]"'
        ) from error
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{path} is not a Parquet file: {error}.") from error
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return {name: array.tolist() if array.dtype.kind == "O" else array for name, array in columns.items()}


_READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    ".json": _read_json,
    ".csv": _read_csv,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
}
