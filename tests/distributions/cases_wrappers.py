"""List distributions made of distributions: truncated, censored, folded, transformed, mixed."""

from typing import Any

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist
from accord import bijectors

WEIGHTS = np.array([0.2, 0.5, 0.3])

UNIVARIATE = {
    "Cauchy, truncated": Case(
        lambda: dist.TruncatedCauchy(0.5, 2.0, low=-1.0, high=3.0),
        extremes=lambda: dist.Cauchy(0.0, np.array([1e-6, 1e6, 1.0])).truncate(
            np.array([1.0, -np.inf, 1.0]), np.array([np.inf, 1e-3, 1.000001])
        ),
    ),
    "Laplace, truncated in a tail": Case(
        lambda: dist.Laplace(0.0, 2.0).truncate(8.0),
        lambda: stats.expon(8.0, 2.0),
        lambda: dist.Laplace(0.0, np.array([1.0, 1e-3])).truncate(np.array([700.0, 1.0])),
    ),
    "Gamma, truncated": Case(lambda: dist.TruncatedGamma(2.5, 3.0, low=0.25, high=2.0)),
    "Exponential, truncated": Case(
        lambda: dist.Exponential(2.0).truncate(high=0.75), lambda: stats.truncexpon(1.5, scale=0.5)
    ),
    "LogNormal by transformation": Case(
        lambda: dist.TransformedDistribution(dist.Normal(0.3, 0.5), bijectors.Exp()),
        lambda: stats.lognorm(0.5, 0, np.exp(0.3)),
    ),
    "Logistic, reflected": Case(
        lambda: dist.TransformedDistribution(dist.Logistic(0.0, 1.0), [bijectors.Affine(1.0, -2.0)]),
        lambda: stats.logistic(1.0, 2.0),
    ),
    "Normal, folded": Case(lambda: dist.FoldedDistribution(dist.Normal(0.5, 2.0))),
}

DISCRETE = {
    "Poisson, truncated": Case(lambda: dist.Poisson(3.0).truncate(low=1)),
    "Binomial, truncated": Case(lambda: dist.Binomial(10, 0.3).truncate(1, 6)),
}

MULTIVARIATE: dict[str, Case] = {}

BATCHED = {
    "truncated, all kinds of bounds": Case(
        lambda: dist.Laplace(0.0, 1.0).truncate(
            np.array([0, -np.inf, -2, 3, -np.inf]), np.array([np.inf, np.inf, 1.0, 3.01, 0.5])
        )
    ),
    "truncated after expansion": Case(
        lambda: dist.Exponential(2.0).expand((3,)).truncate(np.array([[1.0], [2.0]]))
    ),
    "simplex by transformation": Case(
        lambda: dist.TransformedDistribution(dist.Normal(np.zeros((2, 3)), 1.0), bijectors.StickBreaking())
    ),
    "folded, batch": Case(lambda: dist.FoldedDistribution(dist.Normal(np.array([0.5, 20.0]), 2.0))),
}

OUTSIDE: dict[str, tuple[Any, tuple, Any]] = {
    "truncated, below": (lambda *p: dist.Cauchy(*p[:2]).truncate(*p[2:]), (0.0, 1.0, -1.0, 2.0), -1.5),
    "truncated, above": (lambda *p: dist.Laplace(*p[:2]).truncate(*p[2:]), (0.0, 1.0, -np.inf, 2.0), 2.5),
    "truncated, discrete": (lambda p: dist.Poisson(p).truncate(2), (3.0,), 1),
    "censored": (lambda *p: dist.Normal(*p[:2]).censor(*p[2:]), (0.0, 1.0, -1.0, 2.0), 3.0),
    "folded": (lambda *p: dist.FoldedDistribution(dist.Normal(*p)), (0.5, 1.0), -0.5),
    "transformed": (
        lambda *p: dist.TransformedDistribution(dist.Normal(*p), bijectors.Exp()),
        (0.5, 1.0),
        -0.5,
    ),
}
