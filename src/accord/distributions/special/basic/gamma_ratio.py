"""Compute log-gamma functions and their differences with relative accuracy where they vanish.

**Source**: Abramowitz & Stegun (1964), 6.1.15 (recurrence) and 6.1.41 (Stirling); the polynomial was fitted anew with
50 digits.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ....bijectors.elementwise import log1p_of_positive
from .digamma import digamma_less_log
from .excess import log1p_excess
from .log_gamma import STIRLING, STIRLING_FROM, STIRLING_SLOPE, log_gamma_remainder

# Coefficients of log Gamma(1 + a) / a in powers of a - 3/4, on [0, 3/2].
_NEAR_ONE = (
    -0.1125348280273140541,
    0.48000970876556697311,
    -0.1306116984248806606,
    0.049283936656077367645,
    -0.021248050435673364331,
    0.0098329189562390695515,
    -0.004750077625254835227,
    0.0023606754153498303013,
    -0.0011967898233638354922,
    0.0006156943606895021569,
    -0.00032032481193730923228,
    0.00016813509870282869725,
    -0.000088856569228129019691,
    0.000047257171772428795118,
    -0.000025398823537670924058,
    0.000013637461681920168579,
    -6.9601466082953749641e-6,
    3.7594303458783897159e-6,
    -2.7615590482678475114e-6,
    1.5062594054826037276e-6,
    3.1173821626751292697e-8,
    -2.0441408054413875753e-8,
    -5.6579187942848362231e-7,
    3.1125695003268552842e-7,
)
_FROM = 10


def log_gamma_1p(a: jax.Array) -> jax.Array:
    """Compute log Gamma(1 + a), for 0 < a <= 3/2, with full relative accuracy as `a` goes to 0."""
    shifted = a - 0.75
    total = jnp.full_like(a, _NEAR_ONE[-1])
    for coefficient in _NEAR_ONE[-2::-1]:
        total = coefficient + shifted * total
    return a * total


def log_gamma_ratio(b: jax.Array, a: jax.Array) -> jax.Array:
    """Compute log(Gamma(b + a) / Gamma(b)), b > 0, 0 < a <= 3/2, with full relative accuracy as `a` goes to 0."""
    is_low = b < _FROM
    # Gamma(b + a) / Gamma(b) from b + 10: the product of 1 + a/(b + k), less 1, is a sum of positive terms.
    low = jnp.where(is_low, b, 1.0)
    excess = jnp.zeros_like(low)
    for k in range(_FROM):
        excess = excess + (1.0 + excess) * (a / (low + k))
    from_b = jnp.where(is_low, b + _FROM, b)
    z = a / from_b
    log_1p = jnp.log1p(z)
    growth = from_b * log1p_excess(z) + (a - 0.5) * log_1p + a * jnp.log(from_b)
    steps = _stirling_step(from_b, a)
    return growth + steps - jnp.where(is_low, jnp.log1p(excess), 0.0)


def log_gamma_rise(a: Any, step: Any) -> Any:
    """Compute log Gamma(a + step) - log Gamma(a) - step log(a): about step (step - 1) / (2 a) when `a` is large."""
    top = a + step
    growth = top * jnp.log1p(step / a) - step
    return log_gamma_remainder(top) - log_gamma_remainder(a) + growth


@jax.custom_jvp
def remainder_rise(a: jax.Array, k: jax.Array) -> jax.Array:
    """Compute G(a + k) - G(a), G(a) = log Gamma(a) - a log(a) + a, for a > 0, k >= 0: -log(1 + k/a)/2 for large `a`."""
    is_large = a >= STIRLING_FROM
    large, small = jnp.where(is_large, a, STIRLING_FROM), jnp.where(is_large, 1.0, a)
    series = -0.5 * log1p_of_positive(k / large) + _stirling_step(large, k)
    direct = jnp.where(k == 0, 0.0, log_gamma_remainder(small + k) - log_gamma_remainder(small))
    return jnp.where(is_large, series, direct)


def _remainder_rise_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, Any]:
    # One array for each slope: where all share `a`, the rules of differentiation would sum a dozen over all k.
    (a, k), (a_dot, k_dot) = primals, tangents
    is_large = a >= STIRLING_FROM
    large, small = jnp.where(is_large, a, STIRLING_FROM), jnp.where(is_large, 1.0, a)
    total = jnp.zeros_like(a + k)
    if not isinstance(a_dot, SymbolicZero):
        # Nothing rises where k is 0, nor does the slope by a tiny `a`, which is large.
        rise = jnp.where(k == 0, 0.0, digamma_less_log(small + k) - digamma_less_log(small))
        total = total + jnp.where(is_large, _digamma_step(large, k), rise) * a_dot
    if not isinstance(k_dot, SymbolicZero):
        is_level = (k == 0) & ~is_large
        total = total + jnp.where(is_level, 0.0, digamma_less_log(a + k)) * k_dot
    return remainder_rise(a, k), total


remainder_rise.defjvp(_remainder_rise_jvp, symbolic_zeros=True)


def _stirling_step(b: jax.Array, step: jax.Array) -> jax.Array:
    """Return the difference of Stirling's series at b + step and b, without a difference of its sums."""
    # Divided differences, by Horner's rule; r, s: inverses of the two arguments.
    r, s = 1.0 / b, 1.0 / (b + step)
    at_s, slope = STIRLING[-1], 0.0
    for coefficient in STIRLING[-2::-1]:
        slope = at_s + r * r * slope
        at_s = coefficient + s * s * at_s
    return -step * r * s * (at_s + r * slope * (s + r))


def _digamma_step(b: jax.Array, step: jax.Array) -> jax.Array:
    """Return the difference of digamma(x) - log(x) at b + step and b, as `_stirling_step` does."""
    r, s = 1.0 / b, 1.0 / (b + step)
    at_s, slope = STIRLING_SLOPE[-1], 0.0
    for coefficient in STIRLING_SLOPE[-2::-1]:
        slope = at_s + r * r * slope
        at_s = coefficient + s * s * at_s
    return step * r * s * (0.5 + (s + r) * (at_s + r * r * slope))
