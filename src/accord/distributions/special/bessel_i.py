"""Compute logarithms of modified Bessel functions of the first kind, for orders and arguments of any size.

exp(-x) I_v(x) is twice the density of noncentral chi-squared variables at x, with 2 v + 2 degrees of freedom and
noncentrality x. Below x = 1 a short series is exact.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from .elementary import xlog
from .gamma_ratio import log_gamma_1p
from .noncentral_gamma import log_noncentral_density
from .quadrature import together

# The series in powers of (x / 2)^2 is used up to x = 1.
_TERMS = 11


def log_bessel_i(order: Any, x: Any) -> jax.Array:
    """Compute log I_order(x), for order >= -1/2 and x >= 0, with full relative accuracy as `x` goes to 0 at order 0.

    **Source**: DLMF 10.25.2 (the series); Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2,
    equation 29.4.
    """
    order, x = together(order, x)
    is_small = x < 1
    small, large = jnp.where(is_small, x, 0.5), jnp.where(is_small, 2.0, x)
    scaled = log_noncentral_density(large, large, order + 1) + math.log(2)
    return jnp.where(is_small, _by_series(order, small), scaled + large)


def _by_series(order: jax.Array, x: jax.Array) -> jax.Array:
    """Compute the logarithm by the series in (x / 2)^2."""
    square, total = 0.25 * x * x, jnp.zeros_like(x)
    for k in range(_TERMS, 0, -1):
        total = square / (k * (order + k)) * (1 + total)
    # The gamma function is 1 at order 0.
    is_low = (order >= 0) & (order <= 1.5)
    low = log_gamma_1p(jnp.where(is_low, order, 1.0))
    log_gamma = jnp.where(is_low, low, jsp.gammaln(jnp.where(is_low, 2.0, order) + 1))
    return xlog(order, 0.5 * x) - log_gamma + jnp.log1p(total)
