"""Compute logarithms and ratios of modified Bessel functions of the first kind, for orders and arguments of any size.

exp(-x) I_v(x) is twice the density of noncentral chi-squared variables at x, with 2 v + 2 degrees of freedom and
noncentrality x. Below x = 1 a short series is exact.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..basic.elementary import xlog
from ..basic.gamma_ratio import log_gamma_1p
from ..basic.quadrature import together
from ..gamma_beta.noncentral_gamma import log_noncentral_density

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


def _gap_coefficients(count: int) -> tuple[float, ...]:
    """Return coefficients of 1/x, 1/x^2, ... in 1 - I1(x)/I0(x), from r' = 1 - r/x - r^2 for the ratio r."""
    found = [0.5]
    for k in range(1, count):
        found.append(0.5 * (sum(found[i] * found[k - 1 - i] for i in range(k)) + (k - 1) * found[k - 1]))
    return tuple(found)


_GAP = _gap_coefficients(20)
# From here on they are exact to rounding.
_GAP_FROM = 20.0
# Coefficients of (x/2)^2, (x/2)^4, ... in I0(x) - 1.
_SERIES = tuple(1 / math.factorial(k) ** 2 for k in range(1, 14))


@jax.custom_jvp
def log_bessel_i0(x: jax.Array) -> jax.Array:
    """Compute log I0(x), for x >= 0, with full relative accuracy as `x` goes to 0.

    **Source**: DLMF 10.25.2 (the series, below 2) and 10.29.3 (its derivative).
    """
    is_small = x < 2
    square = 0.25 * jnp.where(is_small, x, 1.0) ** 2
    total = jnp.full_like(x, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        total = coefficient + square * total
    large = jnp.where(is_small, 2.0, x)
    return jnp.where(is_small, jnp.log1p(square * total), large + jnp.log(jsp.i0e(large)))


@log_bessel_i0.defjvp
def _log_bessel_i0_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return log_bessel_i0(x), bessel_ratio(x) * x_dot


@jax.custom_jvp
def log_bessel_i0e(x: jax.Array) -> jax.Array:
    """Compute log(exp(-x) I0(x)), for x >= 0: about -log(2 pi x)/2 for large x, without the large terms."""
    is_small = x < 2
    return jnp.where(
        is_small,
        log_bessel_i0(jnp.where(is_small, x, 1.0)) - x,
        jnp.log(jsp.i0e(jnp.where(is_small, 2.0, x))),
    )


@log_bessel_i0e.defjvp
def _log_bessel_i0e_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    return log_bessel_i0e(x), -bessel_gap(x) * x_dot


def bessel_ratio(x: jax.Array) -> jax.Array:
    """Compute I1(x) / I0(x), for x >= 0."""
    is_large = x >= _GAP_FROM
    return jnp.where(
        is_large, 1.0 - _gap(jnp.where(is_large, x, _GAP_FROM)), _ratio(jnp.where(is_large, 1.0, x))
    )


def bessel_gap(x: jax.Array) -> jax.Array:
    """Compute 1 - I1(x) / I0(x), for x >= 0, with relative accuracy for large `x`.

    **Source**: DLMF 10.40.1 gives the leading terms; the rest follow from the differential equation of the ratio.
    """
    is_large = x >= _GAP_FROM
    return jnp.where(
        is_large, _gap(jnp.where(is_large, x, _GAP_FROM)), 1.0 - _ratio(jnp.where(is_large, 1.0, x))
    )


@jax.custom_jvp
def _ratio(x: jax.Array) -> jax.Array:
    return jsp.i1e(x) / jsp.i0e(x)


@_ratio.defjvp
def _ratio_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (x_dot,) = primals, tangents
    r = _ratio(x)
    is_tiny = x < 1e-4
    by_x = jnp.where(is_tiny, 0.5 - 0.0625 * x * x, r / jnp.where(is_tiny, 1.0, x))
    return r, (1.0 - by_x - r * r) * x_dot


def _gap(x: jax.Array) -> jax.Array:
    """Compute 1 - I1(x) / I0(x) by its asymptotic series."""
    y = 1.0 / x
    total = jnp.full_like(x, _GAP[-1])
    for coefficient in _GAP[-2::-1]:
        total = coefficient + y * total
    return y * total
