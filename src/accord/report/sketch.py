"""Draw the distribution of a scalar in one line of text."""

import sys

import numpy as np

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#@"  # for terminals that cannot show blocks
_CENTRAL = (0.01, 0.99)


def sketch(draws: np.ndarray, width: int = 12) -> str:
    """Draw a histogram of the central 98% of `draws`, `width` characters wide.

    The tails are left out because one far draw of a heavy tail would squeeze the rest into a single bin.
    Counts over fewer than `width` values get one bar each. Empty for no finite draw.

    - `draws`: any shape; values that are not finite are left out.
    """
    values = np.asarray(draws).ravel()
    if values.dtype.kind == "f":
        values = values[np.isfinite(values)]
    if not values.size:
        return ""
    ordered = np.sort(values.astype(np.float64))[None, :]
    return sketches_of(ordered, values.dtype.kind in "biu", width)[0]


def sketches_of(ordered: np.ndarray, is_counted: bool, width: int = 12) -> list[str]:
    """Sketch each row of finite numbers that are sorted, shape `(row, n)`; `is_counted`: integers or booleans."""
    ends = np.quantile(np.arange(ordered.shape[1]), _CENTRAL, method="closest_observation")
    low, high = ordered[:, ends].T
    edges = np.linspace(low, high, width + 1, axis=1)
    has_bins = np.all(np.diff(edges, axis=1) > 0, axis=1)  # not finer than numbers of this size can be
    edges[:, -1] = np.nextafter(high, np.inf)  # the last bin has both its edges
    if is_counted:
        bars = (low[:, None] - 0.5) + np.arange(width + 1)
        edges = np.where((high - low < width)[:, None], np.minimum(bars, high[:, None] + 0.5), edges)
        has_bins |= high - low < width
    below = np.array([np.searchsorted(row, own) for row, own in zip(ordered, edges, strict=True)])
    counts = np.diff(below, axis=1)
    counts[(low == high) | ~has_bins] = np.arange(width) == (width - 1) // 2  # one bar for one value
    # Round up, so that a bin with any draw in it shows.
    heights = np.ceil(counts / counts.max(axis=1, keepdims=True) * (len(BLOCKS) - 1)).astype(int)
    return ["".join(BLOCKS[height] for height in row) for row in heights.tolist()]


def terminal_ramp() -> str:
    """Return the characters that standard output can show."""
    try:
        BLOCKS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BLOCKS
