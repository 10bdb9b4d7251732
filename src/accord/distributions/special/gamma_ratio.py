"""Compute log-gamma functions and their differences with relative accuracy where they vanish.

**Source**: Abramowitz & Stegun (1964), 6.1.15 (recurrence) and 6.1.41 (Stirling); the polynomial was fitted anew with
50 digits.
"""

import jax
import jax.numpy as jnp

from .log_gamma import log_gamma_remainder

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
# Coefficients of z^2, z^4, ... in atanh(z)/z - 1, which is exact to rounding up to z = 1/4.
_ATANH = tuple(1 / k for k in range(3, 27, 2))
# Of 1/z, 1/z^3, ...: Stirling's series.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_FROM = 10


def curved_log(beyond: jax.Array, whole: jax.Array, log_ratio: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log(1 + z), z = beyond / whole, less z where that is small, and whether it was.

    Near 0 there is no cancellation; away from there log(1 + z) is what was given as `log_ratio`.
    """
    is_near = jnp.abs(beyond) < 0.4 * whole
    near = jnp.where(is_near, beyond, 0.0) / whole
    r = near / (2.0 + near)
    square = r * r
    total = jnp.full_like(r, _ATANH[-1])
    for coefficient in _ATANH[-2::-1]:
        total = coefficient + square * total
    return jnp.where(is_near, r * (2.0 * square * total - near), log_ratio), is_near


def log_gamma_1p(a: jax.Array) -> jax.Array:
    """Compute log Gamma(1 + a), for 0 < a <= 3/2, to its last relative digits as `a` goes to 0."""
    shifted = a - 0.75
    total = jnp.full_like(a, _NEAR_ONE[-1])
    for coefficient in _NEAR_ONE[-2::-1]:
        total = coefficient + shifted * total
    return a * total


def log_gamma_ratio(b: jax.Array, a: jax.Array) -> jax.Array:
    """Compute log(Gamma(b + a) / Gamma(b)), for b > 0, 0 < a <= 3/2, to its last relative digits as `a` goes to 0."""
    is_low = b < _FROM
    # Gamma(b + a) / Gamma(b) from the same at b + 10: the product of 1 + a/(b + k), less 1, is a sum of positive terms.
    low = jnp.where(is_low, b, 1.0)
    excess = jnp.zeros_like(low)
    for k in range(_FROM):
        excess = excess + (1.0 + excess) * (a / (low + k))
    from_b = jnp.where(is_low, b + _FROM, b)
    z = a / from_b
    log_1p = jnp.log1p(z)
    growth = from_b * curved_log(a, from_b, log_1p)[0] + (a - 0.5) * log_1p + a * jnp.log(from_b)
    steps = _stirling_step(from_b, a)
    return growth + steps - jnp.where(is_low, jnp.log1p(excess), 0.0)


def _stirling_step(b: jax.Array, a: jax.Array) -> jax.Array:
    """The difference of Stirling's series at b + a and at b."""
    first, second = 1.0 / (b + a), 1.0 / b
    leading = -a * first * second
    # Each power's difference is the leading one's times a sum: r^n - s^n = (r - s) (r^(n-1) + ... + s^(n-1)).
    factor, power_first, total = jnp.ones_like(b), first, jnp.full_like(b, _STIRLING[0])
    for coefficient in _STIRLING[1:]:
        for _ in range(2):
            factor = factor * second + power_first
            power_first = power_first * first
        total = total + coefficient * factor
    return leading * total


def digamma_less_log(a: jax.Array) -> jax.Array:
    """Compute digamma(a) - log(a), for a > 0: about -1/(2 a) when `a` is large."""
    return jax.jvp(log_gamma_remainder, (a,), (jnp.ones_like(a),))[1]
