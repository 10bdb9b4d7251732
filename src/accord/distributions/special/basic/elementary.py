"""Compute logarithms and sums with finite values and right derivatives where the textbook formula fails."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


_MANY = 256  # numbers: fewer cost nothing, and many sites of few are merged, which a rule of its own does not allow


def standardise(x: Any, loc: Any, scale: Any) -> jax.Array:
    """Compute z = (x - loc) / scale; of many, the slope by the scale is made of z, so that one array is kept."""
    size = math.prod(np.broadcast_shapes(*map(np.shape, (x, loc, scale))))
    return _standardise(x, loc, scale) if size >= _MANY else (x - loc) / scale


@jax.custom_jvp
def _standardise(x: Any, loc: Any, scale: Any) -> jax.Array:
    return (x - loc) / scale


def _standardise_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, Any]:
    (x, loc, scale), (x_dot, loc_dot, scale_dot) = primals, tangents
    z = _standardise(x, loc, scale)
    total = jnp.zeros_like(z)
    if not isinstance(x_dot, SymbolicZero):
        total = total + x_dot
    if not isinstance(loc_dot, SymbolicZero):
        total = total - loc_dot
    if not isinstance(scale_dot, SymbolicZero):
        total = total - z * scale_dot
    # One division for all entries, where they share the scale.
    return z, total * (1.0 / scale) if np.size(scale) < np.size(z) else total / scale


_standardise.defjvp(_standardise_jvp, symbolic_zeros=True)


def log_rate(rate: Any) -> Any:
    """Compute the logarithm of a rate, which may be exp(x) for every entry, without a second exponential for its slope.

    XLA would compute 1 / exp(x) as exp(-x), which takes longer than a division.
    """
    if isinstance(rate, float):
        return math.log(rate)
    return _log_rate(rate) if np.size(rate) >= _MANY else jnp.log(rate)


def as_divisor(y: jax.Array) -> jax.Array:
    """Return y > 0 such that XLA divides by it, and computes no second exponential where y is exp(x)."""
    return jnp.maximum(y, jnp.finfo(y.dtype).tiny)


@jax.custom_jvp
def _log_rate(rate: jax.Array) -> jax.Array:
    return jnp.log(rate)


@_log_rate.defjvp
def _log_rate_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (rate,), (rate_dot,) = primals, tangents
    return _log_rate(rate), rate_dot / as_divisor(rate)


def log1p_square(z: jax.Array) -> jax.Array:
    """Compute log(1 + z^2), also where z^2 overflows, from one logarithm."""
    return _log1p_square(z) if np.size(z) >= _MANY else _plain_log1p_square(z)


def _plain_log1p_square(z: jax.Array) -> jax.Array:
    size = jnp.abs(z)
    is_large = size > 1 / jnp.finfo(z.dtype).eps
    # Choices are made ahead of the logarithm: XLA computes it faster as part of a sum than of a choice.
    small = jnp.where(is_large, 0.0, z)
    return jnp.where(is_large, 2.0, 1.0) * jnp.log1p(jnp.where(is_large, size, small * small))


_log1p_square = jax.custom_jvp(_plain_log1p_square)


@_log1p_square.defjvp
def _log1p_square_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (z,), (z_dot,) = primals, tangents
    return _log1p_square(z), _slope_of_log1p_square(z) * z_dot


@jax.custom_jvp
def _slope_of_log1p_square(z: jax.Array) -> jax.Array:
    """Compute 2 z / (1 + z^2) without the square; 0 at 0, where 1 / z is infinite."""
    return 2.0 / (z + 1.0 / z)


@_slope_of_log1p_square.defjvp
def _slope_of_log1p_square_jvp(
    primals: tuple[jax.Array], tangents: tuple[jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (z,), (z_dot,) = primals, tangents
    slope = _slope_of_log1p_square(z)
    return slope, (2.0 / (1.0 + z * z) - slope * slope) * z_dot


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
