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

SEEN = {
    "observation_matrix": np.array([[1.0, 0.5], [0.0, 2.0]]),
    "transition_scale": np.array([[0.7, 0.0], [0.2, 0.0]]),
    "observation_scale": np.array([[0.5, 0.0], [0.3, 1.1]]),
    "initial_mean": np.array([1.0, -2.0]),
    "initial_scale": np.array([[2.0, 0.0], [0.5, 1.0]]),
}

BATCHED = {
    "LinearGaussianStateSpace": Case(
        lambda: dist.LinearGaussianStateSpace(3, TRANSITION, **SEEN),
        extremes=lambda: dist.LinearGaussianStateSpace(
            3,
            TRANSITION,
            **SEEN | {"observation_scale": np.array([1e-6, 1.0, 1e6])[:, None, None] * np.eye(2)},
        ),
    ),
    "LinearGaussianStateSpace, batch": Case(
        lambda: dist.LinearGaussianStateSpace(
            2,
            np.stack([TRANSITION, 0.5 * TRANSITION]),
            **SEEN | {"observation_matrix": np.ones((3, 1, 1, 2)), "observation_scale": np.array([[0.4]])},
        )
    ),
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
