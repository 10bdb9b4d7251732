"""Define the von Mises distribution of angles, the normal distribution of the circle."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from . import arc_mass
from .circular import AbstractCircular
from .von_mises_draws import draw, quantile


class VonMises(AbstractCircular):
    """Von Mises distribution of angles, the normal distribution of the circle: directions, times of day or year.

    Angles are in [-pi, pi], and the cdf is measured from -pi, whatever `loc` is. `mean` is the mean direction and
    `variance` the circular variance: one minus the length of the mean vector, between 0 and 1.

    **Fields**
    - `loc`: mean direction in radians, any real; only its place on the circle matters.
    - `concentration`: >= 0; 0 is the uniform distribution, and when it is large its inverse is the usual variance.

    **Density**: `exp(concentration * cos(x - loc)) / (2 * pi * I0(concentration))`.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 3.5.4.
    """

    loc: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "concentration": constraints.nonnegative,
    }

    @property
    def variance(self) -> jax.Array:
        (k,) = self._arrays("concentration")
        return arc_mass.mean_fall(k)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, k = align(value, self.loc, self.concentration)
        is_outside = (x < -math.pi) | (x > math.pi)
        # Outside, neither the value nor the location may have a slope.
        angle = jnp.where(is_outside, 0.0, jnp.where(is_outside, 0.0, x) - loc)
        inside = arc_mass.log_density(angle, k)
        return jnp.where(is_outside, -jnp.inf, inside)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape = self._shape(sample_shape)
        loc, k = (jnp.broadcast_to(array, shape) for array in self._arrays("loc", "concentration"))
        return draw(key, loc, k)

    def cdf(self, value: Any) -> jax.Array:
        x, loc, k = align(value, self.loc, self.concentration)
        inside = arc_mass.cdf(*_alike(jnp.where(abs(x) > math.pi, 0.0, x), loc, k))
        return jnp.where(x > math.pi, 1.0, jnp.where(x < -math.pi, 0.0, inside))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, k = align(q, self.loc, self.concentration)
        return quantile(*_alike(q, loc, k))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._log_cdf(1.0, value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_cdf(-1.0, value)

    def entropy(self) -> jax.Array:
        (k,) = self._arrays("concentration")
        return arc_mass.log_half_circle(k) + math.log(2) + k * arc_mass.mean_fall(k)

    def _log_cdf(self, sign: float, value: Any) -> jax.Array:
        """Compute the log cdf, or that of the mirror image for a `sign` of -1."""
        x, loc, k = align(value, self.loc, self.concentration)
        x, loc = sign * x, sign * loc
        inside = arc_mass.log_cdf(*_alike(jnp.where(abs(x) > math.pi, 0.0, x), loc, k))
        return jnp.where(x > math.pi, 0.0, jnp.where(x < -math.pi, -jnp.inf, inside))


def _alike(first: jax.Array, *others: Any) -> list[jax.Array]:
    """Return the arguments as arrays of one shape and dtype."""
    return jnp.broadcast_arrays(first, *(jnp.asarray(other, first.dtype) for other in others))
