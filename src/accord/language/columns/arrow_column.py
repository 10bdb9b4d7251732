"""Read a column of Arrow, by pyarrow."""

from typing import Any

import numpy as np

from .base import Column, objects


def of_arrow(array: Any) -> Column:
    """Read an Array or ChunkedArray. Labels of a dictionary keep its order where it is said to be ordered."""
    import pyarrow
    from pyarrow import types

    array_type = array.type
    if isinstance(array, pyarrow.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)  # one piece of memory, which needs no copy
    missing: np.ndarray = np.asarray(array.is_null().to_numpy(zero_copy_only=False), bool)
    common: Any = {"library": "arrow", "type": str(array_type)}
    if types.is_dictionary(array_type):
        order = None
        if array_type.ordered:
            whole = array.unify_dictionaries() if isinstance(array, pyarrow.ChunkedArray) else array
            order = tuple((whole.chunk(0) if whole is not array else array).dictionary.to_pylist())
        return Column(objects(array.to_pylist()), missing, **common, categories=order, is_categorical=True)
    if types.is_floating(array_type):
        return Column(_numpy(array), missing, **common, kind="f")
    if types.is_integer(array_type) or types.is_boolean(array_type):
        kind = "b" if types.is_boolean(array_type) else "i" if types.is_signed_integer(array_type) else "u"
        values = objects(array.to_pylist()) if missing.any() else _numpy(array)
        return Column(values, missing, **common, kind=kind)
    if types.is_timestamp(array_type) or types.is_date(array_type):
        return Column(_numpy(array), missing, **common, kind="M")
    if types.is_duration(array_type):
        return Column(_numpy(array), missing, **common, kind="m")
    if types.is_fixed_size_list(array_type) and not missing.any():
        whole = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
        values = _numpy(whole.flatten())
        if values.dtype.kind in "iuf":
            return Column(values.reshape(len(array), -1), missing, **common, kind=values.dtype.kind)
    is_text = types.is_string(array_type) or types.is_large_string(array_type)
    return Column(objects(array.to_pylist()), missing, **common, kind="U" if is_text else "O")


def of_arrow_interface(value: Any) -> Column | None:
    """Read Arrow's C interface of another library; None for tables, and where pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    try:
        is_array = hasattr(value, "__arrow_c_array__")
        array = pyarrow.array(value) if is_array else pyarrow.chunked_array(value)
    except (pyarrow.ArrowException, TypeError, ValueError):
        return None
    return None if pyarrow.types.is_struct(array.type) else of_arrow(array)


def _numpy(array: Any) -> np.ndarray:
    return array.to_numpy(zero_copy_only=False)
