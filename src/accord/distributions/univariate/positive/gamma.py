"""Define the gamma and exponential distributions: waiting times in a Poisson process.

The gamma density is written as an excess over the concentration, so that for large concentrations nothing large is
subtracted from anything large.
"""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_concrete
from ....core.errors import DistributionError
from ....core.options import checks_options
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import (
    digamma_less_log,
    gamma_cdf,
    gamma_quantile,
    keep_inside,
    log,
    log1m_exp,
    log_gamma_cdf,
    log_gamma_remainder,
    log_gamma_survival,
    log_rate,
    one_less_exp,
)
from ...special.basic.excess import excess_by_log
from ..interval.interval import is_one


class Gamma(AbstractDistribution):
    """Gamma distribution of positive numbers: the waiting time for `concentration` events of a Poisson process.

    **Fields**
    - `concentration`: shape, > 0.
    - `rate`: inverse scale, > 0.

    **Density**: `rate^a x^(a-1) exp(-rate x) / Gamma(a)`, a = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 17.
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
        concentration, rate = self._arrays("concentration", "rate")
        return concentration / rate

    @property
    def variance(self) -> jax.Array:
        concentration, rate = self._arrays("concentration", "rate")
        return concentration / rate**2

    @property
    def mode(self) -> jax.Array:
        concentration, rate = self._arrays("concentration", "rate")
        peak = jnp.where(concentration < 1, 0.0, (concentration - 1) / rate)
        return jnp.where(concentration == 1, jnp.nan, peak)

    def log_prob(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        if is_one(a):
            return Exponential(self.rate).log_prob(value)
        is_outside = x <= 0
        inside = jnp.where(is_outside, 1.0, x)
        if isinstance(a, float) and a < 10:
            # With a small constant shape nothing large cancels, and one logarithm is enough.
            inner = (a - 1) * jnp.log(inside) - rate * inside + (a * log_rate(rate) - math.lgamma(a))
            return jnp.where(is_outside, -jnp.inf, inner)
        # The density of the log value: an excess of the shape over rate times value, and a function of the shape alone.
        log_inside = jnp.log(inside)
        excess = excess_by_log(jnp.asarray(a, x.dtype), rate * inside, log_inside + log_rate(rate))
        inner = excess - log_inside - log_gamma_remainder(a)
        return jnp.where(is_outside, -jnp.inf, inner)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        (a,) = self._arrays("concentration")
        # As a logarithm, because draws of small shapes would underflow.
        noise = jax.random.loggamma(key, a, self._shape(sample_shape), self.dtype)
        log_draw, rate = align(noise, self.rate)
        return keep_inside(jnp.exp(log_draw - log(rate)), low=0.0)

    def cdf(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        return gamma_cdf(a, x, rate)

    def icdf(self, q: Any) -> jax.Array:
        q, a, rate = align(q, self.concentration, self.rate)
        return gamma_quantile(a, q) / rate

    def log_cdf(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        return log_gamma_cdf(a, rate * x)

    def log_survival(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        return log_gamma_survival(a, rate * x)

    def entropy(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return log_gamma_remainder(a) + jnp.log(a) - jnp.log(rate) + (1 - a) * digamma_less_log(a)


class Exponential(AbstractDistribution):
    """Exponential distribution of positive numbers: the waiting time for the first event of a Poisson process.

    **Fields**
    - `rate`: inverse of the mean, > 0.

    **Density**: `rate exp(-rate x)`, x >= 0.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 19.
    """

    rate: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"rate": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mean(self) -> jax.Array:
        (rate,) = self._arrays("rate")
        return 1 / rate

    @property
    def variance(self) -> jax.Array:
        (rate,) = self._arrays("rate")
        return 1 / rate**2

    @property
    def mode(self) -> jax.Array:
        return self._full(0.0)

    def log_prob(self, value: Any) -> jax.Array:
        x, rate = align(value, self.rate)
        return jnp.where(x < 0, -jnp.inf, log_rate(rate) - rate * x)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, rate = align(jax.random.exponential(key, self._shape(sample_shape), self.dtype), self.rate)
        return keep_inside(noise / rate)

    def cdf(self, value: Any) -> jax.Array:
        return one_less_exp(-self._hazard(value))

    def icdf(self, q: Any) -> jax.Array:
        q, rate = align(q, self.rate)
        return -jnp.log1p(-q) / rate

    def log_cdf(self, value: Any) -> jax.Array:
        return log1m_exp(-self._hazard(value))

    def log_survival(self, value: Any) -> jax.Array:
        return -self._hazard(value)

    def entropy(self) -> jax.Array:
        (rate,) = self._arrays("rate")
        return 1 - jnp.log(rate)

    def _hazard(self, value: Any) -> jax.Array:
        """Return the value in units of its mean, 0 below the support."""
        x, rate = align(value, self.rate)
        return rate * jnp.where(x < 0, 0.0, x)


@checks_options
def Erlang(concentration: Any, rate: Any = 1.0) -> Gamma:  # noqa: N802 - the name of a distribution
    """Erlang distribution: the waiting time for a whole number of events of a Poisson process.

    **Raises** `DistributionError` when the concentration is known now and is not a whole number.
    """
    if is_concrete(concentration) and (np.asarray(concentration) % 1 != 0).any():
        raise DistributionError(
            f"Erlang: concentration must be a whole number, got {concentration}. Use Gamma for other values."
        )
    return Gamma(concentration, rate)
