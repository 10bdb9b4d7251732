"""Define Azzalini's skew-normal distribution on the real line."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...special import HALF_LOG_TWO_PI, log_ndtr, ndtri, solve_increasing
from ...special.basic.quadrature import together
from ...special.basic.tails import solve_tails
from ..common.entropy_quadrature import entropy_on_line
from ..common.location_scale import AbstractLocationScale
from .skew_tail import log_skew_tail

_ROOT_HALF = math.sqrt(0.5)
# Beyond this the probability is 0 in any precision.
_FAR = 50.0


class SkewNormal(AbstractLocationScale):
    """Skew-normal distribution on the real line: a normal variable, given that a correlated one is positive.

    **Fields**
    - `loc`: any real; the mean only without skewness.
    - `scale`: > 0.
    - `skewness`: any real; 0 is the normal distribution; large absolute values approach the half-normal.

    **Density**: `2 phi(z) Phi(skewness z) / scale`, z = (x - loc) / scale, phi and Phi of the standard normal
    distribution.

    **Source**: Azzalini (1985), Scandinavian Journal of Statistics 12, 171-178.
    """

    loc: Any
    scale: Any
    skewness: Any
    shapes: ClassVar[tuple[str, ...]] = ("skewness",)
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "skewness": constraints.real,
    }

    @property
    def mean(self) -> jax.Array:
        return self._place(math.sqrt(2 / math.pi) * self._share()[0])

    @property
    def variance(self) -> jax.Array:
        share, rest = self._share()
        return self._spread(rest * rest + (1 - 2 / math.pi) * share * share)

    @property
    def mode(self) -> jax.Array:
        (skewness,) = self._arrays("skewness")
        size = jnp.abs(skewness)

        def minus_slope(z: jax.Array) -> jax.Array:
            u = size * z
            return z - size * jnp.exp(-0.5 * u * u - HALF_LOG_TWO_PI - log_ndtr(u))

        peak = solve_increasing(minus_slope, jnp.zeros_like(size), 0.0, 1.0)
        return self._place(jnp.where(skewness < 0, -peak, peak))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, (2, *self._shape(sample_shape)), self.dtype)
        size, share, rest, loc, scale = align(jnp.abs(noise[0]), *self._share(), self.loc, self.scale)
        return loc + scale * (size * share + noise[1] * rest)

    def entropy(self) -> jax.Array:
        (skewness,) = self._arrays("skewness")
        size = jnp.where(skewness < 0, -skewness, skewness)
        # On the lighter side the mass beyond a few of these is negligible.
        scale = 1 / jnp.hypot(1.0, size)
        of_z = entropy_on_line(
            lambda z: self._log_density(z, size[None]),
            jnp.zeros_like(size),
            scale,
            12 * scale,
            jnp.full_like(size, 12.0),
        )
        return self._uncertainty(of_z)

    def _share(self) -> tuple[jax.Array, jax.Array]:
        """Return the correlation with the other variable, and the root of one less its square."""
        (skewness,) = self._arrays("skewness")
        length = jnp.hypot(1.0, skewness)
        return skewness / length, 1 / length

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return (math.log(2) - HALF_LOG_TWO_PI) - 0.5 * z * z + log_ndtr(shapes[0] * z)

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return jnp.exp(_log_tails(z, *shapes)[0])

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return _log_tails(z, *shapes)[0]

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        return _log_tails(z, *shapes)[1]

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        q, skewness = together(q, *shapes)
        found = solve_tails(lambda z: _log_tails(z, skewness), q, -_FAR, _FAR, ndtri(q))
        return jnp.where((q == 0) | (q == 1), ndtri(q), found)


def _log_tails(z: jax.Array, skewness: Any) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities below and above z, from the lighter tail beyond |z| and the normal cdf."""
    z, skewness = together(z, skewness)
    is_flipped = skewness < 0
    z, skewness = jnp.where(is_flipped, -z, z), jnp.where(is_flipped, -skewness, skewness)
    is_lower = z < 0
    size = jnp.where(is_lower, -z, z)
    log_light = log_skew_tail(size, skewness)
    light = jnp.exp(log_light)
    # The mass between -|z| and |z| equals the normal mass.
    inner = jnp.where(is_lower, 0.0, jax.lax.erf(_ROOT_HALF * size))
    log_below = jnp.where(is_lower, log_light, jnp.log(jnp.where(is_lower, 1.0, light + inner)))
    log_both = log_ndtr(-size) + math.log(2)
    beyond = log_both + jnp.log1p(-jnp.exp(log_light - log_both))
    log_above = jnp.where(is_lower, jnp.log1p(-light), beyond)
    return jnp.where(is_flipped, log_above, log_below), jnp.where(is_flipped, log_below, log_above)
