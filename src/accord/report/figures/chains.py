"""Share what figures of several chains need: which chains have a line of their own, and histograms."""

from collections.abc import Sequence

import numpy as np

from ..diagnostics import QUIETLY
from .marks import NUM_COLOURS
from .ticks import number

MOST_BINS = 60


def has_lines(num_chains: int) -> bool:
    """Return whether each chain has a colour of its own, rather than quantiles over all."""
    return num_chains <= NUM_COLOURS


def legend(chains: Sequence[int]) -> tuple[tuple[int, str], ...]:
    """Name the colours of chains; one chain needs no name."""
    return tuple(enumerate(map(str, chains))) if 1 < len(chains) <= NUM_COLOURS else ()


def finite(values: np.ndarray) -> np.ndarray:
    """Return the finite numbers among values of any shape, as float64."""
    flat = np.asarray(values, np.float64).ravel()
    return flat[np.isfinite(flat)]


def left_out(values: np.ndarray) -> str:
    """Write a sentence about values that are not finite, with a leading space; empty without any."""
    count = int((~np.isfinite(np.asarray(values, np.float64))).sum())
    return f" {count} of {values.size} values are not finite and not shown." if count else ""


def edges_of(values: np.ndarray, *, is_whole: bool) -> np.ndarray:
    """Return edges of the bins of a histogram of finite values: at most 60, of one whole number each if they fit.

    The width is that of Freedman & Diaconis (1981) within the central 99%; what lies beyond is in the outermost bins.
    """
    if not values.size:
        return np.array([0.0, 1.0])
    low, high = (float(each) for each in np.quantile(values, (0.005, 0.995)))
    if is_whole:
        low, high = np.floor(values.min()), np.ceil(values.max())
        by = max(1.0, np.ceil((high - low + 1) / MOST_BINS))
        edges = low - 0.5 + by * np.arange(np.ceil((high - low + 1) / by) + 1)
        if np.all(np.diff(edges) > 0):  # else they are beyond 2^53, where doubles do not tell them apart
            return edges
    if not high > low:
        aside = abs(low) * 0.1 or 1.0
        return np.array([low - aside, low + aside])
    first, third = np.quantile(values, (0.25, 0.75))
    with np.errstate(**QUIETLY):
        width = 2 * (third - first) / np.cbrt(values.size)
        wanted = (high - low) / width if width > 0 else MOST_BINS
        bins = int(np.clip(np.ceil(wanted), 10, MOST_BINS)) if np.isfinite(wanted) else MOST_BINS
        edges = np.linspace(low, high, bins + 1)
    # Not finer than numbers of this size can be.
    return (
        edges
        if np.isfinite(edges).all() and np.all(np.diff(edges) > 0)
        else np.array([np.nextafter(low, -np.inf), np.nextafter(high, np.inf)])
    )


def heights_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the density of finite values in each bin; values beyond the edges count in the outermost bins."""
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    with np.errstate(**QUIETLY):
        heights = counts / np.diff(edges) / max(values.size, 1)
    return np.where(np.isfinite(heights), heights, 0.0)  # not of bins narrower than any usual number


def span_in_words(values: np.ndarray) -> str:
    """Write the central 90% of finite values."""
    if not values.size:
        return "no finite values"
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    return f"median {number(middle)}, central 90% from {number(low)} to {number(high)}"
