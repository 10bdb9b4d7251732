"""Judge importance weights."""

import numpy as np

from ..core.series import AbstractSeries
from .diagnostics import ess_mean
from .pareto import smoothed_tail

_FEWEST = 25  # draws whose largest fifth has a shape
_EQUAL = 1e-10  # in nats; beyond, differences are rounding


def effective_size(log_weights: np.ndarray) -> float:
    """Return how many draws of equal weight these are worth; log weights of shape `(draw,)`, -inf allowed."""
    largest = log_weights.max(initial=-np.inf)
    if not np.isfinite(largest):
        return 0.0
    weights = np.exp(log_weights - largest)
    return float(weights.sum() ** 2 / np.sum(weights**2))


def pareto_k(log_weights: np.ndarray) -> float:
    """Return the shape of the tail of importance weights: see `smoothed`."""
    return smoothed(log_weights)[1]


def smoothed(log_weights: np.ndarray, relative_ess: float = 1.0) -> tuple[np.ndarray, float]:
    """Smooth the largest importance weights; return the log weights, which sum to 1, and the shape of their tail.

    Below 0.5 the weights have a variance; above 0.7 what they average cannot be trusted. Equal weights have 0, and
    those that all vanish infinity; so have fewer than 25, of which nothing can be told.

    **Arguments**: `log_weights`, shape `(draw,)`, -inf allowed, up to a constant; `relative_ess`, effective draws for
    each draw, by which the tail is longer.

    **Source**: Vehtari, Simpson, Gelman, Yao & Gabry (2024), "Pareto smoothed importance sampling", JMLR 25(72).
    """
    largest, count = log_weights.max(initial=-np.inf), len(log_weights)
    equal = np.full(count, -np.log(count))
    if not np.isfinite(largest):
        return equal, float("inf")
    shifted = np.maximum(log_weights - largest, -700.0)
    if np.ptp(shifted) < _EQUAL:
        return equal, 0.0
    if count < _FEWEST:
        return shifted - np.log(np.sum(np.exp(shifted))), float("inf")
    found, k = smoothed_tail(shifted, relative_ess)
    found = np.where(np.isneginf(log_weights), -np.inf, found)
    return found - np.log(np.sum(np.exp(found))), k


def good_k(num_draws: int) -> float:
    """Return the shape up to which weights of so many draws can be trusted: 0.7, or less for fewer than 2200."""
    return min(1 - 1 / float(np.log10(num_draws)), 0.7) if num_draws > 1 else 0.0


def relative_ess(sites: AbstractSeries) -> float:
    """Return the effective draws of the mean for each draw, on average over all scalars that vary.

    One for one chain. `sites` has draws of shape `(chain, draw, *event)`.
    """
    num_chains, num_draws = next((sites.shape(name)[:2] for name in sites), (1, 0))
    if num_chains == 1:
        return 1.0
    found = [ess_mean(sites.columns(name, np.arange(sites.width(name)))) for name in sites]
    known = np.concatenate([each[np.isfinite(each)] for each in found] or [np.ones(0)])
    return float(known.mean() / (num_chains * num_draws)) if known.size else 1.0
