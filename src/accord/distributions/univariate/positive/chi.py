"""Define the chi-squared and chi distributions: squared length and length of a standard normal vector."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align, is_number
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import (
    digamma_less_log,
    exp_of,
    gamma_cdf,
    keep_inside,
    log,
    log_gamma_cdf,
    log_gamma_quantile,
    log_gamma_remainder,
    log_gamma_step,
    log_gamma_survival,
)
from ..common.same_law import AbstractSameLaw
from .gamma import Gamma


class Chi2(AbstractSameLaw):
    """Chi-squared distribution of positive numbers: the sum of `df` squared standard normal variables.

    **Fields**
    - `df`: degrees of freedom, > 0.

    **Density**: `x^(df/2-1) exp(-x/2) / (2^(df/2) Gamma(df/2))`.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 18.
    """

    df: Any
    parameters: ClassVar[dict[str, Constraint]] = {"df": constraints.positive}

    @property
    def _same(self) -> Gamma:
        half = 0.5 * self.df if is_number(self.df) else 0.5 * self._arrays("df")[0]
        return Gamma(half, 0.5)


class Chi(AbstractDistribution):
    """Chi distribution of positive numbers: the length of a vector of `df` standard normal variables.

    **Fields**
    - `df`: degrees of freedom, > 0.

    **Density**: `x^(df-1) exp(-x^2/2) / (2^(df/2-1) Gamma(df/2))`.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 18.7.
    """

    df: Any
    parameters: ClassVar[dict[str, Constraint]] = {"df": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        (df,) = self._arrays("df")
        return jnp.sqrt(df) * jnp.exp(log_gamma_step(0.5 * df))

    @property
    def variance(self) -> jax.Array:
        (df,) = self._arrays("df")
        return -df * jnp.expm1(2 * log_gamma_step(0.5 * df))

    @property
    def mode(self) -> jax.Array:
        (df,) = self._arrays("df")
        peak = jnp.where(df > 1, jnp.sqrt(jnp.where(df > 1, df, 2.0) - 1), 0.0)
        return jnp.where(df == 1, jnp.nan, peak)

    def log_prob(self, value: Any) -> jax.Array:
        x, df = align(value, self.df)
        # r: the value over its size for large df; see Gamma.
        is_outside = x <= 0
        r = jnp.where(is_outside, 1.0, x) / (math.sqrt(df) if isinstance(df, float) else jnp.sqrt(df))
        constant = math.log(2) - 0.5 * log(df) - log_gamma_remainder(0.5 * df)
        exponent = (df - 1) * jnp.log(r) - 0.5 * df * (r - 1) * (r + 1)
        return jnp.where(is_outside, -jnp.inf, exponent + constant)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        (df,) = self._arrays("df")
        log_draw = jax.random.loggamma(key, 0.5 * df, self._shape(sample_shape), self.dtype)
        return keep_inside(jnp.exp(0.5 * (math.log(2) + log_draw)), low=0.0)

    def cdf(self, value: Any) -> jax.Array:
        return gamma_cdf(*self._square(value))

    def icdf(self, q: Any) -> jax.Array:
        q, df = align(q, self.df)
        return math.sqrt(2) * exp_of(0.5 * log_gamma_quantile(0.5 * df, q))

    def log_cdf(self, value: Any) -> jax.Array:
        return log_gamma_cdf(*self._square(value))

    def log_survival(self, value: Any) -> jax.Array:
        return log_gamma_survival(*self._square(value))

    def entropy(self) -> jax.Array:
        (df,) = self._arrays("df")
        half = 0.5 * df
        shape = log_gamma_remainder(half) - (half - 0.5) * digamma_less_log(half)
        return shape + 0.5 * jnp.log(half) - 0.5 * math.log(2)

    def _square(self, value: Any) -> tuple[Any, jax.Array]:
        """Return shape and value of the gamma variable x^2/2."""
        x, df = align(value, self.df)
        x = jnp.where(x < 0, 0.0, x)
        return 0.5 * df, 0.5 * x * x
