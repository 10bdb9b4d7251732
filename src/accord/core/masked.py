"""Refuse NumPy arrays in which a mask hides entries: `np.asarray` would use the hidden values."""

import sys
from typing import Any

import numpy as np

from .errors import DataError


def mask_of(value: Any) -> np.ndarray | None:
    """Return which entries a masked array hides, bool of its shape; None for all else, and if it hides none."""
    if not _is_masked_array(value):
        return None
    mask = np.ma.getmaskarray(value)
    return mask if mask.dtype == np.bool_ and mask.any() else None  # that of a structured array is structured


def unmasked(value: Any, where: str) -> Any:
    """Return a masked array that hides nothing as a plain array; any other value stays the same object.

    **Raises** `DataError` if entries are masked; `where` begins the message.
    """
    mask = mask_of(value)
    if mask is not None:
        raise DataError(masked_words(where, mask))
    if isinstance(value, list | tuple) and "numpy.ma" in sys.modules:
        hidden = np.array([each is np.ma.masked for each in value], bool)
        if hidden.any():
            raise DataError(masked_words(where, hidden))
    return np.asarray(value) if _is_masked_array(value) else value


def masked_words(where: str, mask: np.ndarray) -> str:
    """Write the message for a masked array with this mask."""
    first = np.argwhere(mask)[0].tolist()
    at = f", the first at index {first[0] if len(first) == 1 else tuple(first)}" if first else ""
    return (
        f"{where}: {int(mask.sum())} of {mask.size} entries of the masked array are masked{at}, and what lies under "
        "the mask would be used. Leave these entries out, as by `x.compressed()` for one axis, or replace them by "
        "`x.filled(...)`. For values of a site that are missing, pass `obs=x.filled(0.0)` with "
        "`obs_mask=~np.ma.getmaskarray(x)`."
    )


def _is_masked_array(value: Any) -> bool:
    # NumPy loads this module when it is first used: until then there is no masked array.
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)
