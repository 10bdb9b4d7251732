"""Read a model's arguments by name from a JSON, CSV, NPZ or Parquet file."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import DataError, suggest
from ..language.columns import value_of
from .csv_data import open_csv
from .json_data import open_json

Offered = dict[str, Callable[[], Any]]
"""Getters of arguments by name."""


def read_data(path: Path) -> dict[str, Any]:
    """Read all arguments of a file by name; see `open_data`."""
    return {name: get() for name, get in open_data(path).items()}


def open_data(path: Path) -> Offered:
    """Return getters of arguments by name: keys of JSON, arrays of NPZ, columns of tables.

    Only requested arguments are read, so that others may hold anything. Numbers become NumPy arrays; single numbers
    stay Python numbers. A column of words becomes levels; lists of words in JSON by name, and arrays of words in NPZ,
    become lists. Missing numbers are NaN, in columns of floats.

    **Raises** `DataError` for a file that does not exist, cannot be read, or does not match its ending; a getter raises
    it for an invalid argument, with file, line and column.
    """
    opened = _OPENERS.get(path.suffix.lower())
    if opened is None:
        raise DataError(
            f"{path}: the data must be a file ending in {', '.join(_OPENERS)}.{suggest(path.suffix, _OPENERS)}"
        )
    try:
        return opened(path)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {str(path)!r} to read data from.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from error


def _open_npz(path: Path) -> Offered:
    with _loaded(path) as arrays:
        return {name: _array_reader(path, name) for name in arrays.files}


def _array_reader(path: Path, name: str) -> Callable[[], Any]:
    def read() -> Any:
        try:
            with _loaded(path) as arrays:
                array = arrays[name]
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(f"{path} is not an NPZ file of plain arrays: {error}.") from error
        return array if array.ndim and array.dtype.kind not in "US" else array.tolist()

    return read


def _loaded(path: Path) -> Any:
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is not an NPZ file of plain arrays: {error}.") from error
    if not hasattr(found, "files"):
        raise DataError(f"{path} is not an NPZ file of plain arrays: it is one array. Use `numpy.savez`.")
    return found


def _open_parquet(path: Path) -> Offered:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            'reading Parquet needs the package pyarrow. Install it with: pip install "accord[parquet]"'
        ) from error
    try:
        names: list[str] = parquet.read_schema(path).names
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{path} is not a Parquet file: {error}.") from error
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}. Rename one of them.")

    def reader(name: str) -> Callable[[], Any]:
        def read() -> Any:
            column = parquet.read_table(path, columns=[name]).column(name)
            if column.null_count and pyarrow.types.is_integer(column.type):
                column = column.cast("float64")  # as from the other files
            return value_of(column, f"{path}: column {name!r}")

        return read

    return {name: reader(name) for name in names}


_OPENERS: dict[str, Callable[[Path], Offered]] = {
    ".json": open_json,
    ".csv": open_csv,
    ".tsv": open_csv,
    ".npz": _open_npz,
    ".parquet": _open_parquet,
}
