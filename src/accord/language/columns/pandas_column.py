"""Read a column of pandas."""

from types import ModuleType
from typing import Any

import numpy as np

from .base import Column


def of_pandas(column: Any, pandas: ModuleType) -> Column:
    """Read a Series, an Index or an extension array. An index beside the values is passed over."""
    series = column if isinstance(column, pandas.Series) else pandas.Series(column)
    dtype = series.dtype
    missing: np.ndarray = series.isna().to_numpy(dtype=bool)
    common: Any = {
        "library": "pandas",
        "name": "" if series.name is None else str(series.name),
        "type": str(dtype),
    }
    if isinstance(dtype, pandas.CategoricalDtype):
        order = tuple(dtype.categories.tolist())
        return Column(series.to_numpy(dtype=object), missing, **common, categories=order, is_categorical=True)
    if isinstance(dtype, pandas.PeriodDtype):
        series = series.dt.to_timestamp()
    elif isinstance(dtype, pandas.DatetimeTZDtype):
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    kind = getattr(series.dtype, "kind", "O")
    if kind in "biu":
        values = series.to_numpy(dtype=object) if missing.any() else series.to_numpy()
        if not missing.any() and values.dtype.kind == "O":  # of types that are kept by Arrow
            values = values.astype({"b": bool, "i": np.int64, "u": np.uint64}[kind])
        return Column(values, missing, **common, kind=kind)
    if kind == "c":
        return Column(series.to_numpy(), missing, **common, kind="f")
    if kind == "f":
        values = series.to_numpy()
        if values.dtype.kind == "O" or not isinstance(series.dtype, np.dtype):
            values = series.to_numpy(dtype=float, na_value=np.nan)
        return Column(values, missing, **common, kind="f")
    if kind in "Mm":
        # In its own unit, since nanoseconds reach from 1678 to 2262 only. Types of Arrow name NumPy's beside their own.
        values = series.to_numpy(dtype=getattr(series.dtype, "numpy_dtype", series.dtype))
        return Column(values, missing, **common, kind=kind)
    declared = "U" if isinstance(dtype, pandas.StringDtype) else "O"
    return Column(series.to_numpy(dtype=object), missing, **common, kind=declared)
