"""Compute log-gamma functions without the large terms that cancel in densities.

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

from ....bijectors.quick_log import quick_log
from .elementary import HALF_LOG_TWO_PI

# Coefficients of 1/a, 1/a^3, ... in log Gamma(a) - (a - 1/2) log a + a - log(2 pi)/2; exact to 3e-17 from a = 10.
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
STIRLING_FROM = 10.0
# Coefficients of 1/a, 1/a^3, ... in a (log(a) - digamma(a)) - 1/2, from the same series.
STIRLING_SLOPE = tuple((2 * n + 1) * coefficient for n, coefficient in enumerate(STIRLING))
_SHIFT = 10
# Derivative of p (p + 8) (p + 14) (p + 18) (p + 20), highest power first.
_SUM_OF_PAIRS = (5.0, 240.0, 3924.0, 24352.0, 40320.0)
# Coefficients of 1/x, 1/x^3, ... in log Gamma(x + 1/2) - log Gamma(x) - log(x)/2; exact to 1e-17 from x = 10.
_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984)
_STEP_FROM = 10.0


def log_gamma_remainder(a: Any) -> Any:
    """Compute log Gamma(a) - a log(a) + a, for a > 0: about -log(a)/2 + 0.919 when `a` is large."""
    if isinstance(a, float) and not isinstance(a, np.generic):
        if a >= STIRLING_FROM:
            return HALF_LOG_TWO_PI - 0.5 * math.log(a) + odd_series(1 / a, STIRLING)
        return math.lgamma(a) - a * math.log(a) + a
    if jnp.result_type(a) == jnp.float64:
        return remainder_by_shift(jnp.asarray(a))
    is_large = a >= STIRLING_FROM
    large, small = jnp.where(is_large, a, STIRLING_FROM), jnp.where(is_large, 1.0, a)
    log_a = jnp.log(a)
    from_series = HALF_LOG_TWO_PI - 0.5 * log_a + odd_series(1 / large, STIRLING)
    return jnp.where(is_large, from_series, jsp.gammaln(small) - small * log_a + small)


def log_factorial_remainder(k: Any) -> Any:
    """Compute log(k!) - k log(k) + k, for k >= 0, and exactly 0 at 0: about log(k)/2 + 0.919 when `k` is large."""
    # A log-gamma function is off by rounding at 0.
    is_large, is_zero = k >= STIRLING_FROM, k == 0
    if jnp.result_type(k) == jnp.float64:
        low, b = jnp.where(is_large | is_zero, 1.0, k), jnp.where(is_large, k, k + _SHIFT)
        square = jnp.where(is_large, 1.0, b * b)  # 1 where it would overflow, which a slope does not survive
        power = square * square
        root = jnp.sqrt(b)
        # k! is (k + 10)! over (k + 1) ... (k + 10).
        whole = jnp.where(is_large, root, power * power * b * root / _product(low))
        shift = jnp.where(is_large, 0.0, low * _log_shift(low) - _SHIFT)
        return jnp.where(
            is_zero, 0.0, HALF_LOG_TWO_PI + odd_series(1 / b, STIRLING) + quick_log(whole) + shift
        )
    large, small = jnp.where(is_large, k, STIRLING_FROM), jnp.where(is_large | is_zero, 1.0, k)
    log_k = jnp.log(jnp.where(k > 0, k, 1.0))
    from_series = HALF_LOG_TWO_PI + 0.5 * log_k + odd_series(1 / large, STIRLING)
    direct = jsp.gammaln(small + 1.0) - small * log_k + small
    return jnp.where(is_large, from_series, jnp.where(is_zero, 0.0, direct))


@jax.custom_jvp
def remainder_by_shift(a: jax.Array) -> jax.Array:
    """Compute log Gamma(a) - a log(a) + a, for a > 0, to the rounding of numbers of size ten, in float64.

    In a third of the time that XLA's log-gamma function takes, and its slope in a tenth. Small arguments are shifted by
    ten: Gamma(a + 10) is Gamma(a) times a (a + 1) ... (a + 9).
    """
    low, b = _shifted(a)
    square = b * b
    power = square * square
    root = jnp.sqrt(b)
    whole = jnp.where(a < STIRLING_FROM, power * power * root / _product(low), 1.0 / root)
    shift = jnp.where(a < STIRLING_FROM, (low + 1.0) * _log_shift(low) - _SHIFT, 0.0)
    return HALF_LOG_TWO_PI + odd_series(1.0 / b, STIRLING) + quick_log(whole) + shift


@remainder_by_shift.defjvp
def _remainder_by_shift_jvp(
    primals: tuple[jax.Array], tangents: tuple[jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (a,), (a_dot,) = primals, tangents
    low, b = _shifted(a)
    inverse = 1.0 / b
    slope = -inverse * (0.5 + odd_series(inverse, STIRLING_SLOPE))
    # The sum of 1/a, ..., 1/(a + 9), by pairs.
    pairs = low * (low + 9.0)
    by_pairs = _SUM_OF_PAIRS[0]
    for coefficient in _SUM_OF_PAIRS[1:]:
        by_pairs = coefficient + pairs * by_pairs
    shares = (low + (low + 9.0)) * by_pairs / (low * _product(low))
    return remainder_by_shift(a), (
        slope + jnp.where(a < STIRLING_FROM, _log_shift(low) - shares, 0.0)
    ) * a_dot


def _shifted(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return a small argument, 1 in place of others, and the argument from which Stirling's series is taken."""
    is_low = a < STIRLING_FROM
    return jnp.where(is_low, a, 1.0), jnp.where(is_low, a + _SHIFT, a)


def _product(a: jax.Array) -> jax.Array:
    """Compute (a + 1) ... (a + 9)."""
    # (a + i) (a + 9 - i) is a (a + 9) + i (9 - i); all but the factor a.
    pairs = a * (a + 9.0)
    return (a + 9.0) * (pairs + 8.0) * (pairs + 14.0) * (pairs + 18.0) * (pairs + 20.0)


@jax.custom_jvp
def _log_shift(a: jax.Array) -> jax.Array:
    """Compute log((a + 10) / a)."""
    return quick_log(0.0625 * (a + _SHIFT) / a) + math.log(16)  # a sixteenth, since the ratio may overflow


@_log_shift.defjvp
def _log_shift_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (a,), (a_dot,) = primals, tangents
    return _log_shift(a), (1.0 / (a + _SHIFT) - 1.0 / a) * a_dot


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
