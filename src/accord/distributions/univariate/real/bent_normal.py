"""Define the Moyal and Johnson SU distributions: transformed normal variables."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ... import constraints
from ...constraint import Constraint
from ...special import HALF_LOG_TWO_PI, log, log1p_square, log_ndtr, ndtr, ndtri, solve_increasing
from ...special.basic.smooth import exp_excess, log_cosh
from ..common.entropy_quadrature import entropy_on_line
from ..common.location_scale import AbstractLocationScale

_EULER = float(np.euler_gamma)
_ROOT_HALF = math.sqrt(0.5)


class Moyal(AbstractLocationScale):
    """Moyal distribution on the real line: approximates the energy that a fast particle loses in thin matter.

    **Fields**
    - `loc`: mode, any real.
    - `scale`: > 0; the standard deviation is `pi / sqrt(2)` times this.

    **Density**: `exp(-(z + exp(-z)) / 2) / (sqrt(2 pi) scale)`, z = (x - loc) / scale.

    **Source**: Moyal (1955), Philosophical Magazine 46, 263-280.
    """

    loc: Any = 0.0
    scale: Any = 1.0

    @property
    def mean(self) -> jax.Array:
        return self._place(_EULER + math.log(2))

    @property
    def variance(self) -> jax.Array:
        return self._spread(math.pi**2 / 2)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        return self._uncertainty(0.5 * (1 + _EULER + math.log(2)) + HALF_LOG_TWO_PI)

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        return -0.5 * exp_excess(-z) - (0.5 + HALF_LOG_TWO_PI)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        # Below this the normal variable would exceed a thousand.
        is_gone = z < -13.0
        return jnp.where(is_gone, 0.0, 2 * ndtr(-jnp.exp(-0.5 * jnp.where(is_gone, 0.0, z))))

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        return log_ndtr(-jnp.exp(-0.5 * z)) + math.log(2)

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        # For large values the error function is linear, and its argument may underflow.
        is_far = z > 75.0
        near = jnp.log(jax.lax.erf(_ROOT_HALF * jnp.exp(-0.5 * jnp.where(is_far, 0.0, z))))
        return jnp.where(is_far, -0.5 * z + 0.5 * math.log(2 / math.pi), near)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        return -2 * jnp.log(-ndtri(0.5 * q))


class JohnsonSU(AbstractLocationScale):
    """Johnson's SU distribution on the real line: any skewness and any tail heavier than the normal.

    **Fields**
    - `loc`, `scale`: any real, and > 0.
    - `skewness`: any real; above 0 the lower tail is the longer.
    - `tailweight`: > 0; the smaller, the heavier the tails.

    **Density**: `d exp(-(g + d asinh(z))^2 / 2) / (scale sqrt(2 pi (1 + z^2)))`, z = (x - loc) / scale, g = skewness,
    d = tailweight.

    **Source**: Johnson (1949), Biometrika 36, 149-176.
    """

    loc: Any
    scale: Any
    skewness: Any
    tailweight: Any
    has_smooth_mode: ClassVar[bool] = True
    shapes: ClassVar[tuple[str, ...]] = ("skewness", "tailweight")
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "skewness": constraints.real,
        "tailweight": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        skewness, tailweight = self._arrays("skewness", "tailweight")
        return self._place(-jnp.exp(0.5 / tailweight**2) * jnp.sinh(skewness / tailweight))

    @property
    def variance(self) -> jax.Array:
        skewness, tailweight = self._arrays("skewness", "tailweight")
        square = 1 / tailweight**2
        growth = jnp.exp(square) * jnp.cosh(2 * skewness / tailweight) + 1
        return self._spread(0.5 * jnp.expm1(square) * growth)

    @property
    def mode(self) -> jax.Array:
        # By u = asinh(z), the slope of the log density is 0 between 0 and the median.
        skewness, tailweight = self._arrays("skewness", "tailweight")
        middle = -skewness / tailweight

        def fall(u: jax.Array) -> jax.Array:
            return tailweight * (skewness + tailweight * u) + jnp.tanh(u)

        return self._place(
            jnp.sinh(solve_increasing(fall, jnp.zeros_like(middle), -jnp.abs(middle), jnp.abs(middle)))
        )

    def entropy(self) -> jax.Array:
        skewness, tailweight = self._arrays("skewness", "tailweight")
        centre, deviation = -skewness / tailweight, 1 / tailweight
        # In u = asinh(z), which is normal; log(cosh(u)) bends at 0, if 0 is within reach.
        is_bent = jnp.abs(skewness) < 12
        start = jnp.where(is_bent, 0.0, centre)
        far = 12 * deviation + jnp.abs(centre - start)
        detail = jnp.where(is_bent, jnp.minimum(deviation, 1.0), deviation)

        def log_density(u: jax.Array) -> jax.Array:
            level = skewness[None] + tailweight[None] * u
            return jnp.log(tailweight)[None] - log_cosh(u) - 0.5 * level * level - HALF_LOG_TWO_PI

        return self._uncertainty(entropy_on_line(log_density, start, detail, far, far, log_cosh))

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        skewness, tailweight = shapes
        level = skewness + tailweight * jnp.arcsinh(z)
        return log(tailweight) - 0.5 * log1p_square(z) - 0.5 * level * level - HALF_LOG_TWO_PI

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        skewness, tailweight = shapes
        return ndtr(skewness + tailweight * jnp.arcsinh(z))

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        skewness, tailweight = shapes
        return log_ndtr(skewness + tailweight * jnp.arcsinh(z))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        skewness, tailweight = shapes
        return log_ndtr(-skewness - tailweight * jnp.arcsinh(z))

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        skewness, tailweight = shapes
        return jnp.sinh((ndtri(q) - skewness) / tailweight)
