"""Thin a line to what a screen shows of it: the smallest and the largest value in each column of pixels."""

import numpy as np


def thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points that a line through `x` and `y`, in pixels and `x` increasing, needs.

    In a column with more than two points they are its extremes, in their order; where values are not finite there, one
    of them too, so that the line breaks.
    """
    column = np.floor(np.where(np.isfinite(x), x, 0.0)).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=column[:1] - 1)) if len(x) else np.zeros(0, int)
    if len(x) <= 2 * len(starts):
        return x, y
    kept: list[int] = []
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(x)], strict=True):
        part = y[start:end]
        is_known = np.isfinite(part)
        if not is_known.all():
            kept.append(start + int(np.argmin(is_known)))
        if is_known.any():
            kept += [start + int(np.nanargmin(part)), start + int(np.nanargmax(part))]
    places = np.unique(kept)
    return x[places], y[places]
