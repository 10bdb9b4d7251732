"""Compute log-gamma functions without the large terms that cancel in densities.

Differences of log-gamma functions are computed from what remains after their leading growth is removed, which is small
when the arguments are large. Functions of a Python float are computed on the host, in double precision, so that a
constant hyperparameter costs the compiled program nothing.

**Source** of the series: Abramowitz & Stegun (1964), 6.1.40-6.1.41 (Stirling), 6.1.47 (ratio of gamma functions).
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from .elementary import HALF_LOG_TWO_PI

# Coefficients of 1/a, 1/a^3, ... in log Gamma(a) - (a - 1/2) log a + a - log(2 pi)/2; exact to 3e-17 from a = 10.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
STIRLING_FROM = 10.0
# Coefficients of 1/x, 1/x^3, ... in log Gamma(x + 1/2) - log Gamma(x) - log(x)/2; exact to 1e-17 from x = 10.
_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984)
_STEP_FROM = 10.0


def log_gamma_remainder(a: Any) -> Any:
    """Compute log Gamma(a) - a log(a) + a, for a > 0: about -log(a)/2 + 0.919 when `a` is large."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        if a >= STIRLING_FROM:
            return HALF_LOG_TWO_PI - 0.5 * math.log(a) + odd_series(1 / a, STIRLING)
        return math.lgamma(a) - a * math.log(a) + a
    is_large = a >= STIRLING_FROM
    large, small = jnp.where(is_large, a, STIRLING_FROM), jnp.where(is_large, 1.0, a)
    log_a = jnp.log(a)
    from_series = HALF_LOG_TWO_PI - 0.5 * log_a + odd_series(1 / large, STIRLING)
    return jnp.where(is_large, from_series, jsp.gammaln(small) - small * log_a + small)


def log_factorial_remainder(k: Any) -> Any:
    """Compute log(k!) - k log(k) + k, for k >= 0, and exactly 0 at 0: about log(k)/2 + 0.919 when `k` is large."""
    # A log-gamma function is off by rounding at 0.
    is_large, is_zero = k >= STIRLING_FROM, k == 0
    large, small = jnp.where(is_large, k, STIRLING_FROM), jnp.where(is_large | is_zero, 1.0, k)
    log_k = jnp.log(jnp.where(k > 0, k, 1.0))
    from_series = HALF_LOG_TWO_PI + 0.5 * log_k + odd_series(1 / large, STIRLING)
    direct = jsp.gammaln(small + 1.0) - small * log_k + small
    return jnp.where(is_large, from_series, jnp.where(is_zero, 0.0, direct))


def log_gamma_step(x: Any) -> Any:
    """Compute log Gamma(x + 1/2) - log Gamma(x) - log(x)/2, for x > 0: about -1/(8 x) when `x` is large."""
    if isinstance(x, float) and not isinstance(x, np.generic):
        if x >= _STEP_FROM:
            return odd_series(1 / x, _STEP)
        return math.lgamma(x + 0.5) - math.lgamma(x) - 0.5 * math.log(x)
    is_large = x >= _STEP_FROM
    large, small = jnp.where(is_large, x, _STEP_FROM), jnp.where(is_large, 1.0, x)
    direct = jsp.gammaln(small + 0.5) - jsp.gammaln(small) - 0.5 * jnp.log(small)
    return jnp.where(is_large, odd_series(1 / large, _STEP), direct)


def log_beta(a: Any, b: Any) -> Any:
    """Compute the log beta function, for a, b > 0, without the cancellation of three large log-gammas."""
    remainders = log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(a + b)
    return remainders - a * _log1p(b / a) - b * _log1p(a / b)


def odd_series(r: Any, coefficients: tuple[float, ...]) -> Any:
    """Compute c0 r + c1 r^3 + c2 r^5 + ... by Horner's rule."""
    total, square = coefficients[-1], r * r
    for coefficient in coefficients[-2::-1]:
        total = coefficient + square * total
    return r * total


def _log1p(x: Any) -> Any:
    """Compute log(1 + x), on the host for a Python float."""
    return math.log1p(x) if isinstance(x, float) and not isinstance(x, np.generic) else jnp.log1p(x)
