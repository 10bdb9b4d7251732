"""Compute logarithms of modified Bessel functions of the second kind, for orders and arguments of any size.

With p = x (cosh t - 1) the integral of exp(-x cosh t) cosh(v t) over t > 0 is, by parts,

    exp(x) K_v(x) = integral of exp(-p) sinh(v t) / v over p > 0,    t = 2 asinh(sqrt(p / (2 x))),

for which the same nodes p serve every argument, and orders v up to 8. The integrand of larger orders is a bell around
sinh t = v / x, of which the trapezoidal rule with a few points is exact to rounding.

**Source**: DLMF 10.32.9 (the integral); Takahasi & Mori (1974), Publ. RIMS 9, 721-741 (nodes that go to both ends
doubly exponentially); Trefethen & Weideman (2014), SIAM Review 56(3), 385-458 (the rule).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..basic.quadrature import exp_rest, together
from ..basic.smooth import expm1_ratio
from .bessel_k01 import along_axis

_LARGE_FROM = 8.0  # orders from which the bell is narrow enough
_COUNT = 64  # points on the bell
_FALL = 40.0  # how far the logarithm of an integrand is followed down
# Nodes exp(s - exp(-s)) and weights of the integral over p.
_STEP = 0.1
_S = _STEP * np.arange(-39, 43)
_LOG_P = _S - np.exp(-_S)
_P = np.exp(_LOG_P)
_WEIGHTS = _STEP * (1 + np.exp(-_S)) * _P * np.exp(-_P)


def log_bessel_k(order: Any, x: Any) -> jax.Array:
    """Compute log K_order(x), for order >= 0 and x > 0."""
    order, x = together(order, x)
    return log_bessel_ke(order, x) - x


def log_bessel_ke(order: Any, x: Any) -> jax.Array:
    """Compute log(exp(x) K_order(x)), for order >= 0 and x > 0: without the large term where `x` is large."""
    order, x = together(order, x)
    is_large = order > _LARGE_FROM
    small, large = jnp.where(is_large, 1.0, order), jnp.where(is_large, order, _LARGE_FROM)
    return jnp.where(is_large, _by_bell(large, x), _by_parts(small, x))


def _by_parts(v: jax.Array, x: jax.Array) -> jax.Array:
    """Compute the logarithm for an order that is not large."""
    p, weights = (along_axis(values, x) for values in (_P, _WEIGHTS))
    root = jnp.exp(-0.5 * jnp.log(2 * x))
    t = 2 * jnp.arcsinh(root[..., None] * jnp.sqrt(p))
    # Powers exp(v t) are taken relative to the one where p is 1.
    middle = 2 * jnp.arcsinh(root)
    power = jnp.exp(v[..., None] * (t - middle[..., None]))
    total = (weights * t * power * expm1_ratio(-2 * v[..., None] * t)).sum(-1)
    return v * middle + jnp.log(total)


def _by_bell(v: jax.Array, x: jax.Array) -> jax.Array:
    """Compute the logarithm for a large order."""
    w = jnp.hypot(v, x)
    rest = x * (x / (w + v))  # w - v
    u, step = _around(*jax.lax.stop_gradient((v, w, rest)))
    is_near = jnp.abs(u) < 0.5
    excess = jnp.where(is_near, exp_rest(jnp.where(is_near, u, 0.0)), jnp.expm1(u) - u)
    exponent = -2 * rest[..., None] * jnp.sinh(0.5 * u) ** 2 - v[..., None] * excess
    height = v * _middle(v, x) - v * (v / (w + x))
    return height + jnp.log(0.5 * step * jnp.exp(exponent).sum(-1))


@jax.custom_jvp
def _middle(v: jax.Array, x: jax.Array) -> jax.Array:
    """Return the centre of the bell: asinh(v / x)."""
    return jnp.arcsinh(v / x)


@_middle.defjvp
def _middle_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, jax.Array]:
    (v, x), (v_dot, x_dot) = primals, tangents
    return _middle(v, x), (v_dot - (v / x) * x_dot) / jnp.hypot(v, x)


def _around(v: jax.Array, w: jax.Array, rest: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return distances from the middle of the bell along one more axis, and their step; constants to derivatives."""
    right = _reach(w)
    # To the left it falls at least as rest * (cosh u - 1), and as v u^2 / (2 + |u|).
    share = _FALL / v
    left = jnp.minimum(_reach(rest), 0.5 * (share + jnp.sqrt(share * (share + 8))))
    step = (left + right) / _COUNT
    return step[..., None] * along_axis(np.arange(_COUNT) + 0.5, v) - left[..., None], step


def _reach(w: jax.Array) -> jax.Array:
    """Return the u at which w * (cosh u - 1) equals the required fall."""
    return 2 * jnp.arcsinh(jnp.sqrt(0.5 * _FALL / w))
