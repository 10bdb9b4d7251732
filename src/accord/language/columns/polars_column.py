"""Read a column of polars."""

from typing import Any

import numpy as np

from .base import Column, objects


def of_polars(series: Any) -> Column:
    """Read a Series of polars.

    A Categorical has the order of its labels: polars keeps one list of them for all columns of the process, so that it
    says nothing about this one. An Enum has the order that it was given.
    """
    dtype = series.dtype
    missing: np.ndarray = series.is_null().to_numpy()
    name = type(dtype).__name__
    common: Any = {"library": "polars", "name": series.name, "type": name}
    if name in ("Categorical", "Enum"):
        order = tuple(dtype.categories.to_list()) if name == "Enum" else None
        return Column(objects(series.to_list()), missing, **common, categories=order, is_categorical=True)
    if dtype.is_float():
        return Column(series.to_numpy(), missing, **common, kind="f")
    if dtype.is_integer() or name == "Boolean":
        kind = "b" if name == "Boolean" else "u" if name.startswith("UInt") else "i"
        values = objects(series.to_list()) if missing.any() else series.to_numpy()
        return Column(values, missing, **common, kind=kind)
    if name in ("Date", "Datetime", "Duration"):
        return Column(series.to_numpy(), missing, **common, kind="m" if name == "Duration" else "M")
    if name == "Array" and not missing.any():
        values = series.to_numpy()
        if values.dtype.kind in "biuf":
            return Column(values, missing, **common, kind=values.dtype.kind)
    return Column(objects(series.to_list()), missing, **common, kind="U" if name == "String" else "O")
