"""List the distributions that every law is tested for, with SciPy's for comparison where it has them."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy import stats

import accord.distributions as dist

FACTOR = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.1, 0.7]])
WEIGHTS = np.array([0.2, 0.5, 0.3])


class Case(NamedTuple):
    """One line of the table: how to build the distribution and, where there is one, SciPy's."""

    make: Callable[[], dist.AbstractDistribution]
    scipy: Callable[[], Any] | None = None


UNIVARIATE = {
    "Normal": Case(lambda: dist.Normal(0.5, 2), lambda: stats.norm(0.5, 2)),
    "Cauchy": Case(lambda: dist.Cauchy(-1, 0.5), lambda: stats.cauchy(-1, 0.5)),
    "StudentT": Case(lambda: dist.StudentT(3, 0.5, 2), lambda: stats.t(3, 0.5, 2)),
    "StudentT, large df": Case(lambda: dist.StudentT(200.0, 0.5, 2), lambda: stats.t(200, 0.5, 2)),
    "HalfNormal": Case(lambda: dist.HalfNormal(2), lambda: stats.halfnorm(0, 2)),
    "HalfCauchy": Case(lambda: dist.HalfCauchy(0.5), lambda: stats.halfcauchy(0, 0.5)),
    "HalfStudentT": Case(lambda: dist.HalfStudentT(4, 2)),
    "LogNormal": Case(lambda: dist.LogNormal(0.3, 0.5), lambda: stats.lognorm(0.5, 0, np.exp(0.3))),
    "Gamma": Case(lambda: dist.Gamma(2.5, 3), lambda: stats.gamma(2.5, scale=1 / 3)),
    "Gamma, array": Case(
        lambda: dist.Gamma(np.array(20.5), np.array(3.0)), lambda: stats.gamma(20.5, scale=1 / 3)
    ),
    "Gamma, exponential": Case(lambda: dist.Gamma(1, 3), lambda: stats.expon(scale=1 / 3)),
    "InverseGamma": Case(lambda: dist.InverseGamma(5, 3), lambda: stats.invgamma(5, scale=3)),
    "Exponential": Case(lambda: dist.Exponential(2), lambda: stats.expon(scale=0.5)),
    "Beta": Case(lambda: dist.Beta(2, 3.5), lambda: stats.beta(2, 3.5)),
    "Beta, uniform": Case(lambda: dist.Beta(1, 1), lambda: stats.beta(1, 1)),
    "Beta, sharp": Case(lambda: dist.Beta(np.array(200.0), 350.0), lambda: stats.beta(200, 350)),
    "Uniform": Case(lambda: dist.Uniform(-1, 3), lambda: stats.uniform(-1, 4)),
    "TruncatedNormal": Case(
        lambda: dist.TruncatedNormal(0.5, 2, low=-1, high=3), lambda: stats.truncnorm(-0.75, 1.25, 0.5, 2)
    ),
    "TruncatedNormal, tail": Case(
        lambda: dist.TruncatedNormal(0, 1, low=3.0), lambda: stats.truncnorm(3.0, 20.0, 0, 1)
    ),
    "TruncatedNormal, below": Case(
        lambda: dist.TruncatedNormal(0, 1, high=0.5), lambda: stats.truncnorm(-20.0, 0.5, 0, 1)
    ),
    "TruncatedNormal, narrow": Case(
        lambda: dist.TruncatedNormal(0, 1, low=1.0, high=1.25), lambda: stats.truncnorm(1.0, 1.25, 0, 1)
    ),
    "Mixture of one family": Case(
        lambda: dist.MixtureSameFamily(
            dist.Categorical(WEIGHTS), dist.Normal(np.array([-2.0, 0.0, 3.0]), 0.7)
        )
    ),
    "Mixture of several": Case(
        lambda: dist.Mixture(
            dist.Categorical(logits=np.log([0.4, 0.6])), [dist.Normal(0, 1), dist.StudentT(3, 2, 1)]
        )
    ),
}

DISCRETE = {
    "Bernoulli, probs": Case(lambda: dist.Bernoulli(0.3), lambda: stats.bernoulli(0.3)),
    "Bernoulli, logits": Case(
        lambda: dist.Bernoulli(logits=-0.5), lambda: stats.bernoulli(1 / (1 + np.exp(0.5)))
    ),
    "Binomial, probs": Case(lambda: dist.Binomial(10, 0.3), lambda: stats.binom(10, 0.3)),
    "Binomial, logits": Case(
        lambda: dist.Binomial(40, logits=1), lambda: stats.binom(40, 1 / (1 + np.exp(-1)))
    ),
    "Binomial, certain": Case(lambda: dist.Binomial(3, 1.0), lambda: stats.binom(3, 1.0)),
    "Poisson": Case(lambda: dist.Poisson(3), lambda: stats.poisson(3)),
    "Poisson, large": Case(lambda: dist.Poisson(np.array(50.0)), lambda: stats.poisson(50.0)),
    "Categorical, probs": Case(
        lambda: dist.Categorical(WEIGHTS), lambda: stats.rv_discrete(values=(np.arange(3), WEIGHTS))
    ),
    "Categorical, logits": Case(
        lambda: dist.Categorical(logits=np.log(WEIGHTS) + 3),
        lambda: stats.rv_discrete(values=(np.arange(3), WEIGHTS)),
    ),
}

MULTIVARIATE = {
    "Dirichlet": Case(
        lambda: dist.Dirichlet(np.array([1.0, 2.0, 3.5])), lambda: stats.dirichlet([1.0, 2.0, 3.5])
    ),
    "MultivariateNormal, covariance": Case(
        lambda: dist.MultivariateNormal(np.arange(3.0), covariance_matrix=FACTOR @ FACTOR.T),
        lambda: stats.multivariate_normal(np.arange(3.0), FACTOR @ FACTOR.T),
    ),
    "MultivariateNormal, precision": Case(
        lambda: dist.MultivariateNormal(np.arange(3.0), precision_matrix=FACTOR @ FACTOR.T),
        lambda: stats.multivariate_normal(np.arange(3.0), np.linalg.inv(FACTOR @ FACTOR.T)),
    ),
    "MultivariateNormal, factor": Case(
        lambda: dist.MultivariateNormal(0, scale_tril=FACTOR),
        lambda: stats.multivariate_normal(np.zeros(3), FACTOR @ FACTOR.T),
    ),
}

BATCHED = {
    "Normal, two axes": Case(lambda: dist.Normal(np.zeros(3), np.ones((2, 1)))),
    "StudentT, batch": Case(lambda: dist.StudentT(np.array([1, 5, 30]), 0, 2)),
    "HalfStudentT, batch": Case(lambda: dist.HalfStudentT(np.array([1.5, 5.0]), 2)),
    "Gamma, batch": Case(lambda: dist.Gamma(np.array([2.0, 30.0]), np.ones((3, 1)))),
    "InverseGamma, batch": Case(lambda: dist.InverseGamma(np.array([3.0, 30.0]), 2)),
    "Beta, batch": Case(lambda: dist.Beta(np.array([1.0, 2.0]), 3)),
    "Uniform, batch": Case(lambda: dist.Uniform(np.array([0, 1]), 3)),
    "TruncatedNormal, all kinds of bounds": Case(
        lambda: dist.TruncatedNormal(
            0, 1, low=np.array([0, -np.inf, -2, 3, -np.inf]), high=np.array([np.inf, np.inf, 1.0, 3.01, 0.5])
        )
    ),
    "Bernoulli, batch": Case(lambda: dist.Bernoulli(logits=np.array([0.0, 1.0]))),
    "Binomial, batch": Case(lambda: dist.Binomial(np.array([3, 4]), logits=np.array([[0.3], [2.0]]))),
    "Poisson, batch": Case(lambda: dist.Poisson(np.array([3.0, 100.0]))),
    "Categorical, batch": Case(lambda: dist.Categorical(logits=np.log(np.array([WEIGHTS, WEIGHTS[::-1]])))),
    "Dirichlet, batch": Case(lambda: dist.Dirichlet(np.array([[1.0, 2.0], [30.0, 4.0]]))),
    "MultivariateNormal, batch": Case(
        lambda: dist.MultivariateNormal(np.zeros((2, 1, 3)), scale_tril=np.stack([FACTOR, 2 * FACTOR]))
    ),
    "expanded": Case(lambda: dist.Normal(np.zeros((2, 1)), 1).expand((4, 2, 3))),
    "expanded vectors": Case(
        lambda: dist.MultivariateNormal(np.zeros((2, 1, 3)), scale_tril=FACTOR).expand((2, 4))
    ),
    "to_event": Case(lambda: dist.Gamma(np.ones((2, 3)), 2).to_event(1)),
    "expanded vectors, to_event": Case(lambda: dist.Dirichlet(np.ones(3)).expand((2, 4)).to_event(1)),
    "masked": Case(lambda: dist.Gamma(np.array([2.0, 3.0]), 1).mask(np.array([True, False]))),
    "mixture of vectors": Case(
        lambda: dist.MixtureSameFamily(
            dist.Categorical(WEIGHTS), dist.MultivariateNormal(np.zeros((2, 3, 3)), scale_tril=FACTOR)
        )
    ),
    "mixture of intervals": Case(
        lambda: dist.Mixture(
            dist.Categorical(np.array([0.2, 0.8])), dist.Uniform(np.array([0.0, 1.0]), np.array([2.0, 3.0]))
        )
    ),
}

ALL = UNIVARIATE | DISCRETE | MULTIVARIATE | BATCHED


@functools.cache
def draws_of(case: Case, size: int) -> np.ndarray:
    """Draws of one line of the table, `size` of them, with a fixed key; drawn once for all laws."""
    d = case.make()
    return np.asarray(jax.jit(lambda key: d.sample(key, (size,)))(jax.random.key(7)))
