"""Compare bounds, gradients and weights of normal guides with figures that algebra gives.

Tails of weights are estimated from 100,000 fixed draws, and compared within 6 of their standard deviations, which ten
repeats told: a false alarm in 2e-9 of each of 3 comparisons.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtri

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.report.weights import effective_size, pareto_k
from accord.vi.each import sharing
from accord.vi.objectives import ELBO, Renyi


@ac.model
def one_seen() -> None:
    x = ac.sample("x", dist.Normal(0, 1))
    ac.sample("seen", dist.Normal(x, 1), obs=1.0)


def test_a_bound_of_negative_order_is_above_the_evidence() -> None:
    """Half the logarithm of the mean squared weight of N(0, 1), over its quantiles: -1.360, above -1.516."""
    count = 20_000
    noise = ndtri((np.arange(count) + 0.5) / count)[:, None]
    with precision.scope("float64"):
        density = ac.LogDensity.from_model(one_seen())
        params = {"loc": jnp.zeros(1), "log_scale": jnp.zeros(1)}
        loss = Renyi(-1.0, draws=count).loss(
            infer.guides.MeanField(), params, jnp.asarray(noise), sharing(density, True)
        )
    assert np.isclose(-loss, -1.360258272, atol=1e-5)


def test_where_a_full_rank_is_the_posterior_every_gradient_is_zero() -> None:
    rng = np.random.default_rng(0)
    root = np.tril(rng.normal(size=(5, 5)), -1) + np.diag(rng.uniform(0.5, 2, 5))
    mean = rng.normal(size=5)

    @ac.model
    def normal() -> None:
        ac.sample("x", dist.MultivariateNormal(mean, scale_tril=root))

    guide = infer.guides.FullRank()
    params: Any = {
        "loc": jnp.asarray(mean),
        "log_scale": jnp.log(np.diag(root)),
        "lower": jnp.asarray((root / np.diag(root)[:, None])[np.tril_indices(5, -1)]),
    }
    with precision.scope("float64"):
        density = ac.LogDensity.from_model(normal())

        def gradients(sticks: bool, noise: Any) -> Any:
            objective = ELBO(draws=1, sticks_the_landing=sticks)
            return jax.grad(lambda p: objective.loss(guide, p, noise, sharing(density, True)))(params)

        for row in rng.normal(size=(20, 1, 5)):
            noise = jnp.asarray(row)
            assert all(np.allclose(each, 0, atol=1e-12) for each in gradients(True, noise).values())
            assert max(np.abs(each).max() for each in gradients(False, noise).values()) > 1e-3


@pytest.mark.parametrize(
    ("ratio", "known", "found", "spread"),
    [(0.25, 0.75, 0.70, 0.05), (0.5, 0.5, 0.48, 0.04)],
)
def test_the_tail_of_narrow_guides_is_what_the_ratio_of_variances_says(
    ratio: float, known: float, found: float, spread: float
) -> None:
    """For N(0, 1) and a guide N(0, ratio): 1 - ratio, from which finite samples differ a little, by what is known."""
    x = np.random.default_rng(1).standard_normal(100_000) * math.sqrt(ratio)
    assert known == 1 - ratio
    assert abs(pareto_k(-0.5 * x**2 + 0.5 * x**2 / ratio) - found) < 6 * spread


def test_the_tail_of_a_mean_field_is_the_correlation() -> None:
    """For two unknowns correlated by rho: 1 - the least eigenvalue of the guide in units of the posterior."""
    rho = 0.5
    posterior, guide = np.array([[1, rho], [rho, 1]]), (1 - rho**2) * np.eye(2)
    assert np.isclose(1 - np.linalg.eigvals(np.linalg.solve(posterior, guide)).min(), rho)
    x = np.random.default_rng(2).standard_normal((100_000, 2)) * math.sqrt(1 - rho**2)
    log_p = -0.5 * np.sum(x * np.linalg.solve(posterior, x.T).T, axis=1)
    assert abs(pareto_k(log_p + 0.5 * np.sum(x**2, axis=1) / (1 - rho**2)) - 0.48) < 6 * 0.03


@pytest.mark.parametrize(("variance", "known"), [(2.0, 0.866025404), (0.8, 0.968245837)])
def test_the_worth_of_draws_is_that_of_normals(variance: float, known: float) -> None:
    """Of quantiles of N(0, variance), weighted by N(0, 1): sqrt(2 v - 1) / v of them."""
    count = 200_000
    x = math.sqrt(variance) * ndtri((np.arange(count) + 0.5) / count)
    assert np.isclose(effective_size(-0.5 * x**2 + 0.5 * x**2 / variance) / count, known, atol=1e-3)


def test_a_fitted_log_normal_has_the_mean_of_the_gamma_and_a_larger_variance() -> None:
    """Of a Gamma(10, 1), whose mean and variance are 10; within 6 times the spread over seeds of 0.12% of the sd."""

    @ac.model
    def rate() -> None:
        ac.sample("rate", dist.Gamma(10, 1))

    fit = infer.fit(rate(), objective=infer.FixedDraws(draws=2000), quiet=True, progress=False)
    frame = fit.fitted.frame
    location = float(frame.location[0] + frame.scale[0] * fit.params["loc"][0])
    variance = float(frame.scale[0] * np.exp(fit.params["log_scale"][0])) ** 2
    mean = math.exp(location + variance / 2)
    assert np.isclose(mean, 10, rtol=1e-3)
    assert np.isclose(mean**2 * math.expm1(variance), 10.517091808, rtol=6 * 2.5e-3)
