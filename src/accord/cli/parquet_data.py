"""Read columns by name from a Parquet file."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import DataError
from ..language.columns import value_of
from .files import check_room, opened

_ENTRY = 16  # bytes of an entry in memory, at least: packed columns may have more rows than bytes


def open_parquet(path: Path) -> dict[str, Callable[[], Any]]:
    """Return a getter of each column: words become levels, and whole numbers floats if some are missing.

    **Raises** `DataError` for a file that is not Parquet, or has a name twice; a getter raises it for a damaged column,
    and one that memory has no room for.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            'reading Parquet needs the package pyarrow. Install it with: pip install "accord[parquet]"'
        ) from error
    damages = (pyarrow.ArrowException, OSError, ValueError)
    with opened(path) as file:
        try:
            names: list[str] = parquet.read_schema(file).names
        except damages as error:
            raise DataError(f"{path} is not a Parquet file: {error}.") from error
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{path}: {count} columns are called {name!r}. Rename all but one.")

    def reader(name: str) -> Callable[[], Any]:
        def read() -> Any:
            what = f"{path}: column {name!r}"
            try:
                with opened(path) as file:
                    check_room(what, _ENTRY * parquet.read_metadata(file).num_rows)
                column = parquet.read_table(path, columns=[name]).column(name)
            except damages as error:
                raise _damaged(what, error) from error
            if column.null_count and pyarrow.types.is_integer(column.type):
                column = column.cast("float64")  # as from the other files
            return value_of(column, what)

        return read

    return {name: reader(name) for name in names}


def _damaged(what: str, error: Exception) -> DataError:
    return error if isinstance(error, DataError) else DataError(f"{what} is damaged: {error}.")
