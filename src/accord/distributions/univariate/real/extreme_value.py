"""Define extreme value distributions: Gumbel, generalised extreme value and Frechet.

In y = -log(-log F), the Gumbel scale, all three are the same distribution; they differ in how y depends on x.
"""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside, open_uniform
from ...special import log
from ...special.basic.smooth import (
    exp_excess,
    exp_minus_exp,
    log_complement,
    log_ratio,
    minus_exp,
    shrink,
    stretch,
)
from ..common.extreme_moments import extreme_mean, extreme_variance
from ..common.location_scale import AbstractLocationScale

_EULER = float(np.euler_gamma)


class Gumbel(AbstractLocationScale):
    """Gumbel distribution on the real line: the largest of many draws from a light-tailed distribution.

    **Fields**
    - `loc`: mode, any real.
    - `scale`: > 0; the standard deviation is `pi / sqrt(6)` times this.

    **Density**: `exp(-z - exp(-z)) / scale`, z = (x - loc) / scale.

    **Source**: Gumbel (1958), Statistics of Extremes, section 5.1.
    """

    loc: Any = 0.0
    scale: Any = 1.0

    @property
    def mean(self) -> jax.Array:
        return self._place(_EULER)

    @property
    def variance(self) -> jax.Array:
        return self._spread(math.pi**2 / 6)

    @property
    def mode(self) -> jax.Array:
        return self._place(0.0)

    def entropy(self) -> jax.Array:
        return self._uncertainty(1 + _EULER)

    def _log_density(self, z: jax.Array, *_: Any) -> jax.Array:
        return -1.0 - exp_excess(-z)

    def _cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        return exp_minus_exp(-z)

    def _log_cdf(self, z: jax.Array, *_: Any) -> jax.Array:
        return minus_exp(-z)

    def _log_survival(self, z: jax.Array, *_: Any) -> jax.Array:
        return log_complement(-z)

    def _icdf(self, q: jax.Array, *_: Any) -> jax.Array:
        return -jnp.log(-jnp.log(q))


class GeneralizedExtremeValue(AbstractLocationScale):
    """Generalised extreme value distribution: the largest of many draws; accurate through `shape` 0 (Gumbel).

    **Fields**
    - `loc`: the quantile of level `exp(-1)`, any real.
    - `scale`: > 0.
    - `shape`: any real. Above 0 the upper tail is a power law and `loc - scale / shape` the lower end; below 0 that is
      the upper end. The mean exists below 1, the variance below 1/2.

    **Density**: `t^(shape + 1) exp(-t) / scale`, t = (1 + shape z)^(-1/shape), z = (x - loc) / scale.

    **Source**: Jenkinson (1955), Q. J. R. Meteorol. Soc. 81, 158-171; Coles (2001), section 3.1.3.
    """

    loc: Any
    scale: Any
    shape: Any
    shapes: ClassVar[tuple[str, ...]] = ("shape",)
    has_end: ClassVar[bool] = True
    parameters: ClassVar[dict[str, Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "shape": constraints.real,
    }

    @property
    def support(self) -> Constraint:
        return constraints.open_interval(*self._ends())

    @property
    def mean(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        return self._place(extreme_mean(shape))

    @property
    def variance(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        return self._spread(extreme_variance(shape))

    @property
    def mode(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        has_peak = shape > -1
        y = -jnp.log1p(jnp.where(has_peak, shape, 0.0))
        return jnp.where(has_peak, self._place(stretch(y, shape)), self._full(self._ends()[1]))

    def entropy(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        return self._uncertainty(1 + _EULER + _EULER * shape)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(super().sample(key, sample_shape), *self._ends())

    def _ends(self) -> tuple[jax.Array, jax.Array]:
        """Return the ends of the support, infinite where there is none."""
        loc, scale, shape = self._arrays("loc", "scale", "shape")
        end = loc - scale / jnp.where(shape == 0, 1.0, shape)
        return jnp.where(shape > 0, end, -jnp.inf), jnp.where(shape < 0, end, jnp.inf)

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        is_outside, y = gumbel_scale(z, shape)
        return jnp.where(is_outside, -jnp.inf, -1.0 - exp_excess(-y) - shape * y)

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        is_outside, y = gumbel_scale(z, shape)
        return jnp.where(is_outside, jnp.where(z < 0, 0.0, 1.0), exp_minus_exp(-y))

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        is_outside, y = gumbel_scale(z, shape)
        return jnp.where(is_outside, jnp.where(z < 0, -jnp.inf, 0.0), minus_exp(-y))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        is_outside, y = gumbel_scale(z, shape)
        return jnp.where(is_outside, jnp.where(z < 0, 0.0, -jnp.inf), log_complement(-y))

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        y = -jnp.log(-jnp.log(q))
        return stretch(y, shape)


class Frechet(AbstractDistribution):
    """Frechet distribution of positive numbers: the largest of many draws with a power-law tail.

    **Fields**
    - `concentration`: > 0; exponent of the tail. The mean exists above 1, the variance above 2.
    - `scale`: > 0; the quantile of level `exp(-1)`.

    **Density**: `(c / x) (x / scale)^(-c) exp(-(x / scale)^(-c))`, c = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 22.
    """

    concentration: Any
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "scale": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        c, scale = self._arrays("concentration", "scale")
        return scale * (1 + extreme_mean(1 / c) / c)

    @property
    def variance(self) -> jax.Array:
        c, scale = self._arrays("concentration", "scale")
        return (scale / c) ** 2 * extreme_variance(1 / c)

    @property
    def mode(self) -> jax.Array:
        c, scale = self._arrays("concentration", "scale")
        return scale * jnp.exp(-jnp.log1p(1 / c) / c)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, y, c = self._gumbel_scale(value)
        return jnp.where(is_outside, -jnp.inf, log(c) - jnp.log(x) - 1.0 - exp_excess(-y))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype)), 0.0)

    def cdf(self, value: Any) -> jax.Array:
        is_outside, _, y, _ = self._gumbel_scale(value)
        return jnp.where(is_outside, 0.0, exp_minus_exp(-y))

    def icdf(self, q: Any) -> jax.Array:
        q, c, scale = align(q, self.concentration, self.scale)
        return scale * jnp.exp(-jnp.log(-jnp.log(q)) / c)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, _, y, _ = self._gumbel_scale(value)
        return jnp.where(is_outside, -jnp.inf, minus_exp(-y))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, _, y, _ = self._gumbel_scale(value)
        return jnp.where(is_outside, 0.0, log_complement(-y))

    def entropy(self) -> jax.Array:
        c, scale = self._arrays("concentration", "scale")
        return 1 + _EULER * (1 + 1 / c) + jnp.log(scale) - jnp.log(c)

    def _gumbel_scale(self, value: Any) -> tuple[Any, ...]:
        """Return whether x is outside, a safe x, y and the concentration."""
        x, c, scale = align(value, self.concentration, self.scale)
        is_outside = x <= 0
        x = jnp.where(is_outside, 1.0, x)
        return is_outside, x, c * log_ratio(x, scale), c


def gumbel_scale(z: jax.Array, shape: Any) -> tuple[jax.Array, jax.Array]:
    """Return whether z is outside the support, and y = log(1 + shape z) / shape (z itself at shape 0)."""
    is_outside = shape * z <= -1
    return is_outside, shrink(jnp.where(is_outside, 0.0, z), shape)
