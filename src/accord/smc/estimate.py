"""Estimate the evidence from several populations."""

from collections.abc import Sequence

import numpy as np

from ..report.log_evidence import LogEvidence
from .stored import Ended
from .weights import log_mean, relative


def log_evidence_of(populations: Sequence[Ended]) -> LogEvidence:
    """Return the logarithm of the mean evidence of populations, and its standard error; NaN without any.

    The error is the larger one of two: from how particles vary within populations, by families, which misses what
    moves do not forget; and from how populations differ, which a few tell roughly.
    """
    if not populations:
        return LogEvidence(value=np.nan, standard_error=np.nan)
    logs = np.array([each.log_evidence for each in populations])
    shares = relative(logs)
    shares = shares / shares.sum()
    within = np.sqrt(np.sum(shares**2 * [each.variance for each in populations]))
    count = len(logs)
    between = np.sqrt(count / (count - 1) * np.sum((shares - 1 / count) ** 2)) if count > 1 else 0.0
    return LogEvidence(value=log_mean(logs), standard_error=float(max(within, between)))
