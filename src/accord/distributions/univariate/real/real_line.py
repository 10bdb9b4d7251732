"""Define the normal and Cauchy distributions on the real line."""

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


class Normal(AbstractDistribution):
    """Normal distribution on the real line: sums of many small independent terms.

    **Fields**
    - `loc`: mean, any real.
    - `scale`: standard deviation, > 0.

    **Density**: `exp(-z^2 / 2) / (sqrt(2 pi) scale)`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 13.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        return self._full(self.loc)

    @property
    def variance(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return scale**2

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        z = standardise(x, loc, scale)
        return -0.5 * (z * z) - (log(scale) + HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return loc + scale * noise

    def cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return ndtr((x - loc) / scale)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return loc + scale * ndtri(q)

    def log_cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return log_ndtr((x - loc) / scale)

    def log_survival(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return log_ndtr((loc - x) / scale)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5)


class Cauchy(AbstractDistribution):
    """Cauchy distribution on the real line: tails so heavy that mean and variance do not exist (NaN).

    **Fields**
    - `loc`: median, any real.
    - `scale`: half the distance between the quartiles, > 0.

    **Density**: `1 / (pi scale (1 + z^2))`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 16.
    """

    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        return self._full(math.nan)

    @property
    def variance(self) -> jax.Array:
        return self._full(math.nan)

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return -log1p_square(standardise(x, loc, scale)) - (log(scale) + math.log(math.pi))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.cauchy(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return keep_inside(loc + scale * noise)

    def cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return cauchy_tail(loc - x, scale)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return loc + scale * _cotangent_quantile(q)

    def log_cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return log_cauchy_tail(loc - x, scale)

    def log_survival(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return log_cauchy_tail(x - loc, scale)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + math.log(4 * math.pi)


def cauchy_tail(distance: jax.Array, scale: Any) -> jax.Array:
    """Return a Cauchy probability beyond a distance: an angle over pi, which keeps small tails accurate."""
    return angle(jnp.broadcast_to(jnp.asarray(scale, distance.dtype), distance.shape), distance) / math.pi


def log_cauchy_tail(distance: jax.Array, scale: Any) -> jax.Array:
    """Compute the log of `cauchy_tail`, from the tail on the nearer side."""
    is_lower = distance < 0
    near = cauchy_tail(jnp.abs(distance), scale)
    return jnp.where(is_lower, jnp.log1p(-near), log_of(near))


def tail_cotangent(p: jax.Array) -> jax.Array:
    """Find the standard Cauchy value with probability p <= 1/2 above; infinite, with a zero gradient, at 0."""
    is_end = p == 0
    is_small = p < 0.25
    small = 1.0 / jnp.tan(math.pi * jnp.where(is_small & ~is_end, p, 0.25))
    large = jnp.tan(math.pi * (0.5 - jnp.where(is_small, 0.25, p)))
    return jnp.where(is_end, jnp.inf, jnp.where(is_small, small, large))


def _cotangent_quantile(q: jax.Array) -> jax.Array:
    """Return the standard Cauchy quantile."""
    is_lower = q < 0.5
    far = tail_cotangent(jnp.where(is_lower, q, 1.0 - q))
    return jnp.where(is_lower, -far, far)
