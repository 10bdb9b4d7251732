"""Define the inverse gamma distribution from the gamma distribution."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import (
    digamma_less_log,
    exp_of,
    gamma_survival,
    keep_inside,
    log,
    log_gamma_cdf,
    log_gamma_quantile_upper,
    log_gamma_remainder,
    log_gamma_survival,
    reciprocal,
)
from ...special.basic.excess import excess_by_log


class InverseGamma(AbstractDistribution):
    """Inverse gamma distribution of positive numbers: 1/x for x ~ Gamma(concentration, rate).

    **Fields**
    - `concentration`: shape, > 0; the mean exists above 1, the variance above 2.
    - `rate`: scale of this distribution, > 0.

    **Density**: `rate^a x^(-a-1) exp(-rate / x) / Gamma(a)`, a = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, section 17.8 (Pearson V).
    """

    concentration: Any
    rate: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return jnp.where(a > 1, rate / (jnp.where(a > 1, a, 2.0) - 1), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        safe = jnp.where(a > 2, a, 3.0)
        return jnp.where(a > 2, (rate / (safe - 1)) ** 2 / (safe - 2), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return rate / (a + 1)

    def log_prob(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        is_outside = x <= 0
        inside = jnp.where(is_outside, 1.0, x)
        log_inside = jnp.log(inside)
        # As for Gamma, whose value is 1/x.
        excess = excess_by_log(jnp.asarray(a, x.dtype), rate * reciprocal(inside), log(rate) - log_inside)
        inner = excess - log_inside - log_gamma_remainder(a)
        return jnp.where(is_outside, -jnp.inf, inner)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        (a,) = self._arrays("concentration")
        noise = jax.random.loggamma(key, a, self._shape(sample_shape), self.dtype)
        log_draw, rate = align(noise, self.rate)
        return keep_inside(jnp.exp(log(rate) - log_draw), low=0.0)

    def cdf(self, value: Any) -> jax.Array:
        return gamma_survival(*self._invert(value))

    def icdf(self, q: Any) -> jax.Array:
        q, a, rate = align(q, self.concentration, self.rate)
        return rate * exp_of(-log_gamma_quantile_upper(a, q))

    def log_cdf(self, value: Any) -> jax.Array:
        return log_gamma_survival(*self._invert(value))

    def log_survival(self, value: Any) -> jax.Array:
        return log_gamma_cdf(*self._invert(value))

    def entropy(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return log_gamma_remainder(a) - jnp.log(a) + jnp.log(rate) - (1 + a) * digamma_less_log(a)

    def _invert(self, value: Any) -> tuple[Any, jax.Array]:
        """Return the shape, and the gamma variable's value; infinite, with a zero gradient, below the support."""
        x, a, rate = align(value, self.concentration, self.rate)
        is_outside = x <= 0
        return a, jnp.where(is_outside, jnp.inf, rate * reciprocal(jnp.where(is_outside, 1.0, x)))
