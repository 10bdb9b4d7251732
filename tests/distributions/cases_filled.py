"""List beta negative binomial counts among the families that every law is tested for."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

SHAPES = np.array([1e-6, 1e-3, 1.0, 1e6])

DISCRETE = {
    "BetaNegativeBinomial": Case(
        lambda: dist.BetaNegativeBinomial(2.5, 12.0, 4.0),
        lambda: stats.betanbinom(4, 12.0, 2.5),
        lambda: dist.BetaNegativeBinomial(SHAPES, SHAPES[:, None], SHAPES[:, None, None]),
    ),
}
