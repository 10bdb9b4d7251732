"""Distribute positive numbers by folding or bending the real line: half-normal, half-Cauchy, half-t, log-normal."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape
from .constraint import Constraint
from .real_line import StudentT, log_student_kernel
from .special import HALF_LOG_TWO_PI, log, log1p_square, log_gamma_step


class HalfNormal(AbstractDistribution):
    """The absolute value of a normal variable with mean 0.

    **Fields**
    - `scale`: standard deviation of that variable, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        z = x / scale
        return jnp.where(x < 0, -jnp.inf, -0.5 * (z * z) - (log(scale) + (HALF_LOG_TWO_PI - math.log(2))))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, scale = align(jax.random.normal(key, self._shape(sample_shape), self.dtype), self.scale)
        return scale * jnp.abs(noise)

    def cdf(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        return jnp.where(x < 0, 0.0, jax.lax.erf(x / scale / math.sqrt(2)))

    def icdf(self, q: Any) -> jax.Array:
        q, scale = align(q, self.scale)
        return scale * (math.sqrt(2) * jax.lax.erf_inv(q))

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5 - math.log(2))


class HalfCauchy(AbstractDistribution):
    """The absolute value of a Cauchy variable centred at 0; mean and variance are infinite.

    **Fields**
    - `scale`: the median, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        return jnp.where(x < 0, -jnp.inf, -log1p_square(x / scale) - (log(scale) + math.log(math.pi / 2)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, scale = align(jax.random.cauchy(key, self._shape(sample_shape), self.dtype), self.scale)
        return scale * jnp.abs(noise)

    def cdf(self, value: Any) -> jax.Array:
        x, scale = align(value, self.scale)
        return jnp.where(x < 0, 0.0, jnp.arctan(x / scale) * (2 / math.pi))

    def icdf(self, q: Any) -> jax.Array:
        q, scale = align(q, self.scale)
        return scale * jnp.tan((math.pi / 2) * q)

    def entropy(self) -> jax.Array:
        (scale,) = self._arrays("scale")
        return jnp.log(scale) + math.log(2 * math.pi)


class HalfStudentT(AbstractDistribution):
    """The absolute value of a Student t variable centred at 0.

    **Fields**
    - `df`: degrees of freedom, > 0.
    - `scale`: scale of that variable, > 0.
    """

    df: Any
    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"df": constraints.positive, "scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        df, scale = self._arrays("df", "scale")
        safe = jnp.where(df > 1, df, 2.0)
        # 2 sqrt(df / pi) Gamma((df + 1)/2) / (Gamma(df/2) (df - 1)), its ratio of gammas from `log_gamma_step`.
        finite = math.sqrt(2 / math.pi) * scale * safe / (safe - 1) * jnp.exp(log_gamma_step(0.5 * safe))
        return jnp.where(df > 1, finite, jnp.inf)

    @property
    def variance(self) -> jax.Array:
        df, scale = self._arrays("df", "scale")
        second = scale**2 * (df / (jnp.where(df > 2, df, 3.0) - 2))
        return jnp.where(df > 2, second - self.mean**2, jnp.inf)

    def log_prob(self, value: Any) -> jax.Array:
        x, df, scale = align(value, self.df, self.scale)
        return jnp.where(x < 0, -jnp.inf, log_student_kernel(x / scale, df) - (log(scale) - math.log(2)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jnp.abs(StudentT(self.df, 0.0, self.scale).sample(key, sample_shape))

    def cdf(self, value: Any) -> jax.Array:
        x, df, scale = align(value, self.df, self.scale)
        z = jnp.maximum(x / scale, 0.0)
        return 1 - jsp.betainc(0.5 * jnp.broadcast_to(df, z.shape), 0.5, df / (df + z * z))

    def entropy(self) -> jax.Array:
        return StudentT(self.df, 0.0, self.scale).entropy() - math.log(2)


class LogNormal(AbstractDistribution):
    """The exponential of a normal variable.

    **Fields**
    - `loc`: mean of the logarithm, any real.
    - `scale`: standard deviation of the logarithm, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        is_outside = x <= 0
        log_x = jnp.log(jnp.where(is_outside, 1.0, x))
        z = (log_x - loc) / scale
        return jnp.where(is_outside, -jnp.inf, -0.5 * (z * z) - log_x - (log(scale) + HALF_LOG_TWO_PI))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, loc, scale = align(
            jax.random.normal(key, self._shape(sample_shape), self.dtype), self.loc, self.scale
        )
        return jnp.exp(loc + scale * noise)

    def cdf(self, value: Any) -> jax.Array:
        x, loc, scale = align(value, self.loc, self.scale)
        inside = x > 0
        return jnp.where(inside, jsp.ndtr((jnp.log(jnp.where(inside, x, 1.0)) - loc) / scale), 0.0)

    def icdf(self, q: Any) -> jax.Array:
        q, loc, scale = align(q, self.loc, self.scale)
        return jnp.exp(loc + scale * jsp.ndtri(q))

    def entropy(self) -> jax.Array:
        loc, scale = self._arrays("loc", "scale")
        return loc + jnp.log(scale) + (HALF_LOG_TWO_PI + 0.5)
