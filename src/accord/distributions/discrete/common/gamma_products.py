"""Compute the probability that the product of two gamma variables is below that of two others.

The logarithm of a gamma variable of shape z has the moment generating function Gamma(z + s) / Gamma(z). That
probability is an integral of four such ratios over s, along a path in the complex plane. On one through the saddle
point nothing cancels, so that the smallest probabilities keep their digits; it is bent to the side on which the
integrand falls, since that turns fast where the two products are far apart.

**Source**: the inversion integral of a moment generating function, Daniels (1987), International Statistical Review 55,
37-48, section 2; it is summed by the trapezoidal rule after a hyperbolic sine, Trefethen & Weideman (2014), SIAM Review
56, 385-458, sections 14 and 15.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

from ...special.basic.log_gamma import STIRLING
from ...special.basic.quadrature import bits_of
from ...special.basic.quantile import solve_increasing

# Number of points, by the bits of the precision.
_POINTS = {32: 48, 64: 112}
# Stirling's series is used this far above the arguments.
_SHIFT = 10


def log_products_in_order(small: tuple[jax.Array, ...], large: tuple[jax.Array, ...]) -> jax.Array:
    """Compute log P(the product of gamma variables of two shapes `small` < that of two shapes `large`).

    It keeps relative accuracy where it is at most about 2/3: exchange them beyond, as their mean logarithms tell.

    **Arguments**: shapes > 0, four arrays of one shape and dtype.
    """
    down, up = jnp.stack(small, axis=-1), jnp.stack(large, axis=-1)
    centre, width = _saddle(*jax.lax.stop_gradient((down, up)))
    centre, width = (jnp.expand_dims(jax.lax.stop_gradient(x), -1) for x in (centre, width))
    points = _POINTS[bits_of(down)]
    # Beyond this the integrand is negligible, by its width or by the decay of the gamma function.
    far = jnp.arcsinh(12.0 * (1.0 / width + 1.0))
    v = far * (np.arange(points + 1, dtype=down.dtype) / points).reshape((1,) * (far.ndim - 1) + (-1,))
    sinh, cosh = jnp.sinh(v), jnp.cosh(v)
    # About how steeply the integrand changes at a distance of 1.
    slope = (jnp.log1p(up) - jnp.log1p(down)).sum(axis=-1, keepdims=True)
    bend = -0.7 * jnp.tanh(jax.lax.stop_gradient(slope) / 16.0)
    s = jax.lax.complex(centre + bend * width * (cosh - 1.0), width * sinh)
    linear = (jnp.log(up + _SHIFT) - jnp.log(down + _SHIFT)).sum(axis=-1, keepdims=True).astype(s.dtype)
    exponent = s * linear + _rise(up, s) + _rise(down, -s) - jnp.log(s)
    height = jax.lax.stop_gradient(exponent[..., :1].real)
    terms = (jnp.exp(exponent - height.astype(s.dtype)) * jax.lax.complex(cosh, -bend * sinh)).real
    total = terms.sum(axis=-1) - 0.5 * terms[..., 0]
    return height[..., 0] + jnp.log(total * (width * far)[..., 0] / (points * math.pi))


def mean_log(z: jax.Array) -> jax.Array:
    """Approximate the mean of the logarithm of a gamma variable of shape z > 0, to within 0.04."""
    middle = z + 0.5
    return jnp.log(middle + 1.0 / (24.0 * middle)) - 1.0 / z


def _saddle(down: jax.Array, up: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Approximate where, between 0 and `down`, the integrand is least on the real axis, and its width across."""

    def slope(c: jax.Array) -> jax.Array:
        c_ = jnp.expand_dims(c, -1)
        return (mean_log(up + c_) - mean_log(down - c_)).sum(axis=-1) - 1.0 / c

    most = down.min(axis=-1)
    # It is never much nearer to 0 than the reciprocal of the largest logarithm.
    unit = jnp.minimum(most, 1.0)
    centre = solve_increasing(slope, jnp.zeros_like(most), 1e-4 * unit, most, 0.5 * unit)
    _, curvature = jax.jvp(slope, (centre,), (jnp.ones_like(centre),))
    return centre, 1.0 / jnp.sqrt(curvature)


def _rise(z: jax.Array, s: jax.Array) -> jax.Array:
    """Sum log(Gamma(z + s) / Gamma(z)) - s log(z + 10) over the last axis of z; s has one more axis."""
    s, z = s[..., None], jnp.expand_dims(z, -2)
    y, dtype = z + _SHIFT, s.dtype
    inverse = (1.0 / y).astype(dtype)
    ratio = s * inverse
    log_1p = _log1p(ratio)
    growth = y.astype(dtype) * (log_1p - ratio) + (s - 0.5) * log_1p
    steps = np.arange(_SHIFT, dtype=z.dtype).reshape((1,) * s.ndim + (_SHIFT,))
    low = _log1p(s[..., None] * (1.0 / (z[..., None] + steps)).astype(dtype)).sum(axis=-1)
    return (growth + _series(inverse / (1.0 + ratio)) - _series(inverse) - low).sum(axis=-1)


def _log1p(z: jax.Array) -> jax.Array:
    """Compute log(1 + z), both parts accurate, for complex z not on the real axis left of -1."""
    x, y = z.real, z.imag
    is_small = jnp.abs(x) + jnp.abs(y) < 0.5
    near_x, near_y = jnp.where(is_small, x, 0.0), jnp.where(is_small, y, 0.0)
    near = jnp.log1p(near_x * (2.0 + near_x) + near_y * near_y)
    away = jnp.log(jnp.where(is_small, 1.0, (1.0 + x) ** 2 + y * y))
    return jax.lax.complex(0.5 * jnp.where(is_small, near, away), jnp.arctan2(y, 1.0 + x))


def _series(r: jax.Array) -> jax.Array:
    """Return the term that Stirling's series adds to log Gamma(1 / r)."""
    square, total = r * r, jnp.full_like(r, STIRLING[-1])
    for coefficient in STIRLING[-2::-1]:
        total = coefficient + square * total
    return r * total
