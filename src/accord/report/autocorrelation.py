"""Compute the effective sample size of a mean from autocorrelations, for many scalars at once.

Geyer's sequence ends where a pair of autocorrelations is no longer positive: for chains that mix well, after a few
lags. So the first lags are worked out one by one, which costs a pass over the draws each, and only the scalars whose
sequence has not ended take a Fourier transform: padded for an eighth of the lags first, then for all.

**Source**: Geyer (1992), Statistical Science 7(4), 473-483; Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021),
Bayesian Analysis 16(2), section 3.2.
"""

from typing import NamedTuple

import numpy as np

_ONE_THREAD = 2**13  # numbers up to which a linear algebra library sums in one thread, so always in one order
_STEP = 8  # lags worked out one by one before it is asked which sequences have ended
_MOST = 16  # lags that cost as much as a transform
_SLOW = 0.2  # an autocorrelation at lag 7 from which the sequence will be long


class Centred(NamedTuple):
    """Chains minus their means.

    **Fields**: `means` and `squares`, the sum of squared deviations, shape `(scalar, chain)`; `deviations`, shape
    `(scalar, chain, draw)`.
    """

    means: np.ndarray
    deviations: np.ndarray
    squares: np.ndarray


def centre(columns: np.ndarray) -> Centred:
    """Subtract its mean from each chain; `columns` has shape `(scalar, chain, draw)`."""
    means = columns.mean(axis=2)
    deviations = columns - means[:, :, None]
    return Centred(means, deviations, products(deviations, deviations))


def products(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sum products along the last axis."""
    if one.shape[-1] <= _ONE_THREAD:
        return np.vecdot(one, other)
    return np.einsum("...k,...k->...", one, other)


def ess(columns: np.ndarray, centred: Centred | None = None) -> np.ndarray:
    """Compute the effective sample size of the mean, by Geyer's initial monotone sequence, without splitting chains.

    - `columns`: float64, shape `(scalar, chain, draw)`; `centred`, where it has been worked out. Returns shape
      `(scalar,)`.
    """
    _, num_chains, size = columns.shape
    total = float(num_chains * size)
    means, deviations, squares = centre(columns) if centred is None else centred
    variance = squares.sum(axis=1) / total
    within = variance * size / (size - 1)
    if num_chains > 1:
        variance = variance + means.var(axis=1, ddof=1)
    # Half of the draws may be all alike though the column is not: nothing is then known to depend on anything.
    alike = columns[:, 0, 0] == columns[:, 0, -1]
    if alike.any():
        alike[alike] = (columns[alike] == columns[alike, :1, :1]).all(axis=(1, 2))
    time = np.ones(len(columns))
    some = ~alike if alike.any() else slice(None)  # a slice copies nothing
    time[some] = np.maximum(_time(deviations[some], within[some], variance[some]), 1 / np.log10(total))
    return total / time


def _time(centred: np.ndarray, within: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Compute how many draws are worth one independent draw, before any bound."""
    num_scalars, num_chains, size = centred.shape
    num_lags = 2 * max(1, (size - 1) // 2)  # as many as pairs are made of
    time = np.empty(num_scalars)
    left = np.arange(num_scalars)
    rho = np.ones((num_scalars, 1))

    def correlations(sums: np.ndarray) -> np.ndarray:
        return 1.0 - (within[left, None] - sums / (num_chains * size)) / variance[left, None]

    def settle(is_whole: bool) -> np.ndarray:
        """Note the time of the sequences that have ended, and return which have not."""
        found, has_ended = _sum_of_sequence(rho)
        if is_whole:
            has_ended[:] = True
        time[left[has_ended]] = found[has_ended]
        return ~has_ended

    rows = centred
    slow = np.zeros(num_scalars, bool)
    while len(left) and rho.shape[1] < min(_MOST, num_lags):
        start = rho.shape[1]
        lags = range(start, min(start - start % _STEP + _STEP, num_lags))
        sums = [products(rows[:, :, : size - lag], rows[:, :, lag:]).sum(axis=1) for lag in lags]
        rho = np.concatenate([rho, correlations(np.stack(sums, axis=1))], axis=1)
        goes_on = settle(is_whole=rho.shape[1] == num_lags)
        left, rho = left[goes_on], rho[goes_on]
        rows = centred if len(left) == num_scalars else rows[goes_on]
        slow = rho[:, -1] > _SLOW
        if len(left) and slow.mean() > 0.5:
            break
    for most in (max(size // 8, 2 * _MOST), num_lags):
        if len(left) and rho.shape[1] < num_lags:
            is_whole = most >= num_lags
            rho = correlations(_sums_by_transform(centred[left], min(most - most % 2, num_lags)))
            rho[:, 0] = 1.0
            left = left[settle(is_whole)]
    return time


def _sum_of_sequence(rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one plus twice the autocorrelations, as far as the sequence goes, and whether it has ended.

    - `rho`: autocorrelations from lag 0, an even number, shape `(scalar, lag)`.
    """
    # pairs[k] = rho[2k] + rho[2k + 1] would be positive and decreasing if it were exact: keep the part that is.
    even = rho[:, ::2]
    pairs = even + rho[:, 1::2]
    ended = pairs <= 0
    has_ended = np.asarray(ended.any(axis=1))
    stop = np.where(has_ended, ended.argmax(axis=1), pairs.shape[1] - 1)
    kept = np.arange(pairs.shape[1]) < stop[:, None]
    decreasing = np.where(kept, np.minimum.accumulate(pairs, axis=1), 0.0).sum(axis=1)
    # The last pair counts by its even term only, and only if that is positive or the pair is.
    rows = np.arange(len(rho))
    last, last_pair = even[rows, stop], pairs[rows, stop]
    last = np.where((last > 0) | (last_pair >= 0), last, 0.0)
    return -1.0 + 2.0 * decreasing + last, has_ended


def _sums_by_transform(centred: np.ndarray, num_lags: int) -> np.ndarray:
    """Sum products of draws at each lag over draws and chains; shape `(scalar, num_lags)`."""
    padded = _fast_length(centred.shape[2] + num_lags - 1)
    power = np.fft.rfft(centred, padded, axis=2)
    return np.fft.irfft((power.real**2 + power.imag**2).sum(axis=1), padded, axis=1)[:, :num_lags]


def _fast_length(least: int) -> int:
    """Return the smallest even length, at least this long, without a prime factor above 5."""
    best = 1 << (least - 1).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            twos = max(1, -(-least // threes) - 1).bit_length()
            best = min(best, threes << max(twos, 1))
            threes *= 3
        fives *= 5
    return max(best, 2)
