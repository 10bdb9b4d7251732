"""Define Student's t distribution and its half (positive) form."""

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
    keep_inside,
    log,
    log1p_square,
    log_gamma_step,
    log_of,
    log_student_density,
    standardise,
    student_centre,
    student_centre_quantile,
    student_log_centre,
    student_log_tail,
    student_quantile,
    student_tail,
)
from ...special.basic.quadrature import together


class StudentT(AbstractDistribution):
    """Student's t distribution on the real line: heavy tails for small `df`, normal for large `df`.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean exists above 1, the variance above 2.
    - `loc`: centre, any real.
    - `scale`: > 0; the standard deviation only as `df` grows.

    **Density**: `Gamma((df+1)/2) / (Gamma(df/2) sqrt(pi df) scale) (1 + z^2/df)^(-(df+1)/2)`, z = (x - loc) / scale.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 28.
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

    @property
    def mode(self) -> jax.Array:
        return self._full(self.loc)

    def log_prob(self, value: Any) -> jax.Array:
        x, df, loc, scale = align(value, self.df, self.loc, self.scale)
        return _log_density(standardise(x, loc, scale), df) - log(scale)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, (df,) = self._shape(sample_shape), self._arrays("df")
        noise, loc, scale = align(_draw(key, df, shape), self.loc, self.scale)
        return keep_inside(loc + scale * noise)

    def cdf(self, value: Any) -> jax.Array:
        size, df, is_lower = self._fold(value)
        tail = student_tail(size, df)
        return jnp.where(is_lower, tail, 1.0 - tail)

    def icdf(self, q: Any) -> jax.Array:
        q, df, loc, scale = align(q, self.df, self.loc, self.scale)
        q, df = together(q, df)
        is_lower = q < 0.5
        size = student_quantile(log_of(jnp.where(is_lower, q, 1.0 - q)), df)
        return loc + scale * jnp.where(is_lower, -size, size)

    def log_cdf(self, value: Any) -> jax.Array:
        size, df, is_lower = self._fold(value)
        return _log_tail(size, df, is_lower)

    def log_survival(self, value: Any) -> jax.Array:
        size, df, is_lower = self._fold(value)
        return _log_tail(size, df, ~is_lower)

    def entropy(self) -> jax.Array:
        df, scale = self._arrays("df", "scale")
        half = 0.5 * df
        step, slope = jax.jvp(log_gamma_step, (half,), (jnp.ones_like(half),))
        # (df + 1)/2 times the difference of digammas half a unit apart, which are 1/df and a little more.
        return (half + 0.5) * (slope + 0.5 / half) - step + HALF_LOG_TWO_PI + jnp.log(scale)

    def _fold(self, value: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the distance from the centre in units of the scale, df as an array of its shape, and the side."""
        x, df, loc, scale = align(value, self.df, self.loc, self.scale)
        z, df = together((x - loc) / scale, df)
        is_lower = z < 0
        return jnp.where(is_lower, -z, z), df, is_lower


class HalfStudentT(AbstractDistribution):
    """Half Student's t distribution of positive numbers: a common prior for scales.

    **Fields**
    - `df`: degrees of freedom, > 0; the mean is finite above 1, the variance above 2.
    - `scale`: scale of the Student t variable, > 0.

    **Density**: `2 Gamma((df+1)/2) / (Gamma(df/2) sqrt(pi df) scale) (1 + z^2/df)^(-(df+1)/2)`, z = x / scale >= 0.

    **Source**: Gelman (2006), Bayesian Analysis 1(3), 515-534, section 3.2.
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
        return jnp.where(df > 2, second - jnp.where(df > 2, self.mean, 0.0) ** 2, jnp.inf)

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        x, df, scale = align(value, self.df, self.scale)
        return jnp.where(x < 0, -jnp.inf, _log_density(x / scale, df) - (log(scale) - math.log(2)))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        shape, (df,) = self._shape(sample_shape), self._arrays("df")
        noise, scale = align(_draw(key, df, shape), self.scale)
        return keep_inside(scale * jnp.abs(noise))

    def cdf(self, value: Any) -> jax.Array:
        return student_centre(*self._standardise(value))

    def icdf(self, q: Any) -> jax.Array:
        q, df, scale = align(q, self.df, self.scale)
        return scale * student_centre_quantile(*together(q, df))

    def log_cdf(self, value: Any) -> jax.Array:
        return student_log_centre(*self._standardise(value))

    def log_survival(self, value: Any) -> jax.Array:
        return student_log_tail(*self._standardise(value)) + math.log(2)

    def entropy(self) -> jax.Array:
        return StudentT(self.df, 0.0, self.scale).entropy() - math.log(2)

    def _standardise(self, value: Any) -> tuple[jax.Array, ...]:
        """Return the value over the scale, 0 below the support, and df as an array of its shape."""
        x, df, scale = align(value, self.df, self.scale)
        return together(jnp.where(x < 0, 0.0, x) / scale, df)


def _log_density(z: jax.Array, df: Any) -> jax.Array:
    """Return the log density of Student's t at location 0, scale 1; no slope is computed by a constant df."""
    if isinstance(df, float):
        constant = log_gamma_step(0.5 * df) - HALF_LOG_TWO_PI
        return constant - (0.5 * (df + 1)) * log1p_square(z / math.sqrt(df))
    return log_student_density(z, df)


def _log_tail(size: jax.Array, df: jax.Array, is_own: jax.Array) -> jax.Array:
    """Return the log probability of the tail in which a point lies, or of everything else."""
    log_tail = student_log_tail(size, df)
    return jnp.where(is_own, log_tail, jnp.log1p(-jnp.exp(log_tail)))


def _draw(key: jax.Array, df: jax.Array, shape: Shape) -> jax.Array:
    """Draw Student's t variables; the chi-squared variable is drawn as a log, as it underflows for small df."""
    key_normal, key_gamma = jax.random.split(key)
    half = jnp.broadcast_to(0.5 * df, shape)
    log_scale = 0.5 * (jnp.log(half) - jax.random.loggamma(key_gamma, half, shape, df.dtype))
    most = math.log(float(jnp.finfo(df.dtype).max)) - 4
    return jax.random.normal(key_normal, shape, df.dtype) * jnp.exp(jnp.minimum(log_scale, most))
