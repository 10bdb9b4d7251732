"""Distribute real numbers: normal, Cauchy and Student's t."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape
from .constraint import Constraint
from .special import HALF_LOG_TWO_PI, log, log1p_square, log_beta, log_gamma_step


class Normal(AbstractDistribution):
    """The normal distribution.

    **Fields**
    - `loc`: mean, any real.
    - `scale`: standard deviation, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        z = (x - loc) / scale
        return -0.5 * (z * z) - (log(scale) + HALF_LOG_TWO_PI)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return loc + scale * noise

    def cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return jsp.ndtr((x - loc) / scale)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return loc + scale * jsp.ndtri(q)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5)


class Cauchy(AbstractDistribution):
    """The Cauchy distribution, which has neither mean nor variance (both are NaN).

    **Fields**
    - `loc`: median, any real.
    - `scale`: half the distance between the quartiles, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        return -log1p_square((x - loc) / scale) - (log(scale) + math.log(math.pi))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.cauchy(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return loc + scale * noise

    def cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        # The angle seen from the other side keeps the digits of a small lower tail.
        return jnp.arctan2(jnp.ones_like(x), -(x - loc) / scale) / math.pi

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return loc + scale * jnp.tan(math.pi * (q - 0.5))

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + math.log(4 * math.pi)


class StudentT(AbstractDistribution):
    """Student's t distribution, accurate for any `df`: at large `df` it goes over into the normal.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean exists above 1, the variance above 2.
    - `loc`: centre, any real.
    - `scale`: > 0; the standard deviation only as `df` grows.
    """

    df: Any
    loc: Any = 0.0
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.real

    @property
    def mean(self) -> jax.Array:
        df, loc = self._arrays("df", "loc")
        return jnp.where(df > 1, loc, jnp.nan)

    @property
    def variance(self) -> jax.Array:
        df, scale = self._arrays("df", "scale")
        finite = scale**2 * (df / (jnp.where(df > 2, df, 3.0) - 2))
        return jnp.where(df > 2, finite, jnp.where(df > 1, jnp.inf, jnp.nan))

    def log_prob(self, value: Any) -> jax.Array:
        x, df, loc, scale = align(value, self.df, self.loc, self.scale)
        return log_student_kernel((x - loc) / scale, df) - log(scale)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, (df,) = self._shape(sample_shape), self._arrays("df")
        df = jnp.broadcast_to(df, shape)
        noise, loc, scale = align(jax.random.t(key, df, shape, self.dtype), self.loc, self.scale)
        return loc + scale * noise

    def cdf(self, value: Any) -> jax.Array:
        x, df, loc, scale = align(value, self.df, self.loc, self.scale)
        z = (x - loc) / scale
        tail = 0.5 * jsp.betainc(0.5 * jnp.broadcast_to(df, z.shape), 0.5, df / (df + z * z))
        return jnp.where(z > 0, 1 - tail, tail)

    def entropy(self) -> jax.Array:
        df, scale = self._arrays("df", "scale")
        half, next_half = 0.5 * df, 0.5 * (df + 1)
        spread = next_half * (jsp.digamma(next_half) - jsp.digamma(half))
        return spread + 0.5 * jnp.log(df) + log_beta(half, jnp.full_like(half, 0.5)) + jnp.log(scale)


def log_student_kernel(z: jax.Array, df: Any) -> jax.Array:
    """Log density of Student's t with location 0 and scale 1."""
    root = math.sqrt(df) if isinstance(df, float) else jnp.sqrt(df)
    return -(0.5 * (df + 1)) * log1p_square(z / root) + (log_gamma_step(0.5 * df) - HALF_LOG_TWO_PI)
