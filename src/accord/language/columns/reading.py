"""Tell which library a column comes from, without importing any, and read it."""

import sys
from typing import Any

import jax
import numpy as np

from .base import Column, objects

_NEED_READING = "OUSTMm"  # of NumPy's kinds: objects, words, dates and durations


def read_column(value: Any) -> Column | None:
    """Read a value as a column; None where it is none: a number, an array of numbers, a data frame.

    Columns are Series, Index and extension arrays of pandas; Series of polars; Array and ChunkedArray of pyarrow;
    one-dimensional objects of others that have Arrow's C interface, where pyarrow is installed; and NumPy's arrays of
    objects, words, dates and durations. A library that was not imported has made no value, so nothing is imported.
    """
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic, jax.Array)):
        return None
    if isinstance(value, np.ndarray):
        return of_numpy(value) if value.dtype.kind in _NEED_READING and value.ndim else None
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(
        value, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    ):
        from .pandas_column import of_pandas

        return of_pandas(value, pandas)
    if polars is not None and isinstance(value, polars.Series):
        from .polars_column import of_polars

        return of_polars(value)
    if pyarrow is not None and isinstance(value, (pyarrow.Array, pyarrow.ChunkedArray)):
        from .arrow_column import of_arrow

        return of_arrow(value)
    has_interface = hasattr(type(value), "__arrow_c_array__") or hasattr(type(value), "__arrow_c_stream__")
    if has_interface and not hasattr(value, "columns"):  # a whole table would be taken over to no purpose
        from .arrow_column import of_arrow_interface

        return of_arrow_interface(value)
    return None


def of_numpy(values: np.ndarray) -> Column:
    """Read an array of objects, words, dates, durations or numbers as a column."""
    kind = values.dtype.kind
    if kind == "O":
        return Column(values, missing_in(values), "numpy", type="object")
    if kind in "UST":
        values = objects([value.decode() if isinstance(value, bytes) else value for value in values.tolist()])
        return Column(values, missing_in(values), "numpy", type="str", kind="U")
    missing = np.isnat(values) if kind in "Mm" else np.isnan(values) if kind == "f" else None
    return Column(values, missing, "numpy", type=str(values.dtype), kind=kind)


def missing_in(values: np.ndarray) -> np.ndarray:
    """Return which objects stand for a missing value: None, NaN, NaT and pandas' NA; shape `(row,)`."""
    return np.array([_is_missing(value) for value in values], bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (str, bytes, np.ndarray, list, tuple)):
        return False
    try:
        return bool(value != value)  # NaN, and NumPy's NaT
    except (TypeError, ValueError):
        return False
