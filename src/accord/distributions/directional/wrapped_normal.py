"""Define the wrapped normal distribution: a normal variable wound around the circle."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import align
from .. import constraints
from ..base import Shape
from ..constraint import Constraint
from ..noise import keep_inside
from ..special import HALF_LOG_TWO_PI, log1m_exp, log_ndtr, log_sum_exp, solve_increasing
from ..special.basic.quadrature import together
from . import arc_mass
from .circular import AbstractCircular

# Below this scale sum the nearest turns of the line, above it the first terms of a Fourier series; either
# is exact to rounding on its side.
_WIDE = 2.0
_TURNS = 2 * math.pi * np.arange(-4, 5)
_WAVES = np.arange(1.0, 7.0)
_THIN = 5e-3
# Below this scale the entropy equals the normal one to rounding; above it a sum over these angles is exact.
_NARROW = 0.35
_ANGLES = math.pi * (np.arange(64) + 0.5) / 64


class WrappedNormal(AbstractCircular):
    """Wrapped normal distribution of angles: a direction after many small random turns.

    Angles are in [-pi, pi], and the cdf is measured from -pi, whatever `loc` is. `mean` is the mean direction and
    `variance` the circular variance: one minus the length of the mean vector, between 0 and 1.

    **Fields**
    - `loc`: mean direction in radians, any real; only its place on the circle matters.
    - `scale`: standard deviation of the variable before it is wound, > 0; the mean vector has the length
      `exp(-scale^2 / 2)`.

    **Density**: the sum of `exp(-(x - loc + 2 pi k)^2 / (2 scale^2)) / (sqrt(2 pi) scale)` over all whole k.

    **Source**: Mardia & Jupp (2000), Directional Statistics, section 3.5.7.
    """

    loc: Any
    scale: Any
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def variance(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return -jnp.expm1(-0.5 * scale**2)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = together(*align(value, self.loc, self.scale))
        is_outside = (x < -math.pi) | (x > math.pi)
        distance = jnp.where(is_outside, 0.0, arc_mass.wrap(jnp.where(is_outside, 0.0, x) - loc))
        is_wide = scale > _WIDE
        z = (distance[..., None] + _row(_TURNS, x)) / jnp.where(is_wide, 1.0, scale)[..., None]
        narrow = log_sum_exp(-0.5 * z * z) - jnp.log(scale) - HALF_LOG_TWO_PI
        waves, heights = _waves(jnp.where(is_wide, scale, 2.0))
        wide = jnp.log1p(2 * (heights * jnp.cos(waves * distance[..., None])).sum(-1)) - math.log(2 * math.pi)
        return jnp.where(is_outside, -jnp.inf, jnp.where(is_wide, wide, narrow))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise = jax.random.normal(key, self._shape(sample_shape), self.dtype)
        noise, loc, scale = align(noise, self.loc, self.scale)
        return keep_inside(arc_mass.wrap(loc + scale * noise), -math.pi, math.pi)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        # The turns of a narrow density do not overlap; a wide density is smooth on the circle, and half suffices.
        is_narrow = scale < _NARROW
        wide = jnp.where(is_narrow, _NARROW, scale)
        angles = _row(_ANGLES, wide)
        log_f = WrappedNormal(jnp.zeros_like(wide)[..., None], wide[..., None]).log_prob(angles)
        around = -(2 * math.pi / _ANGLES.size) * (jnp.exp(log_f) * log_f).sum(-1)
        return jnp.where(is_narrow, jnp.log(jnp.where(is_narrow, scale, 1.0)) + HALF_LOG_TWO_PI + 0.5, around)

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = together(*align(q, self.loc, self.scale))
        is_end, is_lower = (q == 0) | (q == 1), q < 0.5
        target = jnp.log(jnp.where(is_end, 0.5, jnp.where(is_lower, q, 1 - q)))
        # The distance from the nearer end, which must stay accurate.
        loc = arc_mass.wrap(jnp.where(is_lower, loc, -loc))
        width = solve_increasing(lambda w: _log_arc(w, loc, scale), target, 0.0, 2 * math.pi, loc + math.pi)
        width = jnp.where(is_end, 0.0, width)
        return jnp.where(is_lower, width - math.pi, math.pi - width)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._log_tails(value)[0]

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_tails(value)[1]

    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return log probabilities below and above the value."""
        x, loc, scale = together(*align(value, self.loc, self.scale))
        is_low, is_high = x <= -math.pi, x >= math.pi
        below, above = _log_tails(jnp.where(is_low | is_high, 0.0, x), loc, scale)
        return (
            jnp.where(is_low, -jnp.inf, jnp.where(is_high, 0.0, below)),
            jnp.where(is_low, 0.0, jnp.where(is_high, -jnp.inf, above)),
        )


def _waves(scale: jax.Array) -> tuple[np.ndarray, jax.Array]:
    """Return whole frequencies and their amplitudes."""
    waves = _row(_WAVES, scale)
    return waves, jnp.exp(-0.5 * (waves * scale[..., None]) ** 2)


def _row(values: np.ndarray, like: jax.Array) -> np.ndarray:
    """Return constants along one more axis than `like` has."""
    return values.astype(np.dtype(like.dtype)).reshape((1,) * like.ndim + values.shape)


def _log_tails(x: jax.Array, loc: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return log probabilities from -pi to an angle, and from that angle to pi."""
    loc = arc_mass.wrap(loc)
    below, above = _log_arc(math.pi + x, loc, scale), _log_arc(math.pi - x, -loc, scale)
    # The larger tail follows from the smaller one, which is exact.
    is_lower = below < above
    return (
        jnp.where(is_lower, below, log1m_exp(jnp.where(is_lower, -1.0, above))),
        jnp.where(is_lower, log1m_exp(jnp.where(is_lower, below, -1.0)), above),
    )


def _log_arc(width: jax.Array, loc: jax.Array, scale: jax.Array) -> jax.Array:
    """Return the log probability of an arc that begins at -pi."""
    is_wide, half = scale > _WIDE, 0.5 * width
    narrow_scale = jnp.where(is_wide, 1.0, scale)[..., None]
    first = (-math.pi - loc)[..., None] + _row(_TURNS, width)
    first, last = first / narrow_scale, (first + 2 * half[..., None]) / narrow_scale
    # Measure each piece from the side on which the normal variable is farther out.
    is_upper = first + last > 0
    far, near = jnp.where(is_upper, -last, first), jnp.where(is_upper, -first, last)
    log_far, log_near = log_ndtr(far), log_ndtr(near)
    # The ends of a thin piece are too close to subtract: use the middle and its curvature.
    thickness, middle = 2 * half[..., None] / narrow_scale, 0.5 * (first + last)
    is_thin = thickness * (1 + jnp.abs(middle)) < _THIN
    thin = jnp.log(jnp.where(thickness > 0, thickness, 1.0)) - 0.5 * middle * middle - HALF_LOG_TWO_PI
    thin = thin + thickness * thickness * (middle - 1) * (middle + 1) / 24
    thick = log_near + log1m_exp(jnp.where(is_thin, -1.0, log_far - log_near))
    narrow = log_sum_exp(jnp.where(is_thin, thin, thick))
    waves, heights = _waves(jnp.where(is_wide, scale, 2.0))
    middle = half - math.pi - loc
    bends = heights / waves * jnp.sin(waves * half[..., None]) * jnp.cos(waves * middle[..., None])
    wide = jnp.log(jnp.maximum((half + 2 * bends.sum(-1)) / math.pi, float(jnp.finfo(width.dtype).tiny)))
    return jnp.where(is_wide, wide, narrow)
