"""Define the cardioid distribution of angles: a constant plus one period of a cosine."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..constraint import Constraint
from ..special import log1m, log_of, solve_increasing
from ..special.basic.quadrature import together
from .circular import AbstractCircular


class Cardioid(AbstractCircular):
    """Cardioid distribution of angles: nearly uniform directions, with a density that is a constant plus a cosine.

    Angles are in [-pi, pi], and the cdf is measured from -pi, whatever `loc` is. `mean` is the mean direction and
    `variance` the circular variance: one minus the length of the mean vector, between 1/2 and 1.

    **Fields**
    - `loc`: mean direction in radians, any real; only its place on the circle matters.
    - `concentration`: in [0, 1/2], the length of the mean vector; 0 is the uniform distribution.

    **Density**: `(1 + 2 r cos(x - loc)) / (2 pi)`, r = concentration.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 3.5.5.
    """

    loc: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "concentration": constraints.interval(0.0, 0.5),
    }

    @property
    def variance(self) -> jax.Array:
        (r,) = self._arrays("concentration")
        return 1 - r

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, r = align(value, self.loc, self.concentration)
        is_outside = (x < -math.pi) | (x > math.pi)
        half = 0.5 * jnp.where(is_outside, 0.0, jnp.where(is_outside, 0.0, x) - loc)
        # A sum of two terms that are not negative.
        height = (1 - 2 * r) + 4 * r * jnp.cos(half) ** 2
        return jnp.where(is_outside, -jnp.inf, log_of(height) - math.log(2 * math.pi))

    def cdf(self, value: Any) -> jax.Array:
        return self._share(1.0, value)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, r = together(*align(q, self.loc, self.concentration))
        is_end = (q == 0) | (q == 1)
        target = jnp.where(is_end, 0.5, q)
        turn = solve_increasing(lambda w: _arc_share(w, loc, r), target, 0.0, 2 * math.pi)
        return jnp.where(is_end, jnp.where(q == 0, -math.pi, math.pi), turn - math.pi)

    def log_cdf(self, value: Any) -> jax.Array:
        below, above = self._share(1.0, value), self._share(-1.0, value)
        return jnp.where(below < 0.5, log_of(below), log1m(above))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._share(1.0, value), self._share(-1.0, value)
        return jnp.where(below < 0.5, log1m(below), log_of(above))

    def entropy(self) -> jax.Array:
        (r,) = self._arrays("concentration")
        # The density is c (1 + b^2 + 2 b cos); its logarithm has a simple Fourier series.
        b = 2 * r / (1 + jnp.sqrt((1 - 2 * r) * (1 + 2 * r)))
        return math.log(2 * math.pi) + jnp.log1p(b * b) - 2 * r * b

    def _share(self, sign: float, value: Any) -> jax.Array:
        """Return the probability between -pi and the value, or of the mirror image for a `sign` of -1."""
        x, loc, r = align(value, self.loc, self.concentration)
        x, loc = sign * x, sign * loc
        is_end = (x <= -math.pi) | (x >= math.pi)
        share = _arc_share(jnp.where(is_end, 0.0, x) + math.pi, loc, r)
        return jnp.where(is_end, jnp.where(x > 0, 1.0, 0.0), jnp.maximum(share, 0.0))


def _arc_share(w: jax.Array, loc: Any, r: Any) -> jax.Array:
    """Return the probability within an angle `w` after -pi."""
    half = 0.5 * w
    return (half - 2 * r * jnp.sin(half) * jnp.cos(half - loc)) / math.pi
