"""Compute diagnostics of draws: R-hat, effective sample size, Monte Carlo error and E-BFMI, for many scalars at once.

Own NumPy code in float64, since notices and stopping rules must not depend on the version of another package,
nor take milliseconds for each scalar. Equal to `arviz-stats` to 1e-10 (tested), with two departures. A
constant column, also one that is constant but for rounding, has no R-hat, ESS or error (NaN; ArviZ calls
every draw of it effective). And `mcse_sd` uses the ESS of squared deviations, as Stan's `posterior` does;
arviz-stats 0.8 uses that of the draws, which antithetic chains make too large, and was mended later.

**Source**: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2), 667-718,
sections 3 and 4. Geyer (1992), Statistical Science 7(4), 473-483, for the truncation of the ESS. Betancourt
(2016), arXiv:1604.00695, for E-BFMI. For 64 chains and more, see `many_chains`.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from . import many_chains
from .autocorrelation import Centred, centre, ess, products
from .many_chains import MANY
from .ranks import normal_scores

Columns = np.ndarray  # (scalar, chain, draw), float64: sorting and FFTs run along contiguous memory

MIN_DRAWS = 4
TAILS = (0.05, 0.95)
"""The probabilities of the quantiles that `ess_tail` judges."""

# Ignored floating point warnings: inf - inf, and 0/0 in a column that varies only in the draw that splitting drops;
# both come out as NaN, which is the answer.
QUIETLY: Mapping[str, Any] = MappingProxyType(
    {"invalid": "ignore", "divide": "ignore", "over": "ignore", "under": "ignore"}
)

_ROUNDING = 8  # units in the last place that a constant may wander by
_BLOCK = 2**18  # elements worked on at once: enough that calls cost little, few enough for a cache
_SAFE = 200  # powers of two whose fourth power is a number


def r_hat(draws: np.ndarray) -> np.ndarray:
    """Compute rank-normalised split R-hat: the larger of the values for location and for scale.

    - `draws`: shape `(chain, draw, k)`. Returns shape `(k,)`; NaN for a column that is constant or not
      finite, for fewer than 2 chains and for fewer than 4 draws.
    """
    return _by_column(draws, _r_hat, min_chains=2, min_draws=MIN_DRAWS)


def nested_r_hat(draws: np.ndarray, sets: Sequence[int] | None = None) -> np.ndarray:
    """Compute rank-normalised nested R-hat of sets of chains: the larger of the values for location and for scale.

    - `sets`: the superchain of each chain, which shares its starting point. None makes sets of neighbours.
    Shapes and NaN as in `r_hat`, but for chains of any length.
    """
    labels = many_chains.sets_of(draws.shape[0]) if sets is None else sets

    def statistic(columns: Columns) -> np.ndarray:
        located = normal_scores(pooled(columns)).reshape(columns.shape)
        folded = folded_scores(columns, np.median(columns, axis=(1, 2)))
        both = (many_chains.nested_r_hat(scores, labels) for scores in (located, folded))
        return np.fmax(*both)

    if len(np.unique(labels)) < 2:
        return np.full(draws.shape[2], np.nan)
    return _by_column(draws, statistic, min_chains=2, min_draws=1)


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the bulk, from the mean of rank-normalised draws. See `r_hat`."""
    return _by_column(draws, _ess_bulk)


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the tails: the smaller one of the 5% and 95% quantiles. See `r_hat`."""
    return _by_column(draws, _ess_tail)


def ess_mean(draws: np.ndarray) -> np.ndarray:
    """Compute the effective sample size of the mean; antithetic chains have more than draws. See `r_hat`."""
    return _by_column(draws, lambda columns: ess_of_means(scaled(columns)[0]))


def mcse_mean(draws: np.ndarray) -> np.ndarray:
    """Compute the Monte Carlo standard error of the mean, in the unit of the draws. Shapes and NaN as in `r_hat`."""
    return _by_column(draws, lambda columns: errors_of_moments(columns)[1])


def mcse_sd(draws: np.ndarray) -> np.ndarray:
    """Compute the Monte Carlo standard error of the standard deviation, in the unit of the draws. See `r_hat`."""
    return _by_column(draws, lambda columns: errors_of_moments(columns)[2])


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


def blocks_of(draws: np.ndarray) -> list[slice]:
    """Yield slices of the scalars of draws of shape `(chain, draw, k)`, one for each block of work."""
    num_chains, num_draws, num_scalars = draws.shape
    block = max(1, _BLOCK // max(1, num_chains * num_draws))
    return [slice(start, min(start + block, num_scalars)) for start in range(0, num_scalars, block)]


def columns_at(draws: np.ndarray, some: slice) -> tuple[np.ndarray, Columns]:
    """Return which scalars vary and are finite, and the draws of all; needs at least one draw."""
    resolution = np.finfo(draws.dtype).eps if draws.dtype.kind == "f" else 0.0
    columns = np.ascontiguousarray(np.moveaxis(draws[:, :, some], 2, 0), np.float64)
    low, high = columns.min(axis=(1, 2)), columns.max(axis=(1, 2))
    # A quantity that is constant but for rounding, as the diagonal of a correlation, is constant.
    noise = _ROUNDING * resolution * np.maximum(np.abs(low), np.abs(high))
    return np.isfinite(low) & np.isfinite(high) & (high - low > noise), columns


def least_draws(num_chains: int) -> int:
    """Return how many draws a chain needs for an effective sample size."""
    return 1 if num_chains >= MANY else MIN_DRAWS


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
    least = least_draws(num_chains) if min_draws is None else min_draws
    if num_chains < min_chains or num_draws < least:
        return result
    for some in blocks_of(draws):
        with np.errstate(**QUIETLY):
            is_valid, columns = columns_at(draws, some)
            if is_valid.any():
                result[some][is_valid] = statistic(columns if is_valid.all() else columns[is_valid])
    return result


def scaled(columns: Columns) -> tuple[Columns, np.ndarray]:
    """Divide columns by a power of two each, which is exact, where their squares might overflow or vanish."""
    _, exponent = np.frexp(np.maximum(columns.max(axis=(1, 2)), -columns.min(axis=(1, 2))))
    exponent = np.where(np.abs(exponent) > _SAFE, exponent, 0)
    if not exponent.any():
        return columns, np.ones(len(columns))
    return np.ldexp(columns, -exponent[:, None, None]), np.ldexp(1.0, exponent)


def split(columns: Columns) -> Columns:
    """Split each chain into two, dropping the middle draw of an odd number."""
    num_scalars, num_chains, size = columns.shape
    if size % 2 == 0:
        return columns.reshape(num_scalars, 2 * num_chains, size // 2)
    half = size // 2
    return np.concatenate([columns[:, :, :half], columns[:, :, -half:]], axis=1)


def pooled(columns: Columns) -> np.ndarray:
    """Join the draws of all chains; shape `(scalar, chain * draw)`."""
    return columns.reshape(len(columns), -1)


def r_hat_of(scores: Centred, folded: Centred) -> np.ndarray:
    """Compute the larger R-hat of half chains: of their normal scores, or of scores of the distance from the median."""
    # A symmetric two-valued column folds to a constant, whose R-hat is NaN; fmax keeps the other one out of
    # the way of that, as the comparison in ArviZ does not.
    return np.fmax(_plain_r_hat(scores), _plain_r_hat(folded))


def folded_scores(columns: Columns, median: np.ndarray) -> Columns:
    """Compute normal scores of the distance of draws from the median, shape `(scalar,)`."""
    distances = columns - median[:, None, None]
    np.abs(distances, out=distances)
    return normal_scores(pooled(distances)).reshape(columns.shape)


def ess_of_means(columns: Columns) -> np.ndarray:
    """Compute the effective sample size of the mean, from half chains or from the spread of many chains' means."""
    return many_chains.ess(columns) if columns.shape[1] >= MANY else ess(split(columns))


def ess_of_tails(columns: Columns, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Compute the smaller effective sample size of the tail indicators: draws at most `low`, and at most `high`."""
    both = (ess_of_means((columns <= bound[:, None, None]).astype(np.float64)) for bound in (low, high))
    return np.minimum(*both)


def errors_of_moments(columns: Columns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the standard deviation, and Monte Carlo errors of mean and standard deviation; each `(scalar,)`."""
    columns, unit = scaled(columns)
    size = columns.shape[1] * columns.shape[2]
    squares = columns - pooled(columns).mean(axis=1)[:, None, None]
    np.square(squares, out=squares)
    variance = pooled(squares).mean(axis=1)
    sd = np.sqrt(variance * (size / (size - 1)))
    spread = products(squares, squares).sum(axis=1) / size - np.square(variance)
    error_of_sd = np.sqrt(spread / ess_of_means(squares) / variance) / 2
    return unit * sd, unit * sd / np.sqrt(ess_of_means(columns)), unit * error_of_sd


def _r_hat(columns: Columns) -> np.ndarray:
    halves = split(columns)
    scores = normal_scores(pooled(halves)).reshape(halves.shape)
    folded = folded_scores(halves, np.median(halves, axis=(1, 2)))
    return r_hat_of(centre(scores), centre(folded))


def _plain_r_hat(chains: Centred) -> np.ndarray:
    size = chains.deviations.shape[2]
    within = chains.squares.mean(axis=1) / (size - 1)
    return np.sqrt(chains.means.var(axis=1, ddof=1) / within + (size - 1) / size)


def _ess_bulk(columns: Columns) -> np.ndarray:
    chains = columns if columns.shape[1] >= MANY else split(columns)
    scores = normal_scores(pooled(chains)).reshape(chains.shape)
    return many_chains.ess(scores) if columns.shape[1] >= MANY else ess(scores)


def _ess_tail(columns: Columns) -> np.ndarray:
    return ess_of_tails(columns, *np.quantile(pooled(columns), TAILS, axis=1))
