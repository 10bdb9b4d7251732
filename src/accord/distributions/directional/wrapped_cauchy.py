"""Define the wrapped Cauchy distribution of angles, a rational map of uniform angles on the circle."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..constraint import Constraint
from ..special import angle, log, log1m, log_of
from ..special.basic.quadrature import together
from .circular import AbstractCircular


class WrappedCauchy(AbstractCircular):
    """Wrapped Cauchy distribution of angles: a Cauchy variable wound around the circle, with heavy tails.

    Angles are in [-pi, pi], and the cdf is measured from -pi, whatever `loc` is. `mean` is the mean direction and
    `variance` the circular variance: one minus the length of the mean vector, between 0 and 1.

    **Fields**
    - `loc`: mean direction in radians, any real; only its place on the circle matters.
    - `concentration`: in (0, 1), the length of the mean vector; near 0 the distribution is uniform. Winding a Cauchy
      variable of scale s gives `exp(-s)`.

    **Density**: `(1 - r^2) / (2 pi (1 + r^2 - 2 r cos(x - loc)))`, r = concentration.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 3.5.7; McCullagh (1996), Annals of Statistics 24,
    787-808, for the map.
    """

    loc: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "concentration": constraints.open_interval(0.0, 1.0),
    }

    @property
    def variance(self) -> jax.Array:
        (r,) = self._arrays("concentration")
        return 1 - r

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, r = align(value, self.loc, self.concentration)
        is_outside = (x < -math.pi) | (x > math.pi)
        half = 0.5 * jnp.where(is_outside, 0.0, jnp.where(is_outside, 0.0, x) - loc)
        # 1 + r^2 - 2 r cos as a sum, which does not cancel near the mode of a sharp peak.
        square = (1 - r) * (1 - r) + 4 * r * jnp.sin(half) ** 2
        inside = log((1 - r) * (1 + r)) - math.log(2 * math.pi) - jnp.log(square)
        return jnp.where(is_outside, -jnp.inf, inside)

    def cdf(self, value: Any) -> jax.Array:
        return self._share(1.0, value)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, r = align(q, self.loc, self.concentration)
        is_end = (q == 0) | (q == 1)
        half = math.pi * jnp.where(is_end, 0.5, q)
        # Half the uniform angle of -pi under the map, as cosine and sine times a length.
        cosine, sine = -(1 - r) * jnp.sin(0.5 * loc), -(1 + r) * jnp.cos(0.5 * loc)
        tilt = cosine * (cosine * jnp.cos(half) - sine * jnp.sin(half)) / (cosine * cosine + sine * sine)
        width = (1 - r) * (1 - r) * jnp.cos(half) + 4 * r * tilt
        turn = 2 * angle(*together((1 - r) * (1 + r) * jnp.sin(half), width))
        return jnp.where(is_end, jnp.where(q == 0, -math.pi, math.pi), turn - math.pi)

    def log_cdf(self, value: Any) -> jax.Array:
        below, above = self._share(1.0, value), self._share(-1.0, value)
        return jnp.where(below < 0.5, log_of(below), log1m(above))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._share(1.0, value), self._share(-1.0, value)
        return jnp.where(below < 0.5, log1m(below), log_of(above))

    def entropy(self) -> jax.Array:
        (r,) = self._arrays("concentration")
        return jnp.log((1 - r) * (1 + r)) + math.log(2 * math.pi)

    def _share(self, sign: float, value: Any) -> jax.Array:
        """Return the probability between -pi and the value, or of the mirror image for a `sign` of -1."""
        x, loc, r = align(value, self.loc, self.concentration)
        x, loc = sign * x, sign * loc
        is_end = (x <= -math.pi) | (x >= math.pi)
        inside = jnp.where(is_end, 0.0, x)
        # The map takes x and -pi to uniform angles; the tangent of half their difference is a ratio.
        height = (1 - r) * (1 + r) * jnp.cos(0.5 * inside)
        width = -(1 - r) * (1 - r) * jnp.sin(0.5 * inside)
        width = width - 4 * r * jnp.sin(0.5 * (inside - loc)) * jnp.cos(0.5 * loc)
        share = angle(*together(height, width)) / math.pi
        return jnp.where(is_end, jnp.where(x > 0, 1.0, 0.0), share)
