"""Define the semicircle and raised cosine distributions around a centre.

Both distribution functions are those of the area of a circle's segment, (t - sin t) / (2 pi) for an angle t.
"""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ..common.symmetric_arch import AbstractSymmetricArch, invert_tail

# Coefficients of t^3, t^5, ... in t - sin t.
_SERIES = tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(9))


class Semicircle(AbstractSymmetricArch):
    """Wigner's semicircle distribution on an interval: eigenvalues of large random symmetric matrices.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: radius, > 0; the standard deviation is half of it.

    **Density**: `2 sqrt(1 - z^2) / (pi scale)`, z = (x - loc) / scale in [-1, 1].

    **Source**: Wigner (1955), Annals of Mathematics 62, 548-564.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    unit_variance: ClassVar[float] = 1 / 4
    unit_entropy: ClassVar[float] = math.log(math.pi) - 0.5

    def _inner_log_density(self, z: jax.Array) -> jax.Array:
        return 0.5 * (jnp.log1p(z) + jnp.log1p(-z)) + math.log(2 / math.pi)

    def _tail(self, u: jax.Array) -> jax.Array:
        is_end = u == 0
        return jnp.where(is_end, 0.0, _segment(4 * jnp.arcsin(jnp.sqrt(0.5 * jnp.where(is_end, 1.0, u)))))

    def _tail_distance(self, p: jax.Array) -> jax.Array:
        return 2 * jnp.sin(0.25 * _segment_angle(p)) ** 2


class Cosine(AbstractSymmetricArch):
    """Raised cosine distribution on an interval: bell-shaped like the normal, but bounded.

    **Fields**
    - `loc`: centre, any real.
    - `scale`: half the width, > 0; the standard deviation is `sqrt(1/3 - 2/pi^2) = 0.36` times this.

    **Density**: `(1 + cos(pi z)) / (2 scale)`, z = (x - loc) / scale in [-1, 1].

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 26.9.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    unit_variance: ClassVar[float] = 1 / 3 - 2 / math.pi**2
    unit_entropy: ClassVar[float] = math.log(4) - 1

    def _inner_log_density(self, z: jax.Array) -> jax.Array:
        return 2 * jnp.log(_half_cosine(z))

    def _tail(self, u: jax.Array) -> jax.Array:
        return _segment(math.pi * u)

    def _tail_distance(self, p: jax.Array) -> jax.Array:
        return _segment_angle(p) / math.pi


def _half_cosine(z: jax.Array) -> jax.Array:
    """Compute cos(pi z / 2) for |z| < 1, as a sine that stays accurate near the ends."""
    is_far = jnp.abs(z) > 0.5
    far = jnp.sin(0.5 * math.pi * (1 - jnp.where(z < 0, -z, z)))
    return jnp.where(is_far, far, jnp.cos(0.5 * math.pi * jnp.where(is_far, 0.0, z)))


@jax.custom_jvp
def _segment(t: jax.Array) -> jax.Array:
    """Compute (t - sin t) / (2 pi), for t in [0, pi]."""
    is_small = t < 1
    square = jnp.where(is_small, t, 0.0) ** 2
    total = jnp.full_like(t, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        total = coefficient + square * total
    return jnp.where(is_small, t * square * total, t - jnp.sin(t)) / (2 * math.pi)


@_segment.defjvp
def _segment_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (t,), (t_dot,) = primals, tangents
    return _segment(t), jnp.sin(0.5 * t) ** 2 / math.pi * t_dot


def _segment_angle(p: jax.Array) -> jax.Array:
    """Find the angle t at which (t - sin t) / (2 pi) is p, for p in [0, 1/2]."""
    return invert_tail(_segment, p, math.pi, (12 * math.pi * p) ** (1 / 3))
