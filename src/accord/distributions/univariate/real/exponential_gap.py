"""Compute the tails of a normal variable plus an exponential one; the lower is a difference of functions.

Derivatives are those by the scale and the rate themselves, because most of what they do through z = distance / scale
and k = rate scale cancels. phi and Phi are the standard normal density and distribution function.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ...special.basic.elementary import HALF_LOG_TWO_PI
from ...special.basic.error_function import erfcx
from ...special.basic.quadrature import FALL, bits_of, rule_on_unit
from ...special.normal.normal import log_ndtr

_ROOT_HALF = math.sqrt(0.5)
# Beyond this value this many levels of the continued fraction are exact to rounding.
_FRACTION_FROM, _LEVELS = 6.0, 10


@jax.custom_jvp
def log_modified_density(distance: jax.Array, scale: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log density at a distance from the mean of the normal variable, of this scale."""
    return jnp.log(rate) + _log_share(distance / scale, rate * scale)


@log_modified_density.defjvp
def _log_density_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    distance, scale, rate = primals
    z, k = distance / scale, rate * scale
    ratio, excess, rest = _inverse_mills(z - k), *_mean_excess(z - k)
    # Two forms of each, one of them accurate: below k everything is near the normal distribution.
    is_below = z < k
    by_scale = jnp.where(is_below, z * z - (z + k) * excess, k * k - (z + k) * ratio) / scale
    by_rate = jnp.where(is_below, (rest - z) * excess, 1.0 - k * excess) / rate
    moved = modified_slope(z, k) / scale * tangents[0] + by_scale * tangents[1] + by_rate * tangents[2]
    return log_modified_density(distance, scale, rate), moved


@jax.custom_jvp
def log_modified_upper(distance: jax.Array, scale: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log probability above a distance from the mean of the normal variable, as a sum."""
    z = distance / scale
    return jnp.logaddexp(log_ndtr(-z), _log_share(z, rate * scale))


@log_modified_upper.defjvp
def _log_upper_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    found = log_modified_upper(*primals)
    return found, -_tail_slope(found, primals, tangents)


@jax.custom_jvp
def log_modified_lower(distance: jax.Array, scale: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log probability below a distance from the mean of the normal variable."""
    z, k = distance / scale, rate * scale
    is_slow, is_lower = k < 1, z < 0
    t = jnp.where(is_lower, -z, 0.0)
    gap = erfcx(_ROOT_HALF * t) - erfcx(_ROOT_HALF * (t + k))
    lower = jnp.log(0.5 * jnp.where(is_slow, 1.0, gap)) - 0.5 * t * t
    upper = log_modified_upper(jnp.where(is_lower, 0.0, z), jnp.ones_like(z), jnp.where(is_slow, 1.0, k))
    fast = jnp.where(is_lower, lower, jnp.log(-jnp.expm1(upper)))
    return jnp.where(is_slow, _by_rule(z, jnp.where(is_slow, k, 0.5)), fast)


@log_modified_lower.defjvp
def _log_lower_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    found = log_modified_lower(*primals)
    return found, _tail_slope(found, primals, tangents)


def _tail_slope(found: jax.Array, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> jax.Array:
    """Return the change of the probability below, relative to a tail of the logarithm `found`."""
    distance, scale, rate = primals
    z, k = distance / scale, rate * scale
    excess, _ = _mean_excess(z - k)
    moved = rate * (tangents[0] + modified_slope(z, k) * tangents[1]) + scale * excess * tangents[2]
    return jnp.exp(_log_share(z, k) - found) * moved


def _log_share(z: jax.Array, k: jax.Array) -> jax.Array:
    """Compute k^2 / 2 - k z + log Phi(z - k), the log density over the rate, without cancellation."""
    is_below = z < k
    scaled = erfcx(_ROOT_HALF * jnp.where(is_below, k - z, 0.0))
    below = jnp.log(0.5 * scaled) - 0.5 * jnp.where(is_below, z, 0.0) ** 2
    return jnp.where(is_below, below, k * (0.5 * k - z) + log_ndtr(jnp.where(is_below, 0.0, z - k)))


def modified_slope(z: jax.Array, k: jax.Array) -> jax.Array:
    """Compute the derivative of the log density by z."""
    u = z - k
    return jnp.where(u < 0, _mean_excess(u)[0] - z, _inverse_mills(u) - k)


def _mean_excess(u: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return u + phi(u) / Phi(u), the mean of u - v for a standard normal v below u, and its inverse plus u.

    **Source**: DLMF 7.9.1, the continued fraction of the complementary error function.
    """
    is_far = u < -_FRACTION_FROM
    t = jnp.where(is_far, -u, _FRACTION_FROM)
    fraction = t
    for k in range(_LEVELS, 2, -1):
        fraction = t + k / fraction
    near = jnp.where(is_far, 0.0, u)
    close = near + _inverse_mills(near)
    return jnp.where(is_far, 1.0 / (t + 2.0 / fraction), close), jnp.where(
        is_far, 2.0 / fraction, near + 1.0 / close
    )


def _inverse_mills(u: jax.Array) -> jax.Array:
    """Compute phi(u) / Phi(u)."""
    near = jnp.minimum(u, 40.0)
    return jnp.where(u < 40.0, jnp.exp(-0.5 * near * near - HALF_LOG_TWO_PI - log_ndtr(near)), 0.0)


def _by_rule(z: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log integral of phi(s - z) (1 - exp(-rate s)) over s > 0, for a rate small against 1."""
    fall = FALL[bits_of(z)]
    reach, is_lower = math.sqrt(2 * fall), z < 0
    # Above 0 from `reach` below the peak to `reach` above it; below 0 from the end to where the integrand has fallen.
    first = jnp.where(is_lower, 0.0, jnp.maximum(-z, -reach))
    size = jnp.where(is_lower, -z, 0.0)
    width = jnp.where(is_lower, 2.0 * fall / (size + jnp.sqrt(size * size + 2.0 * fall)), reach - first)
    nodes, weights = rule_on_unit(z)
    step = first[..., None] + width[..., None] * nodes
    s = jnp.where(is_lower, 0.0, z)[..., None] + step
    height = jnp.exp(-step * (0.5 * step + size[..., None])) * -jnp.expm1(-rate[..., None] * s)
    return jnp.log(width * (weights * height).sum(-1)) - 0.5 * size * size - HALF_LOG_TWO_PI
