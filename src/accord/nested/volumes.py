"""Weigh the points of nested sampling by the volume of the prior that each stands for, and estimate the evidence.

NumPy in float64. A log likelihood may be -inf: the weight is zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..report.log_evidence import LogEvidence


@dataclass(frozen=True, eq=False)
class Threads:
    """Points of one run or several, by rising likelihood.

    **Fields**, of shape `(point,)`: `log_likelihood`; `live`, how many points of all runs were live when each was the
    lowest of them; `run` of each, by its place among the runs, and `place` in it.
    """

    log_likelihood: np.ndarray
    live: np.ndarray
    run: np.ndarray
    place: np.ndarray


def live_counts(num_replaced: int, live: int, batch: int) -> np.ndarray:
    """Return the number of live points before each point of a run dies: in batches, then those that are left."""
    within = np.arange(num_replaced) % batch
    return np.concatenate([live - within, np.arange(live, 0, -1)])


def merged(
    heights: Sequence[np.ndarray], ties: Sequence[np.ndarray], counts: Sequence[np.ndarray]
) -> Threads:
    """Merge runs into one with as many live points as they have together.

    **Arguments**, for each run, shape `(point,)`: log likelihoods that rise, ties that rise where these are equal, and
    `live_counts`.

    **Source**: Higson, Handley, Hobson & Lasenby (2019), Statistics and Computing 29, section 3.
    """
    number = np.concatenate([np.full(len(each), run) for run, each in enumerate(heights)])
    place = np.concatenate([np.arange(len(each)) for each in heights])
    height = np.concatenate(list(heights))
    # The sort is stable, so that points of one run stay in their order.
    order = np.lexsort((np.concatenate(list(ties)), height))
    number, place, height = number[order], place[order], height[order]
    live = np.zeros(len(order), np.int64)
    for run, own in enumerate(counts):
        gone = np.cumsum(number == run) - (number == run)
        live += np.concatenate([own, [0]])[gone]
    return Threads(height, live, number, place)


@dataclass(frozen=True, eq=False)
class Weighed:
    """Points with their weights. **Fields**: `log_weights`, which sum to 1, shape `(point,)`; `log_evidence`."""

    log_weights: np.ndarray
    log_evidence: LogEvidence


def weighed(threads: Threads) -> Weighed:
    """Weigh points by their likelihood and by the shell of the prior around them, and add up.

    When the lowest of n live points dies, the volume that is left shrinks by a factor whose logarithm has the mean -1/n
    and the standard deviation 1/n. The log evidence is taken at the means. Its error is that of the factors, to first
    order: each moves all of what lies within.

    **Source**: Skilling (2006), Bayesian Analysis 1(4), 833-860; the trapezoidal rule is from its section 4.
    """
    height, shrinks = threads.log_likelihood, 1.0 / threads.live
    log_volume = -np.cumsum(shrinks)
    # Outside of the first point and within the last one, the likelihood is that of the point.
    volume = np.concatenate([[1.0], np.exp(log_volume), [0.0]])
    shell = 0.5 * (volume[:-2] - volume[2:])
    shell[0] += 0.5 * (1.0 - volume[1])
    shell[-1] += 0.5 * volume[-2]
    with np.errstate(divide="ignore"):
        terms = height + np.log(shell)
    largest = terms.max(initial=-np.inf)
    if largest == -np.inf:
        return Weighed(np.full(len(terms), -np.inf), LogEvidence(-np.inf, np.nan))
    value = float(largest + np.log(np.sum(np.exp(terms - largest))))
    share = np.exp(terms - value)
    has_weight = share > 0
    information = float(np.sum(share[has_weight] * height[has_weight]) - value)
    # By how much the log evidence moves with the log of each factor: with the volumes of all points from there on.
    above, below = np.append(height[1:], height[-1]), np.concatenate([height[:1], height[:-1]])
    by_volume = 0.5 * (np.exp(above + log_volume - value) - np.exp(below + log_volume - value))
    moved = np.cumsum(by_volume[::-1])[::-1]
    error = float(np.sqrt(np.sum((moved * shrinks) ** 2)))
    return Weighed(terms - value, LogEvidence(value, error, information=information))
