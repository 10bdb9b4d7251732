"""Read a model's arguments by name from a JSON, CSV, NPZ or Parquet file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import DataError, suggest
from .csv_data import open_csv
from .json_data import open_json
from .npz_data import open_npz
from .parquet_data import open_parquet

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

    **Raises** `DataError` for a file that does not exist, is no regular file, is too large for the memory, cannot be
    read, or does not match its ending; a getter raises it for an invalid argument, with file, line and column.
    """
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        raise DataError(
            f"{path}: the data must be a file ending in {', '.join(_OPENERS)}.{suggest(path.suffix, _OPENERS)}"
        )
    return opener(path)


_OPENERS: dict[str, Callable[[Path], Offered]] = {
    ".json": open_json,
    ".csv": open_csv,
    ".tsv": open_csv,
    ".npz": open_npz,
    ".parquet": open_parquet,
}
