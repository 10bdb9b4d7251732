"""Judge draws: R-hat, effective sample size, Monte Carlo error and E-BFMI, for many scalars at once.

Own NumPy code in float64, since notices and stopping rules must not depend on the version of another package,
nor take milliseconds for each scalar. Equal to `arviz-stats` to 1e-10 (tested), with two departures. A
constant column, also one that is constant but for rounding, has no R-hat, ESS or error (NaN; ArviZ calls
every draw of it effective). And `mcse_sd` uses the ESS of squared deviations, as Stan's `posterior` does;
arviz-stats 0.8 uses that of the draws, which antithetic chains make too large, and was mended later.

**Source**: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2), 667-718,
sections 3 and 4. Geyer (1992), Statistical Science 7(4), 473-483, for the truncation of the ESS. Betancourt
(2016), arXiv:1604.00695, for E-BFMI. For 64 chains and more, see `many_chains`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from . import many_chains
from .many_chains import MANY

Columns = np.ndarray  # (scalar, chain, draw), float64: sorting and FFTs run along contiguous memory

_MIN_DRAWS = 4
_ROUNDING = 8  # units in the last place that a constant may wander by
_BLOCK = 2**18  # elements worked on at once, so that nothing large is copied whole


def r_hat(draws: np.ndarray) -> np.ndarray:
    """Rank-normalised split R-hat, the larger of that of location and that of scale.

    - `draws`: shape `(chain, draw, k)`. Returns shape `(k,)`; NaN for a column that is constant or not
      finite, for fewer than 2 chains and for fewer than 4 draws.
    """
    return _by_column(draws, _r_hat, min_chains=2, min_draws=_MIN_DRAWS)


def nested_r_hat(draws: np.ndarray, sets: Sequence[int] | None = None) -> np.ndarray:
    """Rank-normalised nested R-hat of chains in sets, the larger of that of location and that of scale.

    - `sets`: of each chain, the superchain whose start it shares. None makes sets of neighbours.
    Shapes and NaN as in `r_hat`, but for chains of any length.
    """
    labels = many_chains.sets_of(draws.shape[0]) if sets is None else sets

    def statistic(columns: Columns) -> np.ndarray:
        folded = np.abs(columns - np.median(columns, axis=(1, 2), keepdims=True))
        both = (many_chains.nested_r_hat(_normal_scores(each), labels) for each in (columns, folded))
        return np.fmax(*both)

    if len(np.unique(labels)) < 2:
        return np.full(draws.shape[2], np.nan)
    return _by_column(draws, statistic, min_chains=2, min_draws=1)


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of the bulk: that of the mean of rank-normalised draws. See `r_hat`."""
    return _by_column(draws, _ess_bulk)


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of the tails: the smaller of those of the 5% and 95% quantiles. See `r_hat`."""
    return _by_column(draws, _ess_tail)


def ess_mean(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of the mean; antithetic chains have more than draws. See `r_hat`."""
    return _by_column(draws, lambda columns: _ess_of_means(_scaled(columns)[0]))


def mcse_mean(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean, in the unit of the draws. Shapes and NaN as in `r_hat`."""
    return _by_column(draws, _mcse_mean)


def mcse_sd(draws: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the standard deviation, in the unit of the draws. See `r_hat`."""
    return _by_column(draws, _mcse_sd)


def e_bfmi(energy: np.ndarray) -> np.ndarray:
    """Energy Bayesian fraction of missing information of each chain; below 0.3 the momenta explore too
    slowly.

    - `energy`: shape `(chain, draw)`. Returns shape `(chain,)`; NaN where it is constant, not finite or of
      one draw.
    """
    energy = np.asarray(energy, np.float64)
    result = np.full(energy.shape[0], np.nan)
    if energy.shape[1] < 2:
        return result
    valid = np.isfinite(energy).all(axis=1) & (np.ptp(energy, axis=1) > 0)
    good = energy[valid]
    result[valid] = np.square(np.diff(good, axis=1)).mean(axis=1) / good.var(axis=1, ddof=1)
    return result


def average_ranks(columns: np.ndarray) -> np.ndarray:
    """Ranks from 1 along the last axis, tied values sharing their mean rank; shape as given."""
    order = np.argsort(columns, axis=-1)
    ordered = np.take_along_axis(columns, order, axis=-1)
    size = columns.shape[-1]
    places = np.broadcast_to(np.arange(size), columns.shape)
    edge = np.ones((*columns.shape[:-1], 1), bool)
    steps = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(np.concatenate([edge, steps], -1), places, 0), axis=-1)
    backwards = np.where(np.concatenate([steps, edge], -1), places, size)[..., ::-1]
    last = np.minimum.accumulate(backwards, axis=-1)[..., ::-1]
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, 0.5 * (first + last) + 1, axis=-1)
    return ranks


def _by_column(
    draws: np.ndarray,
    statistic: Callable[[Columns], np.ndarray],
    min_chains: int = 1,
    min_draws: int | None = None,
) -> np.ndarray:
    """Apply `statistic` to the columns that have one, a block at a time; NaN for the others."""
    draws = np.asarray(draws)
    num_chains, num_draws, num_scalars = draws.shape
    result = np.full(num_scalars, np.nan)
    if min_draws is None:
        min_draws = 1 if num_chains >= MANY else _MIN_DRAWS
    if num_chains < min_chains or num_draws < min_draws:
        return result
    resolution = np.finfo(draws.dtype).eps if draws.dtype.kind == "f" else 0.0
    block = max(1, _BLOCK // (num_chains * num_draws))
    for start in range(0, num_scalars, block):
        columns = np.ascontiguousarray(np.moveaxis(draws[:, :, start : start + block], 2, 0), np.float64)
        low, high = columns.min(axis=(1, 2)), columns.max(axis=(1, 2))
        # What is ignored: infinities less each other, and 0/0 in a column that varies only in the draw that
        # splitting drops; both come out as NaN, which is the answer.
        with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
            # A quantity that is constant but for rounding, as the diagonal of a correlation, is constant.
            noise = _ROUNDING * resolution * np.maximum(np.abs(low), np.abs(high))
            valid = np.isfinite(low) & np.isfinite(high) & (high - low > noise)
            if valid.any():
                result[start : start + block][valid] = statistic(columns[valid])
    return result


def _scaled(columns: Columns) -> tuple[Columns, np.ndarray]:
    """Divide each column by a power of two, which is exact, so that no square overflows."""
    _, exponent = np.frexp(np.abs(columns).max(axis=(1, 2)))
    return np.ldexp(columns, -exponent[:, None, None]), np.ldexp(1.0, exponent)


def _split(columns: Columns) -> Columns:
    """Make two chains of each, dropping the middle draw of an odd number."""
    half = columns.shape[2] // 2
    return np.concatenate([columns[:, :, :half], columns[:, :, -half:]], axis=1)


def _normal_scores(columns: Columns) -> Columns:
    """Replace draws by normal quantiles of their pooled ranks (Blom 1958)."""
    pooled = columns.reshape(columns.shape[0], -1)
    twice = (2 * average_ranks(pooled)).astype(np.int64)
    return _scores_of_ranks(pooled.shape[1])[twice - 2].reshape(columns.shape)


@lru_cache(maxsize=4)
def _scores_of_ranks(count: int) -> np.ndarray:
    """The scores of the ranks 1, 1.5, ..., `count`: there are no others.

    Worked out once for all columns, by the standard library: only to import SciPy's function takes a quarter of a
    second.
    """
    quantile = NormalDist().inv_cdf
    return np.array([quantile((twice / 2 - 0.375) / (count + 0.25)) for twice in range(2, 2 * count + 1)])


def _r_hat(columns: Columns) -> np.ndarray:
    halves = _split(columns)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    # A symmetric two-valued column folds to a constant, whose R-hat is NaN; fmax keeps the other one out of
    # the way of that, as the comparison in ArviZ does not.
    return np.fmax(_plain_r_hat(_normal_scores(halves)), _plain_r_hat(_normal_scores(folded)))


def _plain_r_hat(columns: Columns) -> np.ndarray:
    size = columns.shape[2]
    between = columns.mean(axis=2).var(axis=1, ddof=1)
    within = columns.var(axis=2, ddof=1).mean(axis=1)
    return np.sqrt(between / within + (size - 1) / size)


def _ess_of_means(columns: Columns) -> np.ndarray:
    """Effective sample size of the mean: of halves of chains, or of many chains by the spread of their means."""
    return many_chains.ess(columns) if columns.shape[1] >= MANY else _ess(_split(columns))


def _ess_bulk(columns: Columns) -> np.ndarray:
    if columns.shape[1] >= MANY:
        return many_chains.ess(_normal_scores(columns))
    return _ess(_normal_scores(_split(columns)))


def _ess(columns: Columns) -> np.ndarray:
    """Effective sample size of the mean of the chains as they are, by Geyer's initial monotone sequence."""
    _, num_chains, size = columns.shape
    total = num_chains * size
    # n: draws per chain; acov[t]: autocovariance at lag t, averaged over the chains; rho: autocorrelation
    centred = columns - columns.mean(axis=2, keepdims=True)
    padded = 1 << (2 * size - 1).bit_length()
    power = np.square(np.abs(np.fft.rfft(centred, padded, axis=2))).mean(axis=1)
    acov = np.fft.irfft(power, padded, axis=1)[:, :size] / size
    within = acov[:, :1] * size / (size - 1)
    variance = (
        acov[:, :1] + columns.mean(axis=2).var(axis=1, ddof=1, keepdims=True)
        if num_chains > 1
        else acov[:, :1]
    )
    rho = 1.0 - (within - acov) / variance
    rho[:, 0] = 1.0
    # pairs[k] = rho[2k] + rho[2k + 1] would be positive and decreasing if it were exact: keep the part that
    # is.
    num_pairs = max(1, (size - 1) // 2)
    even = rho[:, : 2 * num_pairs : 2]
    pairs = even + rho[:, 1 : 2 * num_pairs : 2]
    ended = pairs <= 0
    stop = np.where(ended.any(axis=1), ended.argmax(axis=1), num_pairs - 1)
    kept = np.arange(num_pairs) < stop[:, None]
    decreasing = np.where(kept, np.minimum.accumulate(pairs, axis=1), 0.0).sum(axis=1)
    # The last pair counts by its even term only, and only if that is positive or the pair is.
    last = np.take_along_axis(even, stop[:, None], axis=1)[:, 0]
    last_pair = np.take_along_axis(pairs, stop[:, None], axis=1)[:, 0]
    last = np.where((last > 0) | (last_pair >= 0), last, 0.0)
    time = np.maximum(-1.0 + 2.0 * decreasing + last, 1 / np.log10(total))
    # Half of the draws may be all alike though the column is not: nothing is then known to depend on
    # anything.
    alike = columns.max(axis=(1, 2)) == columns.min(axis=(1, 2))
    return np.where(alike, float(total), total / time)


def _ess_tail(columns: Columns) -> np.ndarray:
    pooled = columns.reshape(columns.shape[0], -1)
    low, high = np.quantile(pooled, (0.05, 0.95), axis=1)[:, :, None, None]
    return np.minimum(_ess_of_means(1.0 * (columns <= low)), _ess_of_means(1.0 * (columns <= high)))


def _mcse_mean(columns: Columns) -> np.ndarray:
    columns, unit = _scaled(columns)
    return unit * columns.std(axis=(1, 2), ddof=1) / np.sqrt(_ess_of_means(columns))


def _mcse_sd(columns: Columns) -> np.ndarray:
    columns, unit = _scaled(columns)
    squares = np.square(columns - columns.mean(axis=(1, 2), keepdims=True))
    variance = squares.mean(axis=(1, 2))
    error = np.square(squares).mean(axis=(1, 2)) - np.square(variance)
    return unit * np.sqrt(error / _ess_of_means(squares) / variance) / 2
