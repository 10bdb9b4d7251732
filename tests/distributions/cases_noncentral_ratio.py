"""List the noncentral laws that are ratios, for which every law is tested."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

# Shapes far from 1, side by side.
TINY_TO_HUGE = np.array([1e-3, 0.1, 1.0, 1e3, 1e6])
HUGE_TO_TINY = TINY_TO_HUGE[:, None]

UNIVARIATE = {
    "NoncentralT": Case(
        lambda: dist.NoncentralT(5.5, 1.5),
        lambda: stats.nct(5.5, 1.5),
        lambda: dist.NoncentralT(HUGE_TO_TINY, np.array([-1e4, -1.0, 0.0, 3.0, 1e6])),
    ),
    "NoncentralBeta": Case(
        lambda: dist.NoncentralBeta(2, 3, 4.5),
        None,
        lambda: dist.NoncentralBeta(HUGE_TO_TINY, 1.5, np.array([0.0, 1e-6, 1.0, 1e3, 1e6])),
    ),
    "NoncentralFisherSnedecor": Case(
        lambda: dist.NoncentralFisherSnedecor(3, 8.5, 2),
        lambda: stats.ncf(3, 8.5, 2),
        lambda: dist.NoncentralFisherSnedecor(HUGE_TO_TINY, TINY_TO_HUGE, 30.0),
    ),
}

OUTSIDE = {
    "NoncentralBeta": (dist.NoncentralBeta, (2.0, 3.0, 4.5), 1.5),
    "NoncentralFisherSnedecor": (dist.NoncentralFisherSnedecor, (3.0, 8.5, 2.0), -1.0),
}
