"""Compute logarithms and sums with finite values and right derivatives where the textbook formula fails."""

import math
from typing import Any

import jax
import jax.numpy as jnp

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def log1p_square(z: jax.Array) -> jax.Array:
    """Compute log(1 + z^2), also where z^2 overflows, from one logarithm."""
    size = jnp.abs(z)
    is_large = size > 1 / jnp.finfo(z.dtype).eps
    small = jnp.where(is_large, 0.0, z)
    square = small * small
    whole = jnp.where(is_large, size, 1.0 + square)
    # What rounding left out of 1 + z^2, which matters where z is small.
    left = jax.lax.stop_gradient(jnp.where(is_large, 0.0, square - (whole - 1.0)) / whole)
    return jnp.where(is_large, 2.0, 1.0) * jnp.log(whole) + left


def xlog(weight: Any, x: Any) -> jax.Array:
    """Compute weight * log(x), and 0 where `weight` is 0, whatever `x` is."""
    is_zero = weight == 0
    return jnp.where(is_zero, 0.0, weight * jnp.log(jnp.where(is_zero, 1.0, x)))


def log_sum_exp(x: jax.Array, axis: int = -1) -> jax.Array:
    """Compute log(sum(exp(x))) along an axis; -inf with a zero gradient where every term is -inf."""
    top = jax.lax.stop_gradient(x.max(axis=axis, keepdims=True))
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    total = jnp.exp(x - top).sum(axis=axis)
    is_empty = total == 0
    return jnp.where(is_empty, -jnp.inf, jnp.log(jnp.where(is_empty, 1.0, total)) + top.squeeze(axis))


def log_of(p: jax.Array) -> jax.Array:
    """Compute log(p); -inf with a zero gradient where `p` is 0."""
    is_zero = p == 0
    return jnp.where(is_zero, -jnp.inf, jnp.log(jnp.where(is_zero, 1.0, p)))


def exp_of(x: jax.Array) -> jax.Array:
    """Compute exp(x); with a zero gradient where `x` is infinite."""
    is_end = jnp.abs(x) == jnp.inf
    ends = jnp.where(x > 0, jnp.inf, 0.0)
    return jnp.where(is_end, ends.astype(x.dtype), jnp.exp(jnp.where(is_end, 0.0, x)))


@jax.custom_jvp
def angle(height: jax.Array, width: jax.Array) -> jax.Array:
    """Compute the angle, from 0 to pi, of the point (width, height), for height > 0, without forming squares."""
    return jnp.arctan2(height, width)


@angle.defjvp
def _angle_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    (height, width), (height_dot, width_dot) = primals, tangents
    is_flat = jnp.abs(width) > height
    # The larger side, and the smaller one over it.
    side = jnp.where(is_flat, width, height)
    ratio = jnp.where(is_flat, height, width) / side
    share = 1.0 / (1.0 + ratio * ratio) / side
    by_height, by_width = jnp.where(is_flat, 1.0, ratio), jnp.where(is_flat, ratio, 1.0)
    return angle(height, width), by_height * share * height_dot - by_width * share * width_dot


def log1m(p: jax.Array) -> jax.Array:
    """Compute log(1 - p); -inf with a zero gradient where `p` is 1."""
    is_one = p == 1
    return jnp.where(is_one, -jnp.inf, jnp.log1p(-jnp.where(is_one, 0.0, p)))


def log1m_exp(x: jax.Array) -> jax.Array:
    """Compute log(1 - exp(x)), for x <= 0, accurate at both ends; -inf with a zero gradient at 0.

    **Source**: Maechler (2012), "Accurately computing log(1 - exp(-|a|))", equation 7.
    """
    is_zero = x == 0
    # Both forms hold on both sides of the switch, where every median lies: a compiler may compute x twice, with
    # other roundings, and so see it on either side.
    close = jnp.log(-jnp.expm1(jnp.where(is_zero, -1.0, x)))
    away = jnp.log1p(-jnp.exp(jnp.minimum(x, -0.5)))
    return jnp.where(is_zero, -jnp.inf, jnp.where(x > -math.log(2), close, away))


@jax.custom_jvp
def reciprocal(x: jax.Array) -> jax.Array:
    """Compute 1/x; factors of its derivative overflow only when the derivative does."""
    return 1.0 / x


@reciprocal.defjvp
def _reciprocal_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    inverse = reciprocal(x)
    return inverse, -inverse * (inverse * x_dot)


def keep_inside(x: jax.Array, low: float | None = None, high: float | None = None) -> jax.Array:
    """Move draws that rounding put on a bound, or beyond their precision, to the nearest number inside.

    A bound of None is at the largest finite number.
    """
    limits = jnp.finfo(x.dtype)
    least = -float(limits.max) if low is None else low + float(limits.tiny)
    most = float(limits.max) if high is None else high - float(limits.epsneg) * abs(high)
    return jnp.clip(x, least, most)
