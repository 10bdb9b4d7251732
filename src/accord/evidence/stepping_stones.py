"""Add up the ratios of normalising constants along a ladder of tempered densities."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from ..report.diagnostics import mcse_mean

_MOST_ROUNDS, _TOLERANCE = 1000, 1e-10
_SMALLEST = np.finfo(np.float64).tiny  # of rungs that do not overlap, both means are zero


class Stones(NamedTuple):
    """Estimates of a log evidence: `value`, with its standard error; and the simple ones, up and down the ladder."""

    value: float
    standard_error: float
    forward: float
    backward: float


def stepping_stones(powers: np.ndarray, heights: np.ndarray) -> Stones:
    """Estimate a log evidence, for each chain by itself, since their powers differ; chains count the same.

    For each pair of neighbours, with the powers b < c and log likelihood l, exp((c - b) l) has the ratio as its mean on
    the lower rung, and exp((b - c) l) its inverse on the upper one. Few draws dominate either of these means. The
    value bridges both: the mean of a bounded function on the one rung over another's on the other. Its error is
    infinite where these do not overlap at all.

    **Arguments**: `powers` of the likelihood, shape `(chain, rung)`; `heights`, log likelihoods on each rung, shape
    `(chain, draw, rung)`.

    **Source** of the bridge: Bennett (1976), J. Comput. Phys. 22(2), 245-268, for as many draws on either side.
    """
    step = np.diff(powers)[:, None]
    lower, upper = step * heights[..., :-1], step * heights[..., 1:]
    forward, backward = _log_mean(lower), -_log_mean(-upper)
    ratio = _bridged(lower, upper, 0.5 * (forward + backward))
    by_chain = ratio.sum(axis=(1, 2))
    (below, of_below), (above, of_above) = _bounded(lower, upper, ratio)
    # To first order, the value of a chain is the mean of these numbers, one for each draw.
    terms = (below / of_below - above / of_above).sum(axis=2)
    overlaps = np.minimum(of_below, of_above).min() > _SMALLEST
    error = mcse_mean((by_chain[:, None] + terms)[..., None])[0] if overlaps else np.inf
    simple = (each.sum(axis=(1, 2)).mean() for each in (forward, backward))
    return Stones(float(by_chain.mean()), float(error), *map(float, simple))


def _bridged(lower: np.ndarray, upper: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """Return log ratios at which both bounded means are equal, from a first guess; shape `(chain, 1, pair)`."""
    for _ in range(_MOST_ROUNDS):
        (_, below), (_, above) = _bounded(lower, upper, ratio)
        change = np.log(below / above)
        ratio = ratio + change
        if np.abs(change).max() < _TOLERANCE:
            break
    return ratio


def _bounded(
    lower: np.ndarray, upper: np.ndarray, ratio: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return the bounded functions of either rung's draws, each with its mean, which is not zero."""
    both = expit(lower - ratio), expit(ratio - upper)
    return tuple((each, np.maximum(each.mean(1, keepdims=True), _SMALLEST)) for each in both)


def _log_mean(terms: np.ndarray) -> np.ndarray:
    """Return log means over draws of the exponentials of terms, shape `(chain, 1, pair)`."""
    return logsumexp(terms, axis=1, keepdims=True) - np.log(terms.shape[1])
