"""Compute density and both tails of the normal inverse Gaussian distribution, of any shape, in any tail.

At scale 1, with r^2 = 1 + z^2, y = a r, g^2 = a^2 - b^2 and E = g + b z - y, which is never positive,

    density = a exp(E) exp(y) K1(y) / (pi r),
    tail above z = exp(g + b z) (J(y, c1) - J(y, c2)) / (2 pi),    y c1 = g + b z,  y c2 = b z - g,
    J(y, cos u) = integral of exp(-y cosh t) sin(u) / (cosh t - cos u) over t > 0.

The tail is the inverse of the moment generating function along the path of steepest descent, on which the exponent is
real. With y (cosh t - 1) = m^2 the same midpoints m serve every y from 1 on, once what they make of the poles at
m^2 = -y (1 - cos u) is taken off. For y below 1 the path is left for that of a Cauchy distribution, from which

    exp(y c) J(y, c) = pi - u - sin(u) * integral of exp(c v) K0(v) over 0 < v < y, c = cos u,

takes a little. The tail moves with a and b as the second J does, which has no pole where z is the mean.

**Source**: Barndorff-Nielsen (1997), Scandinavian Journal of Statistics 24, 1-13 (the distribution); Trefethen &
Weideman (2014), SIAM Review 56(3), 385-458, section 5 (the rule near a pole); DLMF 10.31 (the series of K0 and K1).
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...special.basic.elementary import log1m_exp
from ...special.basic.quadrature import rule_on_unit
from ...special.bessel.bessel_k01 import (
    BELL,
    MIDPOINTS,
    STEP,
    along_axis,
    k0_small,
    log_k1_scaled,
    log_k1_small,
)

_FELT = 3.0  # beyond this distance from the path a pole does not affect the midpoint rule
_POWER = 6  # nodes near 0 are crowded by this power, for the logarithm there


class _Tail(NamedTuple):
    """Log of a height and, over exp(height), the tail, the density, and the tail's slopes by a and b."""

    height: jax.Array
    tail: jax.Array
    density: jax.Array
    by_a: jax.Array
    by_b: jax.Array


def log_hyperbolic_density(
    distance: jax.Array, scale: jax.Array, a: jax.Array, b: jax.Array, g: jax.Array
) -> jax.Array:
    """Compute the log density at a distance from the location, with K1(a r), g^2 = a^2 - b^2, of any scale."""
    size = jnp.where(distance < 0, -distance, distance)
    is_far = size > scale
    long, short = jnp.where(is_far, size, scale), jnp.where(is_far, scale, size)
    r = long * jnp.sqrt(1 + (short / long) ** 2)
    y, tilt = a * r, b * distance
    rise = g * scale + tilt
    # a r - rise, whose terms may be large, as a square over their sum.
    gap, is_up = g * distance - b * scale, rise > 0
    root = gap / jnp.where(is_up, y + rise, 1.0)
    fall = jnp.where(is_up, gap * root, y - rise)
    is_small = y < 1
    small = log_k1_small(jnp.where(is_small, y, 0.5)) + jnp.where(is_small, rise, 0.0)
    large = log_k1_scaled(jnp.where(is_small, 2.0, y)) - fall
    return jnp.where(is_small, small, large) + jnp.log(scale) - 2 * jnp.log(r) - math.log(math.pi)


@jax.custom_jvp
def log_hyperbolic_tails(
    z: jax.Array, a: jax.Array, b: jax.Array, g: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above z at scale 1; g is the root of a^2 - b^2."""
    is_lower, part = _nearer(z, a, b, g)
    return _sorted(is_lower, *_logs(part))


@log_hyperbolic_tails.defjvp
def _tails_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    z_dot, a_dot, b_dot, _ = tangents
    is_lower, part = _nearer(*primals)
    small, large = _logs(part)
    sign = jnp.where(is_lower, -1.0, 1.0)
    small_dot = (sign * (part.by_b * b_dot - part.density * z_dot) - part.by_a * a_dot) / part.tail
    large_dot = -jnp.exp(small - large) * small_dot
    return _sorted(is_lower, small, large), _sorted(is_lower, small_dot, large_dot)


def _logs(part: _Tail) -> tuple[jax.Array, jax.Array]:
    """Return the log of a tail and of its complement."""
    small = jnp.minimum(part.height + jnp.log(part.tail), -1e-30)
    return small, log1m_exp(small)


def _sorted(is_lower: jax.Array, small: jax.Array, large: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the results of the lower tail, then of the upper one."""
    return jnp.where(is_lower, small, large), jnp.where(is_lower, large, small)


def _nearer(z: jax.Array, a: jax.Array, b: jax.Array, g: jax.Array) -> tuple[jax.Array, _Tail]:
    """Return whether the tail without the centre is the lower one, and that tail, reflected to an upper one."""
    r = _root(z)
    is_small = a * r < 1
    is_lower = jnp.where(is_small, z < 0, g * z < b)
    z, b = jnp.where(is_lower, -z, z), jnp.where(is_lower, -b, b)
    near = _near_cauchy(*(jnp.where(is_small, value, 0.25) for value in (z, a, b, g)))
    far = _by_midpoints(
        *(jnp.where(is_small, safe, value) for safe, value in ((2, z), (2, a), (0, b), (2, g)))
    )
    return is_lower, _Tail(*(jnp.where(is_small, *both) for both in zip(near, far, strict=True)))


def _by_midpoints(z: jax.Array, a: jax.Array, b: jax.Array, g: jax.Array) -> _Tail:
    """Compute the upper tail for a r >= 1 and z not below the mean, by the midpoint rule."""
    r, tilt, along = _root(z), b * z, g * z
    y = a * r
    # y + b z and y - b z, with the smaller one from their product.
    size = jnp.where(tilt < 0, -tilt, tilt)
    most = y + size
    least = a * (a / most) + along * (along / most)
    plus, minus = jnp.where(tilt < 0, least, most), jnp.where(tilt < 0, most, least)
    gap, other = along - b, along + b
    # Distances of the poles from the path.
    first = gap / jnp.sqrt(plus + g)
    second = jnp.sqrt(minus + g)
    # a z - b r, in which terms of one sign may cancel.
    is_same = tilt > 0
    turned = jnp.where(other < 0, -1.0, 1.0)
    sizes = a * jnp.where(z < 0, -z, z) + jnp.where(b < 0, -b, b) * r
    product = gap * (turned * other / jnp.where(is_same, sizes, 1.0))
    lead = jnp.where(is_same, product, a * z - b * r)
    m, bell = (along_axis(values, z) for values in (MIDPOINTS, BELL))
    square = m * m
    bell = bell / jnp.sqrt(square + 2 * y[..., None])
    share = 1 / (square + (second * second)[..., None])
    # Keep the factors of the tail apart, since their product may overflow.
    top = a[..., None] * (lead[..., None] * share) - b[..., None] * (square * share)
    at_first, at_second = _skipped(first), _skipped(second)
    # Poles next to one another on one side nearly cancel; between them are 2 g in the square and this distance.
    apart = 2 * np.pi / STEP * jnp.minimum(2 * g / (first + second), _FELT)
    log_ratio = 2 * g - jnp.log1p(jnp.expm1(apart) / (1 + jnp.exp(-2 * np.pi / STEP * first)))
    is_felt = second < _FELT
    less = jnp.where(is_felt, at_first * -jnp.expm1(jnp.where(is_felt, log_ratio, 0.0)), at_first)
    skipped = jnp.where(other < 0, at_first + at_second, less)
    tail = 2 * (bell * top / (square + (first * first)[..., None])).sum(-1) + skipped
    pole = other * (bell * share).sum(-1) + turned * at_second
    k0, k1 = bell.sum(-1), (bell * (square + y[..., None])).sum(-1)
    return _Tail(
        -first * first,
        tail / (2 * np.pi),
        k1 / (np.pi * r) / r,
        a / g * pole / np.pi,
        (k0 + b / g * pole) / np.pi,
    )


def _skipped(distance: jax.Array) -> jax.Array:
    """Return the midpoint rule's error from a pole at this distance from the path."""
    near = jnp.minimum(distance, _FELT)
    return 2 * np.pi * jnp.exp(near * near) / (1 + jnp.exp(2 * np.pi / STEP * near))


def _near_cauchy(z: jax.Array, a: jax.Array, b: jax.Array, g: jax.Array) -> _Tail:
    """Compute the upper tail for a r < 1 and z >= 0."""
    r = _root(z)
    y, along, tilt = a * r, g * z, b * z
    nodes, weights = rule_on_unit(z)
    v = nodes**_POWER
    k0 = k0_small(y[..., None] * v)
    weighted = _POWER * nodes ** (_POWER - 1) * weights * k0
    lost = 2 * b[..., None] + (along + b)[..., None] * jnp.expm1(2 * g[..., None] * (1 - v))
    taken = (weighted * jnp.exp((g + tilt)[..., None] * v) * lost).sum(-1)
    turn = jnp.arctan2(z, 1.0) + jnp.arctan2(b, g)
    tail = 2 * jnp.arctan2(jnp.ones_like(z), z) - turn * jnp.expm1(2 * g) + taken
    pole = turn - (along + b) * (weighted * jnp.exp((tilt - g)[..., None] * v)).sum(-1)
    height = jnp.exp(g + tilt)
    pole = jnp.exp(2 * g) * pole
    return _Tail(
        jnp.zeros_like(z),
        tail / (2 * np.pi),
        height * (1 - y * y * (weighted * v).sum(-1)) / (np.pi * r) / r,
        a / g * pole / np.pi,
        (height * k0_small(y) + b / g * pole) / np.pi,
    )


def _root(z: jax.Array) -> jax.Array:
    """Compute the root of 1 + z^2, also where the square overflows."""
    size = jnp.where(z < 0, -z, z)
    is_far = size > 1 / float(jnp.finfo(z.dtype).eps)
    near = jnp.where(is_far, 0.0, size)
    return jnp.where(is_far, size, jnp.sqrt(1 + near * near))
