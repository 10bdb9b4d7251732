"""List the noncentral families that every law is tested for."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

# Scales and shapes far from 1, side by side.
TINY_TO_HUGE = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
HUGE_TO_TINY = TINY_TO_HUGE[:, None]

UNIVARIATE = {
    "NoncentralChi2": Case(
        lambda: dist.NoncentralChi2(3, 2.5),
        lambda: stats.ncx2(3, 2.5),
        lambda: dist.NoncentralChi2(HUGE_TO_TINY, np.array([0.0, 1e-6, 1.0, 1e3, 1e6])),
    ),
    "Rician": Case(
        lambda: dist.Rician(1.5, 2),
        lambda: stats.rice(0.75, scale=2),
        lambda: dist.Rician(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
}

OUTSIDE = {
    "NoncentralChi2": (dist.NoncentralChi2, (3.0, 2.5), -1.0),
    "Rician": (dist.Rician, (1.5, 2.0), 0.0),
}
