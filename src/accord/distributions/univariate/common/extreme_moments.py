"""Compute moments of extreme values, accurately through shape 0, where the formulas divide zero by zero.

With g_k = Gamma(1 - k s) they are (g_1 - 1)/s and (g_2 - g_1^2)/s^2. Near 0 the logarithms of g_k are power series with
the zeta function in their coefficients (Abramowitz & Stegun 1964, 6.1.33).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ...special.basic.smooth import expm1_ratio

_NEAR = 0.25


def extreme_mean(shape: Any) -> jax.Array:
    """Return the mean of the standard generalised extreme value distribution; inf from shape 1 on."""
    exists = shape < 1
    safe = jnp.where(exists, shape, 0.0)
    first, _ = _log_gammas(safe)
    return jnp.where(exists, first * expm1_ratio(safe * first), jnp.inf)


def extreme_variance(shape: Any) -> jax.Array:
    """Return the variance of the standard generalised extreme value distribution; inf from shape 1/2 on."""
    exists = shape < 0.5
    safe = jnp.where(exists, shape, 0.0)
    first, second = _log_gammas(safe)
    found = jnp.exp(2 * safe * first) * second * expm1_ratio(safe * safe * second)
    return jnp.where(exists, found, jnp.inf)


def _log_gammas(s: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return log(g_1) / s, and (log(g_2) - 2 log(g_1)) / s^2 for s < 1/2."""
    is_near = jnp.abs(s) < _NEAR
    near, far = jnp.where(is_near, s, 0.0), jnp.where(is_near, -1.0, s)
    first, second = jnp.zeros_like(near), jnp.zeros_like(near)
    # The second series converges half as far as the first, and has 2^k - 2 in its coefficients.
    for k in range(31, 1, -1):
        first = _ZETA[k] / k + near * first
    for k in range(61, 1, -1):
        second = _ZETA[k] * (2.0**k - 2) / k + near * second
    log_g1, log_g2 = jsp.gammaln(1 - far), jsp.gammaln(1 - 2 * jnp.where(far < 0.5, far, -1.0))
    return (
        jnp.where(is_near, float(np.euler_gamma) + near * first, log_g1 / far),
        jnp.where(is_near, second, (log_g2 - 2 * log_g1) / far**2),
    )


def _zeta(s: int) -> float:
    """Compute Riemann's zeta function of a whole number above 1, by the Euler-Maclaurin formula."""
    n = 20.0
    corrections = 0.5 + s / (12 * n) - s * (s + 1) * (s + 2) / (720 * n**3)
    corrections += s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * n**5)
    return sum(k**-s for k in np.arange(1.0, n).tolist()) + n ** (1.0 - s) / (s - 1) + n**-s * corrections


_ZETA = {k: _zeta(k) for k in range(2, 62)}
