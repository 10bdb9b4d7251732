"""List the distributions of time series that every law is tested for."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

TIMES = np.arange(1.0, 5.0)
TRANSITION = np.array([[0.9, 0.2], [0.0, -0.5]])
FACTOR = np.array([[1.0, 0.0], [0.3, 0.7]])
COVARIANCE = FACTOR @ FACTOR.T

MULTIVARIATE = {
    "GaussianRandomWalk": Case(
        lambda: dist.GaussianRandomWalk(0.5, 4),
        lambda: stats.multivariate_normal(np.zeros(4), 0.25 * np.minimum(TIMES, TIMES[:, None])),
        lambda: dist.GaussianRandomWalk(np.array([1e-6, 1.0, 1e6]), 5),
    ),
}

BATCHED = {
    "GaussianRandomWalk, one step": Case(lambda: dist.GaussianRandomWalk(2)),
    "GaussianRandomWalk, batch": Case(lambda: dist.GaussianRandomWalk(np.array([[0.5], [2.0]]), 3)),
    "GaussianStateSpace, factor": Case(
        lambda: dist.GaussianStateSpace(3, TRANSITION, scale_tril=FACTOR),
        extremes=lambda: dist.GaussianStateSpace(
            3, TRANSITION, scale_tril=np.array([1e-6, 1.0, 1e6])[:, None, None] * FACTOR
        ),
    ),
    "GaussianStateSpace, covariance": Case(
        lambda: dist.GaussianStateSpace(3, TRANSITION, COVARIANCE, initial_value=np.array([1.0, -2.0]))
    ),
    "GaussianStateSpace, precision": Case(
        lambda: dist.GaussianStateSpace(3, TRANSITION, precision_matrix=np.linalg.inv(COVARIANCE))
    ),
    "GaussianStateSpace, batch": Case(
        lambda: dist.GaussianStateSpace(
            2,
            np.stack([TRANSITION, 0.5 * TRANSITION]),
            scale_tril=np.stack([FACTOR, 2 * FACTOR, 3 * FACTOR])[:, None],
            initial_value=np.array([3.0, 4.0]),
        )
    ),
}
