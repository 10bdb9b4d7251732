"""Average over an estimated scale (a chi variable over the root of its df), with derivatives.

With x = s^2 a mean of M(s) is an integral of exp(df (log x - x + 1) / 2 - R) M over log(s), R a small constant. By df
the exponent changes by what nearly cancels when df is large. Integrated by parts, with k(x) = 1 - log(x) / (x - 1),

    d log(mean) / d df = -(E[k x (log M)'] + E[x k' - 1/2] - e) / df,

where E is the mean weighted by M and e what E[x k' - 1/2] is without M: the terms are now small where their sum is.
"""

import math

import jax
import jax.numpy as jnp

from ..basic.digamma import digamma_less_log
from ..basic.excess import log1p_excess
from ..basic.log_gamma import log_gamma_remainder

_NEAR = 0.1
_SERIES = tuple((-1) ** (m + 1) / (m + 2) for m in range(1, 14))
# Coefficients of 1/a, 1/a^3, ... in log(a) a - digamma(a) a - 1/2.
_STIRLING = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
_STIRLING_FROM = 10.0


def chi_excess(log_s: jax.Array, less: jax.Array) -> jax.Array:
    """Compute log(s^2) - s^2 + 1, from log(s) and s - 1."""
    is_low, w = less < -0.3, less * (2.0 + less)
    return jnp.where(is_low, 2.0 * log_s - w, log1p_excess(jnp.where(is_low, 0.0, w)))


def log_chi_constant(df: jax.Array) -> jax.Array:
    """Compute the log normalising constant of the integral of exp(df (log x - x + 1) / 2) over log(s)."""
    return log_gamma_remainder(0.5 * df) - math.log(2)


def slope_by_df(
    df: jax.Array, share: jax.Array, log_s: jax.Array, less: jax.Array, pull: jax.Array
) -> jax.Array:
    """Compute the derivative of the log of a mean of M(s) by `df`.

    **Arguments**: along the last axis of the others the points of a rule: their shares of the mean, which add up to 1,
    log(s), s - 1, and the derivative of log M by log(s).
    """
    w = less * (2.0 + less)
    is_near = jnp.abs(w) < _NEAR
    near, far = jnp.where(is_near, w, 0.0), jnp.where(is_near, 1.0, w)
    rest = jnp.full_like(near, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        rest = coefficient + near * rest
    rest = near * rest
    excess = chi_excess(log_s, less)
    k = jnp.where(is_near, near * (0.5 - rest), -excess / far)
    # For small s, x is as accurate as exp.
    x = jnp.exp(2.0 * log_s)
    tilt = jnp.where(is_near, (1.0 + near) * rest - 0.5 * near, 0.5 + (excess / far) * (x / far))
    return -((share * (0.5 * k * pull + tilt)).sum(-1) - _without(0.5 * df)) / df


def _without(a: jax.Array) -> jax.Array:
    """Compute a (log(a) - digamma(a)) - 1/2."""
    is_large = a >= _STIRLING_FROM
    r = 1.0 / jnp.where(is_large, a, _STIRLING_FROM)
    total = jnp.full_like(r, _STIRLING[-1])
    for coefficient in _STIRLING[-2::-1]:
        total = coefficient + r * r * total
    small = jnp.where(is_large, 1.0, a)
    return jnp.where(is_large, r * total, -small * digamma_less_log(small) - 0.5)
