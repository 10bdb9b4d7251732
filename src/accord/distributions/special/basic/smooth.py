"""Compute ratios and logarithms that stay smooth where the textbook formula divides zero by zero or cancels.

Each is right in value and in every derivative, at the seams of its branches too. A function that JAX differentiates by
subtracting its value from 1 (`expm1`) is given the form of the derivative that keeps small tails.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp

from .elementary import as_divisor, log1m_exp

# Beyond this, exp(-exp(w)) is 0 in every precision.
_NOTHING_LEFT = 10.0


@jax.custom_jvp
def expm1(x: jax.Array) -> jax.Array:
    """Compute exp(x) - 1, with the derivative exp(x), which stays exact where the value rounds to -1."""
    return jnp.expm1(x)


@expm1.defjvp
def _expm1_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return expm1(x), jnp.exp(x) * x_dot


def one_less_exp(x: jax.Array) -> jax.Array:
    """Compute 1 - exp(x), with the derivative -exp(x), which stays exact where the value rounds to 1."""
    return -expm1(x)


def minus_exp(w: jax.Array) -> jax.Array:
    """Compute -exp(w), the log of a vanishing mass; -inf with a zero gradient where it overflows."""
    is_gone = w > math.log(float(jnp.finfo(w.dtype).max))
    return jnp.where(is_gone, -jnp.inf, -jnp.exp(jnp.where(is_gone, 0.0, w)))


@jax.custom_jvp
def log_cosh(x: jax.Array) -> jax.Array:
    """Compute the log of the hyperbolic cosine."""
    size = jnp.abs(x)
    return size + (jnp.log1p(jnp.exp(-2.0 * size)) - math.log(2))


@log_cosh.defjvp
def _log_cosh_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return log_cosh(x), jnp.tanh(x) * x_dot


@jax.custom_jvp
def exp_excess(x: jax.Array) -> jax.Array:
    """Compute exp(x) - 1 - x, with an accurate derivative near its minimum at 0."""
    return jnp.expm1(x) - x


@exp_excess.defjvp
def _exp_excess_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return exp_excess(x), expm1(x) * x_dot


def expm1_ratio(u: Any) -> jax.Array:
    """Compute (exp(u) - 1) / u, and 1 at 0."""
    is_small = abs(u) < 0.5
    small, large = jnp.where(is_small, u, 0.0), jnp.where(is_small, 1.0, u)
    # exp(h) sinh(h) / h, with h half of u.
    square, total = 0.25 * small * small, jnp.zeros_like(small)
    for k in range(7, 0, -1):
        total = square * (1.0 / math.factorial(2 * k + 1) + total)
    return jnp.where(is_small, jnp.exp(0.5 * small) * (1.0 + total), expm1(large) / large)


def log1p_ratio(u: Any) -> jax.Array:
    """Compute log(1 + u) / u, and 1 at 0, for u >= -1."""
    is_small = abs(u) < 0.1
    small, large = jnp.where(is_small, u, 0.0), jnp.where(is_small, 1.0, u)
    # log(1 + u) = 2 artanh(s).
    s = small / (2.0 + small)
    square, total = s * s, jnp.zeros_like(s)
    for k in range(7, 0, -1):
        total = square * (1.0 / (2 * k + 1) + total)
    return jnp.where(is_small, 2.0 / (2.0 + small) * (1.0 + total), jnp.log1p(large) / large)


def stretch(y: jax.Array, shape: Any) -> jax.Array:
    """Compute (exp(shape y) - 1) / shape, and y at shape 0."""
    return _stretch(*jnp.broadcast_arrays(y, jnp.asarray(shape, y.dtype)))


@jax.custom_jvp
def _stretch(y: jax.Array, shape: jax.Array) -> jax.Array:
    return y * expm1_ratio(shape * y)


@_stretch.defjvp
def _stretch_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (y, shape), (y_dot, shape_dot) = primals, tangents
    u = shape * y
    _, slope = jax.jvp(expm1_ratio, (u,), (y * shape_dot,))
    return _stretch(y, shape), jnp.exp(u) * y_dot + y * slope


def shrink(z: jax.Array, shape: Any) -> jax.Array:
    """Compute log(1 + shape z) / shape, and z at shape 0; the inverse of `stretch`."""
    return _shrink(*jnp.broadcast_arrays(z, jnp.asarray(shape, z.dtype)))


@jax.custom_jvp
def _shrink(z: jax.Array, shape: jax.Array) -> jax.Array:
    return z * log1p_ratio(shape * z)


@_shrink.defjvp
def _shrink_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (z, shape), (z_dot, shape_dot) = primals, tangents
    u = shape * z
    _, slope = jax.jvp(log1p_ratio, (u,), (z * shape_dot,))
    return _shrink(z, shape), z_dot / (1 + u) + z * slope


def log_expm1(x: jax.Array) -> jax.Array:
    """Compute log(exp(x) - 1), for x > 0, however large."""
    return x + log1m_exp(-x)


def log_complement(w: jax.Array) -> jax.Array:
    """Compute log(1 - exp(-exp(w))): `w` itself far to the left, where the inner exponentials round to 0 and 1."""
    is_left, is_right = w < -30.0, w > _NOTHING_LEFT
    left = jnp.where(is_left, w, -30.0)
    middle = jnp.where(is_left | is_right, 0.0, w)
    return jnp.where(
        is_left, left - 0.5 * jnp.exp(left), jnp.where(is_right, 0.0, log1m_exp(-jnp.exp(middle)))
    )


def exp_minus_exp(w: jax.Array) -> jax.Array:
    """Compute exp(-exp(w)); 0 with a zero gradient where it vanishes."""
    is_gone = w > _NOTHING_LEFT
    return jnp.where(is_gone, 0.0, jnp.exp(-jnp.exp(jnp.where(is_gone, 0.0, w))))


def one_minus_exp_minus_exp(w: jax.Array) -> jax.Array:
    """Compute 1 - exp(-exp(w)), exact where it is small."""
    is_gone = w > _NOTHING_LEFT
    return jnp.where(is_gone, 1.0, -expm1(-jnp.exp(jnp.where(is_gone, 0.0, w))))


def log_ratio(x: jax.Array, y: Any) -> jax.Array:
    """Compute log(x / y), for x, y > 0, exact where they are close, and where their quotient overflows."""
    return _log_ratio(x, jnp.asarray(y, x.dtype))


@jax.custom_jvp
def _log_ratio(x: jax.Array, y: jax.Array) -> jax.Array:
    ratio = x / as_divisor(y)
    is_near = (ratio > 1e-3) & (ratio < 1e3)
    return jnp.where(is_near, jnp.log(jnp.where(is_near, ratio, 1.0)), jnp.log(x) - jnp.log(y))


@_log_ratio.defjvp
def _log_ratio_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (x, y), (x_dot, y_dot) = primals, tangents
    return _log_ratio(x, y), x_dot / x - y_dot / as_divisor(y)


def log_ratio_by_logs(x: jax.Array, y: Any) -> jax.Array:
    """Compute log(x / y), for x, y > 0, fast where log(x) is of data alone, and exact where they are close.

    Elsewhere a difference of two logarithms, with their rounding. Of a scale exp(a), XLA takes a for its logarithm.
    """
    return _log_ratio_by_logs(x, jnp.asarray(y, x.dtype))


@jax.custom_jvp
def _log_ratio_by_logs(x: jax.Array, y: jax.Array) -> jax.Array:
    half = 0.5 * (x - y)
    is_near = jnp.abs(half) < 0.125 * x
    # log(x / y) = 2 artanh(z).
    z = jnp.where(is_near, half / (y + half), 0.0)
    square, total = z * z, jnp.zeros_like(z)
    for k in range(9, 0, -1):
        total = square * (1.0 / (2 * k + 1) + total)
    return jnp.where(is_near, 2.0 * z * (1.0 + total), jnp.log(x) - jnp.log(y))


@_log_ratio_by_logs.defjvp
def _log_ratio_by_logs_jvp(
    primals: tuple[Any, Any], tangents: tuple[Any, Any]
) -> tuple[jax.Array, jax.Array]:
    (x, y), (x_dot, y_dot) = primals, tangents
    return _log_ratio_by_logs(x, y), x_dot / x - y_dot / as_divisor(y)


def log_from_both(p: jax.Array, complement: jax.Array) -> jax.Array:
    """Compute log(p) from p and 1 - p, each exact where it is small; -inf with a zero gradient where `p` is 0."""
    is_small, is_zero = p < 0.5, p == 0
    low = jnp.log(jnp.where(is_small & ~is_zero, p, 1.0))
    return jnp.where(
        is_zero, -jnp.inf, jnp.where(is_small, low, jnp.log1p(-jnp.where(is_small, 0.0, complement)))
    )
