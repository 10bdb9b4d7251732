"""Compute logarithms without their linear term, which cancels in log densities."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ....bijectors.quick_log import quick_log

# Coefficients of z^2, z^4, ... in atanh(z)/z - 1, which is exact to rounding up to z = 1/7.
_ATANH = tuple(1 / k for k in range(3, 23, 2))
# Coefficients of (log(1 + u) - u)/u^2, highest first, with a relative error of 1.6e-16 up to |u| = 1/4.
_SQUARE = (
    -0.070952963467248388838,
    0.075019688289898982804,
    -0.060735573859282775142,
    0.064811108848059102178,
    -0.071533312835333415388,
    0.077033216764770115783,
    -0.083329826122558786854,
    0.090905403153410024342,
    -0.10000006628895064394,
    0.11111118080994344003,
    -0.12499999933757866526,
    0.14285714216066270498,
    -0.16666666666963244385,
    0.20000000000311822335,
    -0.24999999999999613372,
    0.33333333333332926835,
    -0.5,
)


def excess(x: jax.Array, gap: jax.Array, log_ratio: jax.Array) -> jax.Array:
    """Compute x log(1 + gap/x) - gap, for x >= 0 and x + gap >= 0.

    **Arguments**: `log_ratio` is that logarithm, used where `gap` is not small beside `x`; it may be -inf.
    """
    is_zero = x == 0
    safe = jnp.where(is_zero, 1.0, x)
    is_near = jnp.abs(gap) < 0.25 * x
    near = _near_excess(safe, jnp.where(is_near, gap, 0.0))
    far = safe * jnp.where(is_near | is_zero, 0.0, log_ratio) - gap
    return jnp.where(is_zero, -gap, jnp.where(is_near, near, far))


@jax.custom_jvp
def excess_by_log(x: jax.Array, mean: jax.Array, log_mean: jax.Array) -> jax.Array:
    """Compute x log(mean/x) - (mean - x), for x > 0, to the rounding of mean - x.

    Slopes by the mean are those by its logarithm, which may be finite where the mean is not.
    """
    gap = mean - x
    is_near = jnp.abs(gap) < 0.25 * x
    near = times_near_zero(x, jnp.where(is_near, gap, 0.0))
    return jnp.where(is_near, near, x * (log_mean - jnp.log(x)) - gap)


def _excess_by_log_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, Any]:
    (x, mean, log_mean), (x_dot, _, log_mean_dot) = primals, tangents
    gap = mean - x
    total = jnp.zeros_like(gap)
    if not isinstance(log_mean_dot, SymbolicZero):
        total = total - gap * log_mean_dot
    if not isinstance(x_dot, SymbolicZero):
        is_near = jnp.abs(gap) < 0.25 * x
        small = jnp.where(is_near, gap, 0.0)
        # The series of the value again, which a compiler computes once.
        near = (times_near_zero(x, small) + small) / x
        total = total + jnp.where(is_near, near, log_mean - jnp.log(x)) * x_dot
    return excess_by_log(x, mean, log_mean), total


excess_by_log.defjvp(_excess_by_log_jvp, symbolic_zeros=True)


def log_of_ratio(u: jax.Array, ratio: jax.Array, is_near: jax.Array) -> jax.Array:
    """Compute log(1 + u) where `is_near`, and log(ratio) elsewhere, from one logarithm: u >= -1/2, ratio > 0."""
    whole = jnp.where(is_near, 1.0 + u, ratio)
    # What rounding left out of 1 + u, which matters where u is small.
    left = jax.lax.stop_gradient(jnp.where(is_near, u - (whole - 1.0), 0.0) * (2.0 - whole))
    return quick_log(whole) + left


@jax.custom_jvp
def log1p_excess(u: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, for u > -1, to full relative accuracy."""
    is_small = jnp.abs(u) < 0.25
    small, large = jnp.where(is_small, u, 0.0), jnp.where(is_small, 1.0, u)
    return jnp.where(is_small, near_zero(small), jnp.log1p(large) - large)


@log1p_excess.defjvp
def _log1p_excess_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (u,), (u_dot,) = primals, tangents
    return log1p_excess(u), -u / (1 + u) * u_dot


@jax.custom_jvp
def _near_excess(x: jax.Array, gap: jax.Array) -> jax.Array:
    return times_near_zero(x, gap)


def _near_excess_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, Any]:
    (x, gap), (x_dot, gap_dot) = primals, tangents
    share = gap / (x + gap)
    total = jnp.zeros_like(share)
    if not isinstance(gap_dot, SymbolicZero):
        total = total - share * gap_dot
    if not isinstance(x_dot, SymbolicZero):
        total = total + (times_near_zero(x, gap) + gap * share) / x * x_dot
    return _near_excess(x, gap), total


_near_excess.defjvp(_near_excess_jvp, symbolic_zeros=True)


def near_zero(u: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, for |u| < 0.25."""
    return times_near_zero(jnp.ones_like(u), u)


def log1p_excess_over_square(u: jax.Array) -> jax.Array:
    """Compute (log(1 + u) - u)/u^2, for |u| < 0.25, without a division; of any size elsewhere."""
    total = jnp.full_like(u, _SQUARE[0])
    for coefficient in _SQUARE[1:]:
        total = coefficient + u * total
    return total


def times_near_zero(x: jax.Array, gap: jax.Array) -> jax.Array:
    """Compute x (log(1 + u) - u), u = gap/x, for |u| < 0.25 and x > 0, with one division."""
    # log(1 + u) = 2 atanh(z), and 2 z - u = -u z.
    z = gap / (2.0 * x + gap)
    square = z * z
    total = jnp.full_like(z, _ATANH[-1])
    for coefficient in _ATANH[-2::-1]:
        total = coefficient + square * total
    return z * (2.0 * square * total * x - gap)
