"""Test draws of the generalised inverse Gaussian distribution, which come from rejection, against its cdf."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled
from scipy import stats

import accord.distributions as dist

POWERS = np.array([-1e3, -2.5, -0.5, 0.0, 1e-6, 3.0, 1e3])
PRODUCTS = np.array([1e-8, 1e-3, 0.3, 1.0, 30.0, 1e8])[:, None]  # of sqrt(a) and sqrt(b)
SIZE = 1000
# The chance that any of the comparisons of this file fails although nothing is wrong.
FALSE_ALARMS = 1e-5


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_draws_cover_all_quantiles_from_a_plateau_to_a_peak(precision: str) -> None:
    with jax.enable_x64(precision == "float64"):
        dtype = np.dtype(precision)
        d = dist.GeneralizedInverseGaussian(
            (2 * PRODUCTS).astype(dtype), (PRODUCTS / 2).astype(dtype), POWERS.astype(dtype)
        )

        def levels_of_draws(key: jax.Array) -> tuple[jax.Array, jax.Array]:
            x = d.sample(key, (SIZE,))
            return x, d.cdf(x)

        draws, levels = map(np.asarray, compiled(levels_of_draws)(jax.random.key(0)))
    assert_finite(draws)
    assert (draws > 0).all()
    assert draws.dtype == dtype
    columns = levels.astype(np.float64).reshape(SIZE, -1).T
    chances = np.array([stats.kstest(column, "uniform").pvalue for column in columns])
    assert (chances > FALSE_ALARMS / (2 * chances.size)).all(), chances


def test_draws_move_with_the_parameters_as_quantiles_do() -> None:
    law = np.array([[1.5, 2.0, 0.7], [1e-3, 1e-3, 0.0], [20.0, 0.1, -3.0]]).T

    def draw(law: jax.Array) -> jax.Array:
        return dist.GeneralizedInverseGaussian(*law).sample(jax.random.key(1), (8,))

    def slopes(law: jax.Array) -> tuple[jax.Array, ...]:
        x, pull = jax.vjp(draw, law)
        backward = pull(jnp.ones_like(x))[0]
        directions = jnp.repeat(jnp.eye(3)[:, :, None], 3, axis=2)

        def by(direction: jax.Array) -> tuple[jax.Array, jax.Array]:
            moved = jax.jvp(draw, (law,), (direction,))[1]
            mass = jax.jvp(lambda law: dist.GeneralizedInverseGaussian(*law).cdf(x), (law,), (direction,))[1]
            return moved, mass

        moved, mass = jax.vmap(by)(directions)
        density = jnp.exp(dist.GeneralizedInverseGaussian(*law).log_prob(x))
        return moved, -mass / density[None], backward

    moved, expected, backward = compiled(slopes)(law)
    assert_close(moved, expected, rtol=1e-9)
    assert_close(backward, moved.sum(1), rtol=1e-9)


def test_a_parameter_that_is_nan_gives_a_draw_that_is_nan() -> None:
    draws = compiled(lambda a: dist.GeneralizedInverseGaussian(a, 1.0, 0.5).sample(jax.random.key(0)))(
        np.array([np.nan, 1.0])
    )
    assert np.isnan(draws[0])
    assert np.isfinite(draws[1])
