"""Weigh programs by their evidence, and say how sure the weights are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..report.log_evidence import LogEvidence


class Weighed(NamedTuple):
    """Posterior probabilities of programs, shape `(program,)`; their standard errors; and the evidence of all."""

    probabilities: np.ndarray
    standard_errors: np.ndarray
    log_evidence: LogEvidence


def weighed(evidences: Sequence[LogEvidence]) -> Weighed:
    """Divide each evidence, which includes the prior probability of its program, by the sum of all.

    Errors of the log evidences are independent, since each program has random numbers of its own. To first order,
    d log p_k = e_k - sum_j p_j e_j.
    """
    values = np.array([each.value for each in evidences])
    errors = np.array([each.standard_error for each in evidences])
    total = float(np.asarray(logsumexp(values)))
    if not np.isfinite(total):  # nothing is known
        nan = np.full(len(values), np.nan)
        return Weighed(nan, nan, LogEvidence(total, np.nan))
    shares = np.exp(values - total)
    errors = np.where(shares > 0, errors, 0.0)  # a program of no share has no influence
    if not np.isfinite(errors).all():
        return Weighed(shares, np.full(len(values), np.inf), LogEvidence(total, np.inf))
    moved = (np.eye(len(values)) - shares) * errors  # by one standard error of each, relative
    total_error = np.sqrt(np.sum((shares * errors) ** 2))
    return Weighed(shares, shares * np.sqrt(np.sum(moved**2, axis=1)), LogEvidence(total, float(total_error)))
