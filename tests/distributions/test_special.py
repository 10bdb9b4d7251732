"""Test the special functions against 90-digit values, their quantiles by their inverses, and their derivatives."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled

from accord.distributions import special

VALUES = json.loads((Path(__file__).parent / "data" / "special.json").read_text())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_first_derivatives_are_those_of_mpmath(dtype: Any) -> None:
    tables = {name: np.array(rows, dtype) for name, rows in VALUES.items()}

    def both(name: str, table: np.ndarray) -> tuple[Any, ...]:
        count = (table.shape[1] - 1) // 2
        slopes = jax.vmap(jax.value_and_grad(getattr(special, name), tuple(range(count))))
        return slopes(*(table[:, i] for i in range(count)))

    found = compiled(lambda tables: {name: both(name, table) for name, table in tables.items()})(tables)
    tolerance = 2e-12 if dtype == np.float64 else 2e-4
    for name, (value, slopes) in found.items():
        rows = np.array(VALUES[name])
        count = len(slopes)
        assert value.dtype == dtype
        value, slopes = np.asarray(value, np.float64), np.asarray(slopes, np.float64)
        # A value near 0 or a slope at a zero of it counts in units of what a rounding of an argument changes.
        sizes = np.abs(rows[:, count : count + 1]) + np.abs(rows[:, :count] * rows[:, count + 1 :]).sum(
            -1, keepdims=True
        )
        assert (np.abs(value - rows[:, count]) <= tolerance * sizes[:, 0]).all(), name
        for i, slope in enumerate(slopes):
            error = np.abs(rows[:, i] * (slope - rows[:, count + 1 + i]))
            assert (error <= tolerance * sizes[:, 0]).all(), (name, i)


INVERSES = {
    "gamma": (lambda q, a: special.gamma_cdf(a, special.gamma_quantile(a, q)), [0.3, 1.4, 30.0, 1e5]),
    "gamma, upper": (
        lambda q, a: special.gamma_survival(a, special.gamma_quantile_upper(a, q)),
        [0.3, 1.4, 30.0],
    ),
    "beta": (lambda q, a: special.beta_cdf(a, 2.5, special.beta_quantile(a, 2.5, q)), [0.3, 1.4, 30.0, 1e5]),
    "normal": (lambda q, a: special.ndtr(special.ndtri(q)), [1.0]),
    "Student, centre": (
        lambda q, a: special.student_centre(special.student_centre_quantile(q, a), a),
        [0.3, 2.9, 3.1, 1e6],
    ),
}


@pytest.mark.parametrize("name", list(INVERSES))
def test_quantiles_undo_distribution_functions_in_value_and_derivative(name: str) -> None:
    function, shapes = INVERSES[name]
    q = np.array([1e-20, 1e-8, 0.03, 0.4, 0.5, 0.7, 0.99])
    q, shape = (part.ravel() for part in np.meshgrid(q, shapes))
    value, (by_q, by_shape) = compiled(jax.vmap(jax.value_and_grad(function, (0, 1))))(q, shape)
    assert_close(value, q, rtol=1e-11, atol=0)
    assert_close(by_q, np.ones_like(q), rtol=1e-10)
    assert_close(shape * by_shape, np.zeros_like(q), atol=1e-10)


def test_ends_of_the_support_are_exact_with_a_zero_gradient() -> None:
    ends = np.array([0.0, -1.0, np.inf])
    at = {
        "gamma_cdf": [0, 0, 1],
        "gamma_survival": [1, 1, 0],
        "log_gamma_cdf": [-np.inf, -np.inf, 0],
        "log_gamma_survival": [0, 0, -np.inf],
    }

    def by_both(name: str) -> tuple[Any, ...]:
        return jax.vmap(jax.value_and_grad(getattr(special, name), (0, 1)), (None, 0))(0.5, ends)

    found = compiled(lambda: {name: by_both(name) for name in at})()
    for name, (value, slopes) in found.items():
        np.testing.assert_array_equal(value, at[name])
        assert not any(np.any(slope) for slope in slopes)
    assert np.isnan(special.log_gamma_cdf(0.5, np.array(np.nan)))


@pytest.mark.slow
def test_second_derivatives_are_symmetric_and_those_of_differences() -> None:
    points = {
        "log_gamma_survival": (2.5, 3.0),
        "log_beta_cdf": (2.5, 3.0, 0.3),
        "student_log_tail": (1.3, 5.0),
        "gamma_quantile": (2.5, 0.3),
    }
    for name, point in points.items():

        def slopes(at: Any, one: Any, other: Any, name: str = name) -> tuple[Any, Any]:
            # Forward twice, where reverse mode would compile several times longer.
            function = getattr(special, name)
            return jax.jvp(lambda at: jax.jvp(lambda at: function(*at), (at,), (one,))[1], (at,), (other,))

        at, axes = np.asarray(point), np.eye(len(point))
        near = at + 1e-5 * np.stack([0 * axes, axes, -axes])
        # By moved point (k, and the axis j along which it moved) and by the axes of the two derivatives.
        k, j, one, other = (part.ravel() for part in np.indices((3, *3 * axes.shape[:1])))
        first, second = compiled(jax.vmap(slopes))(near[k, j], axes[one], axes[other])
        first, second = (np.asarray(part).reshape(3, *3 * axes.shape[:1]) for part in (first, second))
        hessian, steps = second[0, 0], (first[1] - first[2])[..., 0] / 2e-5
        assert_close(hessian, hessian.T, rtol=1e-9)
        assert_close(hessian, steps, rtol=1e-6, atol=1e-7)


def test_an_increasing_function_is_inverted_at_any_scale_with_implicit_derivatives() -> None:
    def solve(log_target: jax.Array, scale: Any, low: Any, high: Any) -> jax.Array:
        return special.solve_increasing(lambda x: special.log_ndtr(x / scale), log_target, low, high)

    q = jnp.array([1e-300, 1e-9, 0.3, 0.9999])
    by_both = compiled(jax.vmap(jax.value_and_grad(solve, (0, 1)), (0, None, None, None)))
    value, (by_target, by_scale) = by_both(jnp.log(q), 2.0, -np.inf, np.inf)
    z = special.ndtri(q)
    assert_close(value, 2 * z, rtol=1e-12)
    assert_close(by_scale, z, rtol=1e-11)
    assert_close(by_target, 2 * q * jax.vmap(jax.grad(special.ndtri))(q), rtol=1e-11)
    clipped = by_both(jnp.log(q), 2.0, -3.0, 1.0)
    assert_close(clipped[0], jnp.clip(2 * z, -3.0, 1.0))
    assert_finite(clipped)


def noisy(x: jax.Array) -> jax.Array:
    """A cube that is rounded as coarsely as numbers around 8 are."""
    return (x**3 + x + 8.0) - 8.0


ROUNDED = {
    "a tail in powers": (
        lambda u: u**3 * (20 - 15 * u + 3 * u**2) / 16,
        np.linspace(1e-6, 0.5, 200),
        0.0,
        1.0,
    ),
    "roots near 0": (noisy, np.array([0.0, 1e-20, -1e-17, 3e-16, -0.3]), -np.inf, np.inf),
    "roots near 0, of powers": (lambda x: x**3, np.array([0.0, 1e-30, -1e-9]), -1.0, 2.0),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_in_a_function_does_not_lead_its_inverse_astray(dtype: Any) -> None:
    eps = float(np.finfo(dtype).eps)

    def misses() -> dict[str, Any]:
        found = {}
        for name, (function, targets, low, high) in ROUNDED.items():
            target = jnp.asarray(targets, dtype)
            found[name] = function(special.solve_increasing(function, target, low, high)) - target
        return found

    for name, miss in compiled(misses)().items():
        assert np.abs(miss).max() <= 16 * eps, name
