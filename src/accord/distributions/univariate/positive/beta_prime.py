"""Define the beta prime and F distributions: positive ratios of gamma variables.

All is computed in the logarithm of the value over a typical size.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside
from ...special import digamma_less_log, exp_of, log1m, log_gamma_remainder, log_of, one_less_exp
from ...special.basic.quadrature import together
from ...special.basic.smooth import log_ratio
from ...special.gamma_beta.ratio_tail import (
    log_ratio_density,
    log_ratio_tail,
    nearer_ratio_tail,
    ratio_quantile,
)


class AbstractGammaRatio(AbstractDistribution):
    """Abstract base class: a scale times a ratio of two gamma variables, each over its mean."""

    @abstractmethod
    def _size_and_shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        """Return the scale, and the shapes of the upper and of the lower gamma variable."""

    @property
    def support(self) -> Constraint:
        return constraints.positive

    def log_prob(self, value: Any) -> jax.Array:
        (x,) = align(value)
        is_outside, x, distance, a, b = self._standardise(jnp.where(x == jnp.inf, -1.0, x))
        return jnp.where(is_outside, -jnp.inf, log_ratio_density(distance, a, b) - jnp.log(x))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        size, a, b = self._size_and_shapes(*self._arrays(*self.parameters))
        key_1, key_0 = jax.random.split(key)
        shape = self._shape(sample_shape)
        # Logarithms, because gamma variables of small shapes underflow.
        upper = jax.random.loggamma(key_1, a, shape, self.dtype)
        lower = jax.random.loggamma(key_0, b, shape, self.dtype)
        log_odds, log_size = align(upper - lower, jnp.log(b / a * size))
        return keep_inside(jnp.exp(log_odds + log_size), 0.0)

    def cdf(self, value: Any) -> jax.Array:
        is_outside, _, distance, a, b = self._standardise(value)
        near, is_lower = nearer_ratio_tail(distance, a, b)
        return jnp.where(is_outside, 0.0, jnp.where(is_lower, jnp.exp(near), one_less_exp(near)))

    def icdf(self, q: Any) -> jax.Array:
        q, *parameters = align(q, *(getattr(self, name) for name in self.parameters))
        size, a, b = self._size_and_shapes(*parameters)
        q, a, b = together(q, a, b)
        return exp_of(ratio_quantile(a, b, log_of(q), log1m(q))) * size

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, x, distance, a, b = self._standardise(value)
        return jnp.where(is_outside, -jnp.inf, log_ratio_tail(distance, a, b, jnp.ones(x.shape, bool)))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, x, distance, a, b = self._standardise(value)
        return jnp.where(is_outside, 0.0, log_ratio_tail(distance, a, b, jnp.zeros(x.shape, bool)))

    def entropy(self) -> jax.Array:
        size, a, b = self._size_and_shapes(*self._arrays(*self.parameters))
        total = a + b
        remainders = log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(total)
        slopes = (1 - a) * digamma_less_log(a) - (1 + b) * digamma_less_log(b)
        return remainders + slopes + total * digamma_less_log(total) + jnp.log(size)

    def _standardise(self, value: Any) -> tuple[jax.Array, ...]:
        """Return whether x is outside, a safe x, the log of x over its scale, and both shapes."""
        x, *parameters = align(value, *(getattr(self, name) for name in self.parameters))
        size, a, b = self._size_and_shapes(*parameters)
        x, a, b = together(x, a, b)
        is_outside = x <= 0
        x = jnp.where(is_outside, 1.0, x)
        return is_outside, x, log_ratio(x, size), a, b


class BetaPrime(AbstractGammaRatio):
    """Beta prime distribution of positive numbers: the odds of a beta-distributed probability.

    **Fields**
    - `concentration1`: > 0; exponent of the lower tail.
    - `concentration0`: > 0; exponent of the upper tail. The mean exists above 1, the variance above 2.

    **Density**: `x^(a-1) (1 + x)^(-a-b) / B(a, b)`, a = concentration1, b = concentration0.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, section 25.7.
    """

    concentration1: Any
    concentration0: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        return jnp.where(b > 1, a / (jnp.where(b > 1, b, 2.0) - 1), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        safe = jnp.where(b > 2, b, 3.0)
        return jnp.where(b > 2, a / (safe - 1) * ((a + safe - 1) / (safe - 1)) / (safe - 2), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        return jnp.where(a == 1, jnp.nan, jnp.where(a < 1, 0.0, (a - 1) / (b + 1)))

    def _size_and_shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        a, b = parameters
        return a / b, a, b


class FisherSnedecor(AbstractGammaRatio):
    """F distribution (Fisher-Snedecor) of positive numbers: the ratio of two independent variance estimates.

    **Fields**
    - `df1`: degrees of freedom above, > 0.
    - `df2`: degrees of freedom below, > 0; the mean exists above 2, the variance above 4.

    **Density**: `sqrt((df1 x)^df1 df2^df2 / (df1 x + df2)^(df1 + df2)) / (x B(df1 / 2, df2 / 2))`, x > 0.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 27.
    """

    df1: Any
    df2: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }

    @property
    def mean(self) -> jax.Array:
        (df2,) = self._arrays("df2")
        return jnp.where(df2 > 2, df2 / (jnp.where(df2 > 2, df2, 3.0) - 2), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        safe = jnp.where(df2 > 4, df2, 5.0)
        share = safe / (safe - 2)
        return jnp.where(df2 > 4, 2 * share**2 * ((df1 + safe - 2) / df1) / (safe - 4), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        df1, df2 = self._arrays("df1", "df2")
        peak = (df1 - 2) / df1 * (df2 / (df2 + 2))
        return jnp.where(df1 == 2, jnp.nan, jnp.where(df1 < 2, 0.0, peak))

    def _size_and_shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        df1, df2 = parameters
        return 1.0, 0.5 * df1, 0.5 * df2
