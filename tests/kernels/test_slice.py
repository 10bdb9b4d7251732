"""Test what the slice sampler alone does: give a visit up, learn widths, and say where its first bad number was."""

import jax
import jax.numpy as jnp
import numpy as np
from machine import compile_program, diagonal_metric, run_draws, standing_at

import accord as ac
from accord import infer
from accord.core import keys
from accord.kernels import Slice


def test_a_visit_is_given_up_after_a_hundred_points_outside_and_counted() -> None:
    def evaluate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.where(jnp.all(x == 0), 0.0, -jnp.inf), jnp.zeros_like(x)

    start = standing_at(Slice(), jax.jit(evaluate), np.zeros(2), 1.0)
    _, result = run_draws(
        compile_program(Slice(), evaluate, 2), start, diagonal_metric(2), keys.chain_key(0, 0), 20
    )
    np.testing.assert_array_equal(result["position"], 0)
    np.testing.assert_array_equal(result["n_exhausted"], 2)
    np.testing.assert_array_equal(result["acceptance_rate"], 0)
    # Beside the hundred: each end once, unless the random split leaves it no step.
    assert np.all((result["n_steps"] >= 2 * 101) & (result["n_steps"] <= 2 * 102))


def test_widths_are_learnt_in_any_unit() -> None:
    scales = np.array([1e-4, 1.0, 1e4])
    normal = ac.LogDensity.from_function(lambda x: -0.5 * ((x / scales) ** 2).sum(), np.zeros(3))
    draws = infer.sample(normal, infer.Slice(), draws=200, chains=2, seed=0, progress=False, quiet=True)
    widths = draws.tuning["width"] / scales
    assert np.all((widths > 2) & (widths < 15))
    assert draws.stats["n_steps"].mean() < 3 * 7
    assert np.all(draws.stats["n_exhausted"] == 0)


def test_a_number_that_is_not_finite_is_reported_where_it_was() -> None:
    def log_density(x: jax.Array) -> jax.Array:
        return jnp.where(x[0] > 1, jnp.nan, -0.5 * jnp.sum(x**2))

    target = ac.LogDensity.from_function(log_density, np.zeros(2))
    draws = infer.sample(target, infer.Slice(), draws=300, chains=2, seed=0, progress=False, quiet=True)
    (name,) = draws
    assert draws[name][..., 0].max() <= 1
    assert draws.stats["non_finite"].mean() > 0.1
    assert len(draws.failures) == 2 * 3  # the first of each chain
    assert all(each.kind == "log_density" and each.position[0] > 1 for each in draws.failures)
