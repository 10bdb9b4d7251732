"""Compute the lighter tail of the skew-normal distribution, where Owen's T function would cancel."""

import math
from typing import Any

import jax
import jax.numpy as jnp

from ...special.basic.elementary import HALF_LOG_TWO_PI
from ...special.basic.error_function import erfcx
from ...special.basic.quadrature import FALL, bits_of, rule_on_unit

_ROOT_HALF = math.sqrt(0.5)


@jax.custom_jvp
def log_skew_tail(z: jax.Array, skewness: jax.Array) -> jax.Array:
    """Compute the log of the integral of 2 phi(u) Phi(-skewness u) over u > z, for z, skewness >= 0.

    Owen's T(z, skewness) is half of what this is below Phi(-z). Relative to its value at z the integrand is the
    exponential of -(1 + skewness^2) (z s + s^2 / 2), s = u - z, times a slowly varying function, so that one
    Gauss-Legendre rule serves all arguments.

    **Source**: Azzalini (1985), Scandinavian Journal of Statistics 12, 171-178, for the distribution and its tail.
    """
    sharpness = 1.0 + skewness * skewness
    return jnp.log(_relative_mass(z, skewness)) - (0.5 * sharpness * z * z + HALF_LOG_TWO_PI)


@log_skew_tail.defjvp
def _log_skew_tail_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    z, skewness = primals
    sharpness = 1.0 + skewness * skewness
    # Both are ratios to the tail, so its exponential, which may underflow, cancels.
    mass = _relative_mass(z, skewness)
    by_z = -erfcx(_ROOT_HALF * skewness * z) / mass
    by_skewness = -math.sqrt(2 / math.pi) / (sharpness * mass)
    return log_skew_tail(z, skewness), by_z * tangents[0] + by_skewness * tangents[1]


def _relative_mass(z: jax.Array, skewness: jax.Array) -> jax.Array:
    """Compute the tail over exp(-(1 + skewness^2) z^2 / 2) / sqrt(2 pi)."""
    sharpness = 1.0 + skewness * skewness
    fall = FALL[bits_of(z)] / sharpness
    # Up to where z s + s^2 / 2 has risen to that.
    length = jax.lax.stop_gradient(2.0 * fall / (z + jnp.hypot(z, jnp.sqrt(2.0 * fall))))
    nodes, weights = rule_on_unit(z)
    s = length[..., None] * nodes
    exponent = -sharpness[..., None] * s * (z[..., None] + 0.5 * s)
    rest = erfcx(_ROOT_HALF * skewness[..., None] * (z[..., None] + s))
    return length * (weights * jnp.exp(exponent) * rest).sum(-1)
