"""Test elliptical slices: posteriors with known moments, whatever the normal they refer to, and what they refuse."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each, once_more_in_doubt
from machine import compile_program, diagonal_metric, run_draws, standing_at
from scipy import stats

import accord as ac
from accord import infer
from accord.core import keys
from accord.core.errors import OptionError
from accord.kernels import EllipticalSlice

QUIET: dict[str, Any] = dict(draws=5000, chains=4, warmup=200, progress=False, quiet=True)


def drawn(log_density: Any, dim: int, kernel: EllipticalSlice, seed: int) -> tuple[np.ndarray, Any]:
    target = ac.LogDensity.from_function(log_density, np.zeros(dim))
    draws = infer.sample(target, kernel, seed=seed, **QUIET)
    (name,) = draws
    return draws[name], draws


def assert_mean(values: np.ndarray, truth: Any) -> None:
    """The average of `(chain, draw, any)` is within 4.5 errors of 100 batches: a false alarm in 2e-5 of each."""
    means = values.reshape(100, -1, *values.shape[2:]).mean(1)
    assert np.all(np.abs(means.mean(0) - truth) < 4.5 * means.std(0, ddof=1) / 10)


# x ~ N(3, 2^2) and 1 ~ N(x, 1): the posterior is N(1.4, 0.8). The prior has a mean that is not zero.
REFERENCES = {
    "the prior": lambda: EllipticalSlice(mean=3.0, scale=2.0),
    "the prior, by its covariance": lambda: EllipticalSlice(mean=[3.0], covariance=[[4.0]]),
    "another normal": lambda: EllipticalSlice(mean=0.5),
}


@each(REFERENCES)
@once_more_in_doubt(0, 1)
def test_any_normal_leads_to_the_posterior(kernel: EllipticalSlice, seed: int) -> None:
    """Two comparisons for each of three, with two seeds: a false alarm in 5e-9."""
    x, _ = drawn(lambda x: -0.5 * ((x[0] - 3) / 2) ** 2 - 0.5 * (x[0] - 1) ** 2, 1, kernel, seed)
    assert_mean(x, 1.4)
    assert_mean((x - 1.4) ** 2, 0.8)


@once_more_in_doubt(0, 1)
def test_no_draw_is_where_the_likelihood_is_no_number(seed: int) -> None:
    """The posterior is then cut off at 1.5. One comparison, with two seeds: a false alarm in 4e-10.

    In BlackJAX a third of the draws are where it is no number: its loop ends there, since NaN is not below the slice.
    """

    def log_density(x: jax.Array) -> jax.Array:
        return jnp.where(x[0] > 1.5, jnp.nan, -0.5 * ((x[0] - 3) / 2) ** 2 - 0.5 * (x[0] - 1) ** 2)

    x, draws = drawn(log_density, 1, EllipticalSlice(mean=3.0, scale=2.0), seed)
    sd = np.sqrt(0.8)
    assert x.max() <= 1.5
    assert_mean(x, stats.truncnorm(-np.inf, 0.1 / sd, 1.4, sd).mean())
    assert draws.stats["non_finite"].mean() > 0.1
    assert draws.failures and all(each.position[0] > 1.5 for each in draws.failures)


@pytest.mark.parametrize("dim", [3, 70])  # 70: a root that is multiplied by a library
@once_more_in_doubt(0, 1)
def test_a_latent_process_has_its_posterior(dim: int, seed: int) -> None:
    """Means of three entries, with two seeds: a false alarm in 4e-9 of each dimension."""
    t = np.linspace(0, 1, dim)
    covariance = np.exp(-0.5 * (t[:, None] - t) ** 2 / 0.3**2) + 0.01 * np.eye(dim)
    mean, y = 1 + t, np.sin(5 * t)
    precision = np.linalg.inv(covariance)
    truth = mean + covariance @ np.linalg.solve(covariance + np.eye(dim), y - mean)

    def log_density(f: jax.Array) -> jax.Array:
        return -0.5 * (f - mean) @ (jnp.asarray(precision) @ (f - mean)) - 0.5 * jnp.sum((f - y) ** 2)

    f, _ = drawn(log_density, dim, EllipticalSlice(mean=mean, covariance=covariance), seed)
    places = [0, dim // 2, dim - 1]
    assert_mean(f[..., places], truth[places])


def test_a_draw_is_given_up_after_a_hundred_points_outside_and_counted() -> None:
    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.where(jnp.all(x == 0), 0.0, -jnp.inf), jnp.zeros_like(x)

    kernel = EllipticalSlice()
    start = standing_at(kernel, jax.jit(evaluate), np.zeros(2), 1.0)
    _, result = run_draws(
        compile_program(kernel, evaluate, 2), start, diagonal_metric(2), keys.chain_key(0, 0), 5
    )
    np.testing.assert_array_equal(result["position"], 0)
    np.testing.assert_array_equal(result["n_exhausted"], 1)
    np.testing.assert_array_equal(result["n_steps"], 100)


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "both": (dict(scale=2.0, covariance=np.eye(2)), "a scale or a covariance, not both"),
    "mean of another length": (dict(mean=np.zeros(3)), r"mean must .* shape \(2,\).*got shape \(3,\)"),
    "mean that is NaN": (dict(mean=np.nan), "mean must be a finite number"),
    "scale of zero": (dict(scale=0.0), "scale must be positive"),
    "covariance of another shape": (dict(covariance=np.eye(3)), r"covariance must have shape \(2, 2\)"),
    "covariance of no distribution": (dict(covariance=[[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
    "covariance with two halves": (dict(covariance=[[1.0, 0.1], [0.2, 1.0]]), "symmetric"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_normal_is_refused(name: str) -> None:
    options, words = REFUSALS[name]
    with pytest.raises(OptionError, match=words):
        drawn(lambda x: -0.5 * jnp.sum(x * x), 2, EllipticalSlice(**options), 0)
