"""Test Kullback-Leibler divergences against integrals and sums, at no distance, and where there is no formula."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, each
from scipy import integrate

import accord.distributions as dist
from accord.bijectors import Affine, Exp
from accord.core.errors import DistributionError

# Two distributions, and the range that holds all of the first.
CONTINUOUS = {
    "Normal": (dist.Normal(0.5, 1.5), dist.Normal(-1, 2), -30, 30),
    "LogNormal": (dist.LogNormal(0.5, 0.4), dist.LogNormal(-1, 2), 0, 60),
    "LogitNormal": (dist.LogitNormal(0.5, 0.4), dist.LogitNormal(-1, 2), 0, 1),
    "HalfNormal": (dist.HalfNormal(1.5), dist.HalfNormal(0.7), 0, 30),
    "Laplace": (dist.Laplace(0.5, 1.5), dist.Laplace(-1, 2), -60, 60),
    "Gamma": (dist.Gamma(2.5, 1.5), dist.Gamma(4.0, 0.7), 0, 60),
    "InverseGamma": (dist.InverseGamma(6.5, 1.5), dist.InverseGamma(4.0, 0.7), 0, 60),
    "Exponential": (dist.Exponential(2), dist.Exponential(0.5), 0, 40),
    "Beta": (dist.Beta(2.5, 1.5), dist.Beta(0.7, 4.0), 0, 1),
    "Uniform": (dist.Uniform(0, 1), dist.Uniform(-1, 3), 0, 1),
    "Weibull from Gamma": (dist.Weibull(1.5, 2.5), dist.Gamma(4.0, 0.7), 0, 15),
    "Weibull from Exponential": (dist.Weibull(1.5, 2.5), dist.Exponential(0.7), 0, 15),
    "LogNormal from Gamma": (dist.LogNormal(0.5, 0.4), dist.Gamma(4.0, 0.7), 0, 60),
    "LogNormal from Exponential": (dist.LogNormal(0.5, 0.4), dist.Exponential(0.7), 0, 60),
    "Kumaraswamy from Beta": (dist.Kumaraswamy(2.5, 1.5), dist.Beta(0.7, 4.0), 0, 1),
    "a map of both": (
        dist.TransformedDistribution(dist.Normal(0.5, 0.4), Exp()),
        dist.TransformedDistribution(dist.Normal(-1, 2), Exp()),
        0,
        60,
    ),
}
DISCRETE = {
    "Bernoulli": (dist.Bernoulli(0.3), dist.Bernoulli(logits=1.0), 2),
    "Bernoulli, certain": (dist.Bernoulli(1.0), dist.Bernoulli(0.3), 2),
    "Binomial": (dist.Binomial(7, 0.3), dist.Binomial(7, logits=1.0), 8),
    "Geometric": (dist.Geometric(0.3), dist.Geometric(0.6), 200),
    "Poisson": (dist.Poisson(3), dist.Poisson(7.5), 60),
    "Categorical": (
        dist.Categorical(np.array([0.2, 0.8, 0.0])),
        dist.Categorical(logits=np.array([1.0, 0.3, 2.0])),
        3,
    ),
}
VECTORS = {
    "Dirichlet": (dist.Dirichlet(np.array([1.5, 2.0, 3.0])), dist.Dirichlet(np.array([4.0, 0.5, 1.0]))),
    "MultivariateNormal": (
        dist.MultivariateNormal(np.arange(2.0), scale_tril=np.array([[1.0, 0.0], [0.5, 2.0]])),
        dist.MultivariateNormal(np.zeros(2), covariance_matrix=np.array([[2.0, -0.3], [-0.3, 1.0]])),
    ),
    "MultivariateNormal from independent normals": (
        dist.MultivariateNormal(np.arange(2.0), scale_tril=np.array([[1.0, 0.0], [0.5, 2.0]])),
        dist.Normal(0.3, 1.5).expand((2,)).to_event(1),
    ),
    "independent normals from MultivariateNormal": (
        dist.Normal(np.arange(2.0), np.array([0.5, 2.0])).to_event(1),
        dist.MultivariateNormal(np.zeros(2), covariance_matrix=np.array([[2.0, -0.3], [-0.3, 1.0]])),
    ),
    "independent normals": (
        dist.Normal(np.zeros((4, 3)), 1.0).to_event(1),
        dist.Normal(np.arange(3.0), 2.0).to_event(1),
    ),
    "CirculantNormal": (
        dist.Normal(np.arange(4.0), np.array([1.0, 0.5, 2.0, 0.3])).to_event(1),
        dist.CirculantNormal(np.zeros(4), np.array([2.0, 0.5, 0.2, 0.5])),
    ),
}


@each(CONTINUOUS)
def test_the_divergence_of_densities_is_an_integral(case: tuple[Any, ...]) -> None:
    p, q, low, high = case

    @jax.jit
    def integrand(x: Any) -> jax.Array:
        return jnp.exp(p.log_prob(x)) * (p.log_prob(x) - q.log_prob(x))

    inner = np.linspace(low, high, 12)[1:-1]
    expected, _ = integrate.quad(integrand, low, high, points=inner, limit=400, epsabs=1e-11)
    assert_close(dist.kl_divergence(p, q), np.asarray(expected), rtol=1e-8, atol=1e-9)
    if type(p) is type(q):
        assert_close(dist.kl_divergence(p, p), np.asarray(0.0), atol=1e-14)


@each(DISCRETE)
def test_the_divergence_of_probabilities_is_a_sum(case: tuple[Any, ...]) -> None:
    p, q, count = case
    log_p, log_q = (np.asarray(d.log_prob(np.arange(count))) for d in (p, q))
    inside = log_p > -np.inf
    expected = (np.exp(log_p[inside]) * (log_p[inside] - log_q[inside])).sum()
    assert_close(dist.kl_divergence(p, q), np.asarray(expected), rtol=1e-10)
    assert_close(dist.kl_divergence(p, p), np.asarray(0.0), atol=1e-14)


@each(VECTORS)
def test_the_divergence_of_vectors_is_the_mean_log_ratio(case: tuple[Any, ...]) -> None:
    # Within 4.5 standard errors: a false-alarm rate below 1e-5 each; the key is fixed.
    p, q = case
    x = p.sample(jax.random.key(0), (20_000,))
    ratio = np.asarray(p.log_prob(x) - q.log_prob(x))
    found = dist.kl_divergence(p, q)
    assert found.shape == np.broadcast_shapes(p.batch_shape, q.batch_shape)
    assert (np.abs(ratio.mean(0) - found) < 4.5 * ratio.std(0) / np.sqrt(len(x))).all()
    if type(p) is type(q):
        assert_close(dist.kl_divergence(p, p), np.zeros(p.batch_shape), atol=1e-13)


def test_close_distributions_diverge_by_half_the_information_times_the_square() -> None:
    step = 1e-9
    pairs = [
        (dist.Normal(0.0, 1.0), dist.Normal(0.0, 1.0 + step), 2.0),
        (dist.Exponential(1.0), dist.Exponential(1.0 + step), 1.0),
        (dist.Poisson(4.0), dist.Poisson(4.0 + step), 0.25),
        (dist.Bernoulli(0.5), dist.Bernoulli(0.5 + step), 4.0),
    ]
    for p, q, information in pairs:
        assert_close(dist.kl_divergence(p, q) / (0.5 * information * step**2), np.asarray(1.0), rtol=1e-6)


def test_shapes_of_expanded_and_masked_distributions_are_respected() -> None:
    p, q = dist.Normal(np.zeros(3), 1.0), dist.Normal(1.0, 2.0)
    one = np.asarray(dist.kl_divergence(p, q))[0]
    assert_close(dist.kl_divergence(p.expand((2, 3)), q), np.full((2, 3), one))
    assert_close(
        dist.kl_divergence(p.expand((2, 3)).to_event(1), q.expand((3,)).to_event(1)), np.full(2, 3 * one)
    )
    mask = np.array([True, False, True])
    assert_close(dist.kl_divergence(p.mask(mask), q), np.where(mask, one, 0.0))
    assert_close(dist.kl_divergence(p, q.mask(mask)), np.where(mask, one, 0.0))


def test_a_point_diverges_by_the_surprise_it_causes() -> None:
    p, q = dist.Delta(np.array([0.5, 1.0])), dist.Normal(0, 1)
    assert_close(dist.kl_divergence(p, q), -q.log_prob(np.array([0.5, 1.0])))


def test_the_divergence_is_infinite_outside_the_support_of_the_other() -> None:
    assert dist.kl_divergence(dist.Uniform(0, 2), dist.Uniform(0, 1)) == np.inf
    assert dist.kl_divergence(dist.Bernoulli(0.5), dist.Bernoulli(1.0)) == np.inf
    assert dist.kl_divergence(dist.Poisson(1.0), dist.Poisson(0.0)) == np.inf


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (dist.Normal(), dist.Cauchy()),
        (dist.Normal(), dist.MultivariateNormal(0, scale_tril=np.eye(2))),
        (dist.Cauchy(np.zeros(2)).to_event(1), dist.MultivariateNormal(0, scale_tril=np.eye(2))),
        (
            dist.TransformedDistribution(dist.Normal(), Affine(0.0, 2.0)),
            dist.TransformedDistribution(dist.Normal(), Affine(0.0, 3.0)),
        ),
    ],
)
def test_the_error_for_a_pair_without_a_formula_names_it(p: Any, q: Any) -> None:
    with pytest.raises(DistributionError, match=f"{type(p).__name__}.*{type(q).__name__}"):
        dist.kl_divergence(p, q)
