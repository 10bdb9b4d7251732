"""Distribute positive ratios of gamma variables: beta prime, and Fisher and Snedecor's F.

All is computed in the log odds of a beta variable, which here are the logarithm of the value but for a constant.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...bijectors import align
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..noise import keep_inside
from ..special import (
    beta_log_odds_quantile,
    digamma_less_log,
    exp_of,
    log1m,
    log1p_excess,
    log_gamma_remainder,
    log_of,
    one_less_exp,
)
from ..special.gamma_ratio import remainder_rise
from ..special.incomplete_beta import log_beta_tail, nearer_beta_tail
from ..special.quadrature import exp_rest, together
from ..special.smooth import log_ratio


class AbstractGammaRatio(AbstractDistribution):
    """A typical size times a ratio of two gamma variables, each over its mean."""

    @abstractmethod
    def _size_and_shapes(self, *parameters: Any) -> tuple[Any, Any, Any]:
        """The typical size, and the shapes of the upper and of the lower gamma variable."""

    @property
    def support(self) -> Constraint:
        return constraints.positive

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, a, b, distance = self._standardise(value)
        distance, a, b = together(distance, a, b)
        is_first = a > b
        large, small = jnp.where(is_first, a, b), jnp.where(is_first, b, a)
        constant = remainder_rise(large, small) - log_gamma_remainder(small)
        return jnp.where(is_outside, -jnp.inf, _log_fall(distance, a, b) + constant - jnp.log(x))

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
        is_outside, a, b, odds = self._log_odds(value)
        near, is_lower = nearer_beta_tail(a, b, odds)
        return jnp.where(is_outside, 0.0, jnp.where(is_lower, jnp.exp(near), one_less_exp(near)))

    def icdf(self, q: Any) -> jax.Array:
        q, *parameters = align(q, *(getattr(self, name) for name in self.parameters))
        size, a, b = self._size_and_shapes(*parameters)
        q, a, b = together(q, a, b)
        return exp_of(beta_log_odds_quantile(a, b, log_of(q), log1m(q)) - jnp.log(a / b)) * size

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, a, b, odds = self._log_odds(value)
        return jnp.where(is_outside, -jnp.inf, log_beta_tail(a, b, odds, jnp.ones(a.shape, bool)))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, a, b, odds = self._log_odds(value)
        return jnp.where(is_outside, 0.0, log_beta_tail(a, b, odds, jnp.zeros(a.shape, bool)))

    def entropy(self) -> jax.Array:
        size, a, b = self._size_and_shapes(*self._arrays(*self.parameters))
        total = a + b
        remainders = log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(total)
        slopes = (1 - a) * digamma_less_log(a) - (1 + b) * digamma_less_log(b)
        return remainders + slopes + total * digamma_less_log(total) + jnp.log(size)

    def _standardise(self, value: Any) -> tuple[Any, ...]:
        """Whether x is outside, x made safe, both shapes, and the log of x over its typical size."""
        x, *parameters = align(value, *(getattr(self, name) for name in self.parameters))
        is_outside = x <= 0
        size, a, b = self._size_and_shapes(*parameters)
        x = jnp.where(is_outside, 1.0, x)
        return is_outside, x, a, b, log_ratio(x, size)

    def _log_odds(self, value: Any) -> tuple[jax.Array, ...]:
        """Whether x is outside, both shapes, and the log odds of the beta variable, all of one shape."""
        is_outside, _, a, b, distance = self._standardise(value)
        a, b, distance = together(a, b, distance)
        return is_outside, a, b, distance + jnp.log(a / b)


class BetaPrime(AbstractGammaRatio):
    """The odds of a probability that has a beta distribution.

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
    """The F law: the ratio of two independent estimates of one variance.

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


@jax.custom_jvp
def _log_fall(distance: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """Log density of the log odds at a distance from their mode, relative to that at the mode."""
    p, q = a / (a + b), b / (a + b)
    is_upper = distance > 0
    size = jnp.where(is_upper, distance, -distance)
    is_near, is_far = size < 0.5, size > 30
    # Near the mode the linear terms, which cancel, are left out.
    near = jnp.where(is_near, distance, 0.0)
    bend = (a + b) * jnp.log1p(q * exp_rest(-p * near) + p * exp_rest(q * near))
    # Else what is left is of the size of the smaller share.
    share, other = jnp.where(is_upper, q, p), jnp.where(is_upper, p, q)
    is_small = share < 0.5
    outer, inner = jnp.where(is_upper, b, a), jnp.where(is_upper, a, b)
    fall = outer * size + (a + b) * jnp.log1p(jnp.where(is_small, share, 0.0) * jnp.expm1(-size))
    turned = jnp.where(is_far, 0.0, size)
    rise = inner * turned - (a + b) * jnp.log1p(other * jnp.expm1(turned))
    beyond = outer * size + (a + b) * jnp.log(other + share * jnp.exp(-size))
    away = jnp.where(is_small, -fall, jnp.where(is_far, -beyond, rise))
    return jnp.where(is_near, -bend, away)


@_log_fall.defjvp
def _log_fall_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, jax.Array]:
    distance, a, b = primals
    is_lower, p, q = distance < 0, a / (a + b), b / (a + b)
    size = jnp.where(is_lower, -distance, distance)
    less, left = -jnp.expm1(-size), jnp.exp(-size)
    lower, upper = q + p * left, p + q * left
    slope = a * q * less / jnp.where(is_lower, lower, -upper)
    by_a = _excess_of_log(jnp.where(is_lower, -q * less / lower, q * less / upper), -size - jnp.log(lower))
    by_b = _excess_of_log(jnp.where(is_lower, p * less / lower, -p * less / upper), -size - jnp.log(upper))
    return _log_fall(*primals), slope * tangents[0] + by_a * tangents[1] + by_b * tangents[2]


def _excess_of_log(u: jax.Array, log_1p: jax.Array) -> jax.Array:
    """log(1 + u) - u, from that logarithm where `u` is near -1."""
    is_far = u < -0.4
    return jnp.where(is_far, log_1p - u, log1p_excess(jnp.where(is_far, 0.0, u)))
