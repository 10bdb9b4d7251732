"""Define the Pareto, power-law and generalised Pareto distributions beyond a threshold."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside, open_uniform
from ...special import log, log1m_exp
from ...special.basic.smooth import expm1, log_ratio, shrink, stretch
from ..common.location_scale import AbstractLocationScale
from ..common.same_law import AbstractSameLaw


class Pareto(AbstractDistribution):
    """Pareto distribution: numbers above a threshold with a power-law tail.

    **Fields**
    - `scale`: > 0; the threshold, which is the mode and belongs to the support.
    - `alpha`: > 0; exponent of the tail. The mean exists above 1, the variance above 2.

    **Density**: `alpha / x (scale / x)^alpha` for x >= scale.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 20.
    """

    scale: Any
    alpha: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "scale": constraints.positive,
        "alpha": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> jax.Array:
        scale, alpha = self._arrays("scale", "alpha")
        safe = jnp.where(alpha > 1, alpha, 2.0)
        return jnp.where(alpha > 1, scale * (safe / (safe - 1)), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        scale, alpha = self._arrays("scale", "alpha")
        safe = jnp.where(alpha > 2, alpha, 3.0)
        return jnp.where(alpha > 2, (scale / (safe - 1)) ** 2 * (safe / (safe - 2)), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.scale)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, growth, alpha = self._growth(value)
        return jnp.where(is_outside, -jnp.inf, log(alpha) - jnp.log(x) - alpha * growth)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws, low = align(
            self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype)), self._full(self.scale)
        )
        return keep_inside(jnp.where(draws < low, low, draws))

    def cdf(self, value: Any) -> jax.Array:
        _, _, growth, alpha = self._growth(value)
        return -expm1(-alpha * growth)

    def icdf(self, q: Any) -> jax.Array:
        q, scale, alpha = align(q, self.scale, self.alpha)
        return scale * jnp.exp(-jnp.log1p(-q) / alpha)

    def log_cdf(self, value: Any) -> jax.Array:
        _, _, growth, alpha = self._growth(value)
        return log1m_exp(-alpha * growth)

    def log_survival(self, value: Any) -> jax.Array:
        _, _, growth, alpha = self._growth(value)
        return -alpha * growth

    def entropy(self) -> jax.Array:
        scale, alpha = self._arrays("scale", "alpha")
        return 1 + 1 / alpha + jnp.log(scale) - jnp.log(alpha)

    def _growth(self, value: Any) -> tuple[Any, ...]:
        """Return whether x is outside, a safe x, log(x / scale), which is 0 outside, and alpha."""
        x, scale, alpha = align(value, self.scale, self.alpha)
        is_outside = x < scale
        x = jnp.where(is_outside, scale, x)
        return is_outside, x, jnp.where(is_outside, 0.0, log_ratio(x, scale)), alpha


class LowerTruncatedPowerLaw(AbstractSameLaw):
    """Power law above a threshold: the Pareto distribution by the exponent of its density.

    **Fields**
    - `alpha`: exponent of the density, below -1. The mean exists below -2, the variance below -3.
    - `low`: > 0; the threshold, which is the mode and belongs to the support.

    **Density**: `-(1 + alpha) / low (x / low)^alpha` for x >= low.

    **Source**: Clauset, Shalizi & Newman (2009), SIAM Review 51, 661-703, equation 2.2.
    """

    alpha: Any
    low: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "alpha": constraints.less_than(-1.0),
        "low": constraints.positive,
    }

    @property
    def _same(self) -> Pareto:
        _, alpha, low = align(0.0, self.alpha, self.low)
        return Pareto(low, -1 - alpha)


class GeneralizedPareto(AbstractLocationScale):
    """Generalised Pareto distribution: excesses over a high threshold; accurate through `shape` 0 (exponential).

    **Fields**
    - `loc`: the threshold, any real; it belongs to the support.
    - `scale`: > 0.
    - `shape`: any real. Above 0 the tail is a power law; below 0 the upper end is `loc - scale / shape`. The mean
      exists below 1, the variance below 1/2.

    **Density**: `(1 + shape z)^(-1 - 1/shape) / scale`, z = (x - loc) / scale >= 0.

    **Source**: Pickands (1975), Annals of Statistics 3, 119-131; Coles (2001), section 4.2.1.
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
        return constraints.interval(self.loc, self._end())

    @property
    def mean(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        return self._place(jnp.where(shape < 1, 1 / (1 - jnp.where(shape < 1, shape, 0.0)), jnp.inf))

    @property
    def variance(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        safe = jnp.where(shape < 0.5, shape, 0.0)
        return self._spread(jnp.where(shape < 0.5, 1 / ((1 - safe) ** 2 * (1 - 2 * safe)), jnp.inf))

    @property
    def mode(self) -> jax.Array:
        loc, shape = self._arrays("loc", "shape")
        return jnp.where(shape < -1, self._end(), loc)

    def entropy(self) -> jax.Array:
        (shape,) = self._arrays("shape")
        return self._uncertainty(1 + shape)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(super().sample(key, sample_shape), high=self._end())

    def _end(self) -> jax.Array:
        """Return the upper end of the support."""
        loc, scale, shape = self._arrays("loc", "scale", "shape")
        return jnp.where(shape < 0, loc - scale / jnp.where(shape < 0, shape, 1.0), jnp.inf)

    def _log_density(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        is_below, is_above, y = _hazard(z, shape)
        return jnp.where(is_below | is_above, -jnp.inf, -(1 + shape) * y)

    def _cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        _, is_above, y = _hazard(z, shape)
        return jnp.where(is_above, 1.0, -expm1(-y))

    def _log_cdf(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        _, is_above, y = _hazard(z, shape)
        return jnp.where(is_above, 0.0, log1m_exp(-y))

    def _log_survival(self, z: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        _, is_above, y = _hazard(z, shape)
        return jnp.where(is_above, -jnp.inf, -y)

    def _icdf(self, q: jax.Array, *shapes: Any) -> jax.Array:
        (shape,) = shapes
        return stretch(-jnp.log1p(-q), shape)


def _hazard(z: jax.Array, shape: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return whether z is below or above the support, and its cumulative hazard, 0 outside."""
    is_below = z < 0
    is_above = (shape * z <= -1) & ~is_below
    return is_below, is_above, shrink(jnp.where(is_below | is_above, 0.0, z), shape)
