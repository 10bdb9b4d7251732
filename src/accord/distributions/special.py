"""Compute special functions where the textbook formula cancels, overflows or has a wrong derivative at a branch.

Differences of log-gamma functions are computed from what remains after their leading growth is removed, which is small
when the arguments are large. Functions of a Python float are computed on the host, in double precision, so that a
constant hyperparameter costs the compiled program nothing.

**Source** of the series: Abramowitz & Stegun (1964), 6.1.40-6.1.41 (Stirling), 6.1.47 (ratio of gamma functions).
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ..bijectors.arrays import log
from ..bijectors.elementwise import softplus

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)

__all__ = [
    "HALF_LOG_TWO_PI",
    "erfcx",
    "log",
    "log1p_square",
    "log_beta",
    "log_factorial_remainder",
    "log_gamma_remainder",
    "log_gamma_step",
    "log_sum_exp",
    "softplus",
    "xlog",
]

# Coefficients of 1/a, 1/a^3, ... in log Gamma(a) - (a - 1/2) log a + a - log(2 pi)/2; exact to 3e-17 from a = 10.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_STIRLING_FROM = 10.0
# Coefficients of 1/x, 1/x^3, ... in log Gamma(x + 1/2) - log Gamma(x) - log(x)/2; exact to 1e-17 from x = 10.
_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984)
_STEP_FROM = 10.0

# Chebyshev coefficients of (1 + 2 x) erfcx(x) in t = (x - 3.75) / (x + 3.75); the 13 first suffice in float32.
_ERFCX_CENTRE = 3.75
_ERFCX = (
    1.1775789345674017541,
    -0.0045900545806464773309,
    -0.084249133366517915584,
    0.059209939998191890498,
    -0.026658668435305752277,
    0.0090749976707052650939,
    -0.0024131635404176081909,
    0.00049077583652580863229,
    -0.000069169733025012063671,
    4.1390279860730101675e-6,
    7.7403830661984906686e-7,
    -2.1886401049234395661e-7,
    1.0764999465670910377e-8,
    4.5219598112182868979e-9,
    -7.7544002088313511065e-10,
    -6.3180883408866844944e-11,
    2.8687950109306698981e-11,
    1.945586854577734723e-13,
    -9.6546967484334389059e-13,
    3.2525481481487398415e-14,
    3.3478119482868053878e-14,
    -1.8645628804193131015e-15,
    -1.2507950530688647085e-15,
    7.418235256624043463e-17,
    5.0681489047961113168e-17,
)


def log_gamma_remainder(a: Any) -> Any:
    """Compute log Gamma(a) - a log(a) + a, for a > 0: about -log(a)/2 + 0.919 when `a` is large."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        if a >= _STIRLING_FROM:
            return HALF_LOG_TWO_PI - 0.5 * math.log(a) + _odd_series(1 / a, _STIRLING)
        return math.lgamma(a) - a * math.log(a) + a
    is_large = a >= _STIRLING_FROM
    large, small = jnp.where(is_large, a, _STIRLING_FROM), jnp.where(is_large, 1.0, a)
    log_a = jnp.log(a)
    from_series = HALF_LOG_TWO_PI - 0.5 * log_a + _odd_series(1 / large, _STIRLING)
    return jnp.where(is_large, from_series, jsp.gammaln(small) - small * log_a + small)


def log_factorial_remainder(k: Any) -> Any:
    """Compute log(k!) - k log(k) + k, for k >= 0, and 0 at 0: about log(k)/2 + 0.919 when `k` is large."""
    is_large = k >= _STIRLING_FROM
    large, small = jnp.where(is_large, k, _STIRLING_FROM), jnp.where(is_large, 1.0, k)
    log_k = jnp.log(jnp.where(k > 0, k, 1.0))
    from_series = HALF_LOG_TWO_PI + 0.5 * log_k + _odd_series(1 / large, _STIRLING)
    return jnp.where(is_large, from_series, jsp.gammaln(small + 1.0) - small * log_k + small)


def log_gamma_step(x: Any) -> Any:
    """Compute log Gamma(x + 1/2) - log Gamma(x) - log(x)/2, for x > 0: about -1/(8 x) when `x` is large."""
    if isinstance(x, float) and not isinstance(x, np.generic):
        if x >= _STEP_FROM:
            return _odd_series(1 / x, _STEP)
        return math.lgamma(x + 0.5) - math.lgamma(x) - 0.5 * math.log(x)
    is_large = x >= _STEP_FROM
    large, small = jnp.where(is_large, x, _STEP_FROM), jnp.where(is_large, 1.0, x)
    direct = jsp.gammaln(small + 0.5) - jsp.gammaln(small) - 0.5 * jnp.log(small)
    return jnp.where(is_large, _odd_series(1 / large, _STEP), direct)


def log_beta(a: Any, b: Any) -> Any:
    """Logarithm of the beta function, for a, b > 0, without the cancellation of three large log-gammas."""
    remainders = log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(a + b)
    return remainders - a * _log1p(b / a) - b * _log1p(a / b)


def log1p_square(z: jax.Array) -> jax.Array:
    """Compute log(1 + z^2), also where z^2 overflows."""
    size = jnp.abs(z)
    is_large = size > 1 / jnp.finfo(z.dtype).eps
    small = jnp.where(is_large, 0.0, z)
    return jnp.where(is_large, 2.0 * jnp.log(jnp.where(is_large, size, 1.0)), jnp.log1p(small * small))


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


@jax.custom_jvp
def erfcx(x: jax.Array) -> jax.Array:
    """Compute exp(x^2) erfc(x), for x >= 0, to a few units of rounding: it neither overflows nor underflows.

    **Source**: the substitution of Shepherd & Laframboise (1981), Math. Comp. 36, 249-253; the Chebyshev coefficients
    were computed anew with 40 digits.
    """
    t = (x - _ERFCX_CENTRE) / (x + _ERFCX_CENTRE)
    coefficients = _ERFCX if jnp.finfo(x.dtype).bits > 32 else _ERFCX[:13]
    later, latest = 0.0, 0.0
    for coefficient in coefficients[:0:-1]:
        later, latest = latest, coefficient + 2.0 * t * latest - later
    return (coefficients[0] + t * latest - later) / (1.0 + 2.0 * x)


@erfcx.defjvp
def _erfcx_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    result = erfcx(x)
    return result, (2.0 * x * result - 2.0 / math.sqrt(math.pi)) * x_dot


def _odd_series(r: Any, coefficients: tuple[float, ...]) -> Any:
    """c0 r + c1 r^3 + c2 r^5 + ... by Horner's rule."""
    total, square = coefficients[-1], r * r
    for coefficient in coefficients[-2::-1]:
        total = coefficient + square * total
    return r * total


def _log1p(x: Any) -> Any:
    """log(1 + x), on the host for a Python float."""
    return math.log1p(x) if isinstance(x, float) and not isinstance(x, np.generic) else jnp.log1p(x)
