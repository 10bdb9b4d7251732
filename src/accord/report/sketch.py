"""Draw the distribution of a scalar in one line of text."""

import sys

import numpy as np

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#@"  # for terminals that cannot show blocks


def sketch(draws: np.ndarray, width: int = 12, ramp: str = BLOCKS) -> str:
    """A histogram of the central 98% of `draws`, `width` characters wide, its highest bin at full height.

    The tails are left out because one far draw of a heavy tail would squeeze the rest into a single bin.
    Counts over fewer than `width` values get one bar each. Empty for no finite draw.

    - `draws`: any shape; values that are not finite are left out.
    - `ramp`: characters of rising height, the first for nothing at all.
    """
    values = np.asarray(draws).ravel()
    if values.dtype.kind == "f":
        values = values[np.isfinite(values)]
    if not values.size:
        return ""
    low, high = np.quantile(values.astype(np.float64), (0.01, 0.99), method="closest_observation")
    if low == high:
        return ramp[-1].center(width)
    is_count = values.dtype.kind in "biu" and high - low < width
    edges = np.arange(low - 0.5, high + 1) if is_count else np.linspace(low, high, width + 1)
    if not np.all(np.diff(edges) > 0):
        return ramp[-1].center(width)  # the range is finer than numbers of this size can be
    counts, _ = np.histogram(values.astype(np.float64), edges)
    # Round up, so that a bin with any draw in it shows.
    heights = np.ceil(counts / counts.max() * (len(ramp) - 1)).astype(int)
    return "".join(ramp[height] for height in heights).ljust(width)


def terminal_ramp() -> str:
    """The characters that standard output can show."""
    try:
        BLOCKS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BLOCKS
