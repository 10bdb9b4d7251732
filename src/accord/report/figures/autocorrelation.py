"""Show how long draws depend on earlier ones."""

from collections.abc import Sequence

import numpy as np

from ..words import count_of
from .chains import has_lines, legend
from .marks import Axis, Band, Line, Mark, Panel, Rule
from .ticks import number

_MOST_LAGS = 100


def autocorrelation(draws: np.ndarray, label: str, chains: Sequence[int]) -> Panel:
    """Draw the autocorrelation of each chain by lag; of many chains, their quantiles. Shape `(chain, draw)`."""
    found = autocorrelations(draws)
    lags = np.arange(found.shape[1])
    marks: list[Mark] = [Rule(0.0, is_dashed=False)]
    if has_lines(len(draws)):
        marks += [Line(lags, row, colour) for colour, row in enumerate(found)]
    elif np.isfinite(found).any():
        low, middle, high = np.nanquantile(found, (0.05, 0.5, 0.95), axis=0)
        marks += [Band(lags, low, high), Line(lags, middle)]
    known = found[np.isfinite(found).all(axis=1)] if found.shape[1] > 1 else found[:0]
    at = f"on average {number(float(known[:, 1].mean()))} at lag 1" if len(known) else "unknown"
    return Panel(
        f"Autocorrelation of {label}",
        tuple(marks),
        Axis("lag", 0, max(len(lags) - 1, 1)),
        Axis("autocorrelation", min(-0.1, float(np.nanmin(known, initial=0)) * 1.05), 1),
        f"Autocorrelation of {label} in {count_of(len(draws), 'chain')}: {at}.",
        legend(chains),
    )


def autocorrelations(draws: np.ndarray) -> np.ndarray:
    """Compute autocorrelations up to a lag of 100 or a third of a chain: shape `(chain, lag)`.

    NaN for a chain that is constant or not finite.
    """
    values = np.asarray(draws, np.float64)
    size = values.shape[1]
    num_lags = max(min(_MOST_LAGS, size // 3), min(size, 1))
    found = np.full((len(values), num_lags), np.nan)
    for chain, row in enumerate(values):
        if not np.isfinite(row).all() or not size or row.min() == row.max():
            continue
        centred = (row - row.mean()) / np.abs(row - row.mean()).max()
        power = np.abs(np.fft.rfft(centred, 2 * size)) ** 2
        products = np.fft.irfft(power, 2 * size)[:num_lags]
        found[chain] = products / products[0]
    return found
