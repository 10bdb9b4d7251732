"""Estimate the evidence from one run or several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincc

from ..report.log_evidence import LogEvidence
from .stored import Ended
from .volumes import Threads, live_counts, merged, weighed

LEVEL = 1e-3
"""Probability of a notice that runs disagree, or that new points do not come of the prior, where neither is so."""

_ROUNDING = 1e-10  # nats; a likelihood that is constant has an evidence without error


@dataclass(frozen=True, eq=False)
class Estimated:
    """Points of all runs by rising likelihood, their log weights, and the evidence, `by_run` too."""

    threads: Threads
    log_weights: np.ndarray
    log_evidence: LogEvidence
    by_run: tuple[LogEvidence, ...]


def estimated(done: Sequence[Ended], live: int, batch: int) -> Estimated:
    """Weigh the points of runs that came to their end; NaN without any.

    All runs together are one with as many live points. The standard error is by how volumes shrink; where runs differ
    by more than that, it is by how they differ.
    """
    heights = [each.log_likelihood.astype(np.float64) for each in done if each.log_likelihood is not None]
    ties = [each.tie for each in done if each.tie is not None]
    if not heights:
        none, place = np.zeros(0), np.zeros(0, np.int64)
        return Estimated(Threads(none, place, place, place), none, LogEvidence(np.nan, np.nan), ())
    counts = [live_counts(len(each) - live, live, batch) for each in heights]
    alone = tuple(
        weighed(merged([height], [tie], [count])).log_evidence
        for height, tie, count in zip(heights, ties, counts, strict=True)
    )
    threads = merged(heights, ties, counts)
    found = weighed(threads)
    height = found.log_evidence
    if disagreement(alone) < LEVEL:
        spread = np.std([each.value for each in alone], ddof=1) / np.sqrt(len(alone))
        height = replace(height, standard_error=float(max(height.standard_error, spread)))
    return Estimated(threads, found.log_weights, height, alone)


def disagreement(by_run: Sequence[LogEvidence]) -> float:
    """Return the probability that log evidences of runs differ by as much as these, by their standard errors."""
    if len(by_run) < 2:
        return 1.0
    values, errors = np.array([(each.value, each.standard_error) for each in by_run]).T
    if not np.isfinite(values).all():
        return 1.0
    weights = 1 / np.maximum(errors, _ROUNDING) ** 2
    distance = np.sum(weights * (values - values @ weights / weights.sum()) ** 2)
    return float(gammaincc((len(values) - 1) / 2, distance / 2)) if np.ptp(values) else 1.0
