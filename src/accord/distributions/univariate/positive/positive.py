"""Define the half-normal, half-Cauchy and log-normal distributions."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import (
    HALF_LOG_TWO_PI,
    angle,
    keep_inside,
    log,
    log1p_square,
    log_ndtr,
    log_of,
    ndtr,
    ndtri,
    standardise,
)
from ..real.real_line import cauchy_tail, tail_cotangent


class HalfNormal(AbstractDistribution):
    """Half-normal distribution of positive numbers: the absolute value of a normal variable with mean 0.

    **Fields**
    - `scale`: standard deviation of the normal variable, > 0.

    **Density**: `sqrt(2 / pi) exp(-z^2 / 2) / scale`, z = x / scale >= 0.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 13.10.1.
    """

    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return math.sqrt(2 / math.pi) * scale

    @property
    def variance(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return (1 - 2 / math.pi) * scale**2

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        z = standardise(x, 0.0, scale)
        return jnp.where(x < 0, -jnp.inf, -0.5 * (z * z) - (log(scale) + (HALF_LOG_TWO_PI - math.log(2))))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, scale = align(jax.random.normal(key, self._shape(sample_shape), self.dtype), self.scale)
        return scale * jnp.abs(noise)

    def cdf(self, value: Any) -> jax.Array:
        return jax.lax.erf(_standardise(value, self.scale) * math.sqrt(0.5))

    def icdf(self, q: Any) -> jax.Array:
        q, scale = align(q, self.scale)
        is_small = q < 0.5
        small = math.sqrt(2) * jax.lax.erf_inv(jnp.where(is_small, q, 0.5))
        return scale * jnp.where(is_small, small, -ndtri(0.5 * (1.0 - jnp.where(is_small, 0.5, q))))

    def log_cdf(self, value: Any) -> jax.Array:
        z = _standardise(value, self.scale)
        is_small = z < 1
        small = log_of(jax.lax.erf(jnp.where(is_small, z, 1.0) * math.sqrt(0.5)))
        return jnp.where(is_small, small, jnp.log1p(-2.0 * ndtr(-jnp.where(is_small, 1.0, z))))

    def log_survival(self, value: Any) -> jax.Array:
        return log_ndtr(-_standardise(value, self.scale)) + math.log(2)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5 - math.log(2))


class HalfCauchy(AbstractDistribution):
    """Half-Cauchy distribution of positive numbers: |x| for x ~ Cauchy(0, scale); infinite mean and variance.

    **Fields**
    - `scale`: the median, > 0.

    **Density**: `2 / (pi scale (1 + z^2))`, z = x / scale >= 0.

    **Source**: Gelman (2006), Bayesian Analysis 1(3), 515-534, section 3.2.
    """

    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        return self._full(math.inf)

    @property
    def variance(self) -> jax.Array:
        return self._full(math.inf)

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        return jnp.where(
            x < 0, -jnp.inf, -log1p_square(standardise(x, 0.0, scale)) - (log(scale) + math.log(math.pi / 2))
        )

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, scale = align(jax.random.cauchy(key, self._shape(sample_shape), self.dtype), self.scale)
        return keep_inside(scale * jnp.abs(noise))

    def cdf(self, value: Any) -> jax.Array:
        return angle(*self._sides(value)) * (2 / math.pi)

    def icdf(self, q: Any) -> jax.Array:
        q, scale = align(q, self.scale)
        is_small = q < 0.5
        small = jnp.tan((math.pi / 2) * jnp.where(is_small, q, 0.5))
        return scale * jnp.where(is_small, small, tail_cotangent(0.5 * (1.0 - jnp.where(is_small, 0.5, q))))

    def log_cdf(self, value: Any) -> jax.Array:
        x, scale = self._sides(value)
        is_small = x < scale
        small = log_of(angle(jnp.where(is_small, x, scale), scale) * (2 / math.pi))
        return jnp.where(is_small, small, jnp.log1p(-2.0 * cauchy_tail(jnp.where(is_small, scale, x), scale)))

    def log_survival(self, value: Any) -> jax.Array:
        return log_of(2.0 * cauchy_tail(*self._sides(value)))

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + math.log(2 * math.pi)

    def _sides(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return the value, 0 below the support, and the scale, as the sides of a right triangle."""
        x, scale = align(value, self.scale)
        x = jnp.where(x < 0, 0.0, x)
        return x, jnp.broadcast_to(
            jnp.asarray(scale, x.dtype), jnp.broadcast_shapes(x.shape, jnp.shape(scale))
        )


class LogNormal(AbstractDistribution):
    """Log-normal distribution of positive numbers: products of many independent factors.

    **Fields**
    - `loc`: mean of the logarithm, any real.
    - `scale`: standard deviation of the logarithm, > 0.

    **Density**: `exp(-z^2 / 2) / (sqrt(2 pi) scale x)`, z = (log(x) - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 14.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        return jnp.exp(loc + 0.5 * scale**2)

    @property
    def variance(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        return jnp.expm1(scale**2) * jnp.exp(2 * loc + scale**2)

    @property
    def mode(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        return jnp.exp(loc - scale**2)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        is_outside = x <= 0
        log_x = jnp.log(jnp.where(is_outside, 1.0, x))
        z = standardise(log_x, loc, scale)
        return jnp.where(is_outside, -jnp.inf, -0.5 * (z * z) - log_x - (log(scale) + HALF_LOG_TWO_PI))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return keep_inside(jnp.exp(loc + scale * noise), low=0.0)

    def cdf(self, value: Any) -> jax.Array:
        return ndtr(self._standardise(value))

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return jnp.exp(loc + scale * ndtri(q))

    def log_cdf(self, value: Any) -> jax.Array:
        return log_ndtr(self._standardise(value))

    def log_survival(self, value: Any) -> jax.Array:
        return log_ndtr(-self._standardise(value))

    def entropy(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        return loc + jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5)

    def _standardise(self, value: Any) -> jax.Array:
        """Return z, which is -inf with a zero gradient below the support."""
        x, loc, scale = align(value, self.loc, self.scale)
        inside = x > 0
        z = (jnp.log(jnp.where(x <= 0, 1.0, x)) - loc) / scale
        return jnp.where(inside | jnp.isnan(x), z, -jnp.inf)


def _standardise(value: Any, scale: Any) -> jax.Array:
    """Return the value over the scale, 0 below the support."""
    x, scale = align(value, scale)
    return jnp.where(x < 0, 0.0, x) / scale
