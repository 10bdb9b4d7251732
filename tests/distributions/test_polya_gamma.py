"""Test the Polya-Gamma distribution against what its Laplace transform says of it."""

import jax
import jax.numpy as jnp
import numpy as np
from laws import assert_close, compiled

import accord.distributions as dist


def test_the_laplace_transform_is_that_of_the_logistic_likelihood() -> None:
    # E[exp(-x t^2 / 2)] = 1 / cosh(t / 2): averaged over x, a normal likelihood in t becomes a logistic one.
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x = 1.25 * (1 + nodes)
    density = np.exp(np.asarray(compiled(dist.TruncatedPolyaGamma().log_prob)(x)))
    t = np.array([0.5, 2.0, 10.0])
    found = (1.25 * weights * density * np.exp(-0.5 * x * t[:, None] ** 2)).sum(1)
    assert_close(found, 1 / np.cosh(t / 2), rtol=6e-6)
    assert_close(1.25 * (weights * density).sum(), np.float64(1.0), rtol=1e-9)


def test_both_series_agree_where_they_meet() -> None:
    d = dist.TruncatedPolyaGamma()
    x = np.array([0.16 - 1e-12, 0.16 + 1e-12])

    def facts(x: jax.Array) -> tuple:
        slope = jax.grad(d.log_prob)
        return d.log_prob(x), slope(x), jax.grad(slope)(x), d.log_cdf(x), d.log_survival(x)

    for pair in compiled(jax.vmap(facts))(x):
        assert_close(pair[0], pair[1], rtol=1e-8)


def test_quantiles_invert_the_cdf_in_both_tails() -> None:
    d = dist.TruncatedPolyaGamma((2, 1))
    q = np.array([1e-30, 1e-8, 0.3, 0.9, 1 - 1e-9])
    x, again = compiled(lambda q: (d.icdf(q), d.cdf(d.icdf(q))))(q)
    assert x.shape == (2, 5)
    assert_close(again, np.broadcast_to(q, (2, 5)), rtol=1e-11)
    draws = dist.TruncatedPolyaGamma().sample(jax.random.key(0), (4000,))
    assert jnp.abs(draws.mean() - 0.25) < 4.5 * draws.std() / np.sqrt(4000)
