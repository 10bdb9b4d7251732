"""Define Azzalini's skew-normal distribution on the real line."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import Shape
from ...constraint import Constraint
from ...special import log_ndtr, ndtri, solve_increasing
from ...special.basic.elementary import HALF_LOG_TWO_PI
from ...special.basic.error_function import erfcx
from ...special.basic.quadrature import FALL, bits_of, rule_on_unit, together
from ...special.basic.tails import solve_tails
from ..common.entropy_quadrature import entropy_on_line
from ..common.location_scale import AbstractLocationScale

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
    log_light = _log_skew_tail(size, skewness)
    light = jnp.exp(log_light)
    # The mass between -|z| and |z| equals the normal mass.
    inner = jnp.where(is_lower, 0.0, jax.lax.erf(_ROOT_HALF * size))
    log_below = jnp.where(is_lower, log_light, jnp.log(jnp.where(is_lower, 1.0, light + inner)))
    log_both = log_ndtr(-size) + math.log(2)
    beyond = log_both + jnp.log1p(-jnp.exp(log_light - log_both))
    log_above = jnp.where(is_lower, jnp.log1p(-light), beyond)
    return jnp.where(is_flipped, log_above, log_below), jnp.where(is_flipped, log_below, log_above)


@jax.custom_jvp
def _log_skew_tail(z: jax.Array, skewness: jax.Array) -> jax.Array:
    """Compute the log of the integral of 2 phi(u) Phi(-skewness u) over u > z, for z, skewness >= 0.

    Owen's T(z, skewness) is half of what this is below Phi(-z). Relative to its value at z the integrand is the
    exponential of -(1 + skewness^2) (z s + s^2 / 2), s = u - z, times a slowly varying function, so that one
    Gauss-Legendre rule serves all arguments.

    **Source**: Azzalini (1985), Scandinavian Journal of Statistics 12, 171-178, for the distribution and its tail.
    """
    sharpness = 1.0 + skewness * skewness
    return jnp.log(_relative_mass(z, skewness)) - (0.5 * sharpness * z * z + HALF_LOG_TWO_PI)


@_log_skew_tail.defjvp
def _log_skew_tail_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    z, skewness = primals
    sharpness = 1.0 + skewness * skewness
    # Both are ratios to the tail, so its exponential, which may underflow, cancels.
    mass = _relative_mass(z, skewness)
    by_z = -erfcx(_ROOT_HALF * skewness * z) / mass
    by_skewness = -math.sqrt(2 / math.pi) / (sharpness * mass)
    return _log_skew_tail(z, skewness), by_z * tangents[0] + by_skewness * tangents[1]


def _relative_mass(z: jax.Array, skewness: jax.Array) -> jax.Array:
    """Compute the tail over exp(-(1 + skewness^2) z^2 / 2) / sqrt(2 pi)."""
    sharpness = 1.0 + skewness * skewness
    fall = FALL[bits_of(z)] / sharpness
    # Up to where z s + s^2 / 2 has risen to that.
    length = jax.lax.stop_gradient(2.0 * fall / (z + jnp.hypot(z, jnp.sqrt(2.0 * fall))))
    nodes, weights = rule_on_unit(z)
    s = length[..., None] * nodes
    exponent = -sharpness[..., None] * s * (z[..., None] + 0.5 * s)
    rest = erfcx(_ROOT_HALF * skewness[..., None] * (z[..., None] + s))
    return length * (weights * jnp.exp(exponent) * rest).sum(-1)
