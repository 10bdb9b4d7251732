"""Compute the normal distribution function, its logarithm and its inverse, with relative accuracy in the lower tail."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..basic.elementary import HALF_LOG_TWO_PI
from ..basic.error_function import erfcx

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_OVER_PI = math.sqrt(2 / math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
# Beyond this the tail is 0 in any precision.
_FAR = 1e3


@jax.custom_jvp
def ndtr(z: jax.Array) -> jax.Array:
    """Compute the probability that a standard normal variable is at most `z`."""
    is_far = jnp.abs(z) > _FAR
    size = jnp.where(is_far, 0.0, jnp.abs(z))
    tail = jnp.where(is_far, 0.0, 0.5 * jnp.exp(-0.5 * size * size) * erfcx(_ROOT_HALF * size))
    return jnp.where(z > 0, 1.0 - tail, tail)


@ndtr.defjvp
def _ndtr_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (z,), (z_dot,) = primals, tangents
    return ndtr(z), _normal_weight(z) / _ROOT_TWO_PI * z_dot


@jax.custom_jvp
def log_ndtr(z: jax.Array) -> jax.Array:
    """Compute the logarithm of `ndtr`, also where that underflows; -inf with a zero gradient at -inf."""
    below = z < 0
    size = jnp.where(below, -z, 0.0)
    lower = -0.5 * size * size + jnp.log(0.5 * erfcx(_ROOT_HALF * jnp.where(size < jnp.inf, size, 0.0)))
    upper = jnp.log1p(-ndtr(-jnp.where(below, 0.0, z)))
    return jnp.where(below, lower, upper)


@log_ndtr.defjvp
def _log_ndtr_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (z,), (z_dot,) = primals, tangents
    return log_ndtr(z), _inverse_mills(z) * z_dot


@jax.custom_jvp
def ndtri(q: jax.Array) -> jax.Array:
    """Compute the standard normal quantile of `q` in [0, 1]."""
    return jsp.ndtri(q)


@ndtri.defjvp
def _ndtri_jvp(primals: tuple[Any], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
    (q,), (q_dot,) = primals, tangents
    z = ndtri(q)
    is_end = jnp.abs(z) == jnp.inf
    # exp(z^2/2) on the nearer side of the centre, where it is Mills' ratio over the tail.
    return z, jnp.where(is_end, 0.0, _ROOT_TWO_PI * jnp.exp(0.5 * jnp.where(is_end, 0.0, z) ** 2)) * q_dot


def _normal_weight(z: jax.Array) -> jax.Array:
    """Compute exp(-z^2/2), with a derivative of 0 rather than NaN where the square overflows."""
    is_far = jnp.abs(z) > _FAR
    near = jnp.where(is_far, 0.0, z)
    return jnp.where(is_far, 0.0, jnp.exp(-0.5 * near * near))


def _inverse_mills(z: jax.Array) -> jax.Array:
    """Compute density over distribution function; 0 at both infinities."""
    below = (z < 0) & (z > -jnp.inf)
    lower = _ROOT_TWO_OVER_PI / erfcx(_ROOT_HALF * jnp.where(below, -z, 0.0))
    above = jnp.where(z < 0, 0.0, z)
    upper = _normal_weight(above) / (_ROOT_TWO_PI * ndtr(above))
    return jnp.where(below, lower, jnp.where(z < 0, 0.0, upper))


def log_normal_density(z: jax.Array) -> jax.Array:
    """Compute the log of the standard normal density."""
    return -0.5 * (z * z) - HALF_LOG_TWO_PI
