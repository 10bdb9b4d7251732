"""Take a whole data frame apart into columns, and make a model's argument of one."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.errors import DataError
from .levels import levels_of
from .numeric import numbers_of
from .reading import read_column


def is_table(value: Any) -> bool:
    """Return whether a value is a whole data frame: of pandas, polars or Arrow, or what looks like one."""
    return (
        not isinstance(value, (np.ndarray, type))
        and hasattr(value, "columns")
        and hasattr(value, "__array__")
    )


def columns_of(table: Any, where: str) -> dict[str, Any]:
    """Return the columns of a data frame, or the entries of a mapping, by name; unnamed ones are left out.

    **Raises** `DataError` for what is neither, and for a name that two columns have.
    """
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _named(((name, table.iloc[:, i]) for i, name in enumerate(table.columns)), where)
    if polars is not None and isinstance(table, polars.DataFrame):
        return {series.name: series for series in table.get_columns()}
    if polars is not None and isinstance(table, polars.LazyFrame):
        raise DataError(f"{where}: a LazyFrame has no data yet. Write `.collect()` behind it.")
    if pyarrow is not None and isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
        return _named(zip(table.column_names, table.columns, strict=True), where)
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return {name: table[name] for name in table.dtype.names}
    if isinstance(table, Mapping):
        return dict(table)
    has_columns = hasattr(table, "columns") or read_column(table) is None
    if hasattr(table, "__arrow_c_stream__") and not isinstance(table, np.ndarray) and has_columns:
        return _by_arrow(table, where)
    raise DataError(
        f"{where} takes data frames and mappings from argument names to values, got {type(table).__name__}. Call the "
        "model to give arrays one by one: `model(x, y=y)`."
    )


def value_of(column: Any, where: str) -> Any:
    """Make a model's argument of a column: words and categories become levels, the rest numbers; others stay.

    **Raises** `DataError` as `ac.levels` and `as_numbers` do.
    """
    read = read_column(column)
    if read is None:
        return column
    return levels_of(read, where) if read.is_text else numbers_of(read, where)


def _named(columns: Any, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column in columns:
        if not isinstance(name, str):
            continue
        if name in found:
            raise DataError(f"{where}: two columns are called {name!r}. Rename or drop one of them.")
        found[name] = column
    return found


def _by_arrow(table: Any, where: str) -> dict[str, Any]:
    try:
        import pyarrow
    except ImportError as error:
        raise DataError(
            f"{where}: reading {type(table).__name__} needs the package pyarrow. Install it with: pip install "
            '"accord[parquet]"'
        ) from error
    whole = pyarrow.table(table)
    return _named(zip(whole.column_names, whole.columns, strict=True), where)
