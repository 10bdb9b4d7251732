"""Distribute positive numbers by the gamma family: gamma, inverse gamma, exponential.

The densities are written in the ratio of the value to its typical size, so that for large concentrations nothing large
is subtracted from anything large.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import special as jsp

from ..bijectors import align
from . import constraints
from .base import AbstractDistribution, Shape
from .constraint import Constraint
from .interval import is_one
from .special import log, log_gamma_remainder


class Gamma(AbstractDistribution):
    """The gamma distribution.

    **Fields**
    - `concentration`: shape, > 0.
    - `rate`: inverse scale, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        if is_one(a):
            return Exponential(self.rate).log_prob(value)
        # r: the value over its mean. The density of log r is exp(-a (r - 1 - log r)) times a function of a alone.
        is_outside = x <= 0
        r = jnp.where(is_outside, 1.0, x) * (rate / a)
        constant = log(rate / a) - log_gamma_remainder(a)
        return jnp.where(is_outside, -jnp.inf, (a - 1) * jnp.log(r) - a * (r - 1) + constant)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        (concentration,) = self._arrays("concentration")
        noise, rate = align(
            jax.random.gamma(key, concentration, self._shape(sample_shape), self.dtype), self.rate
        )
        return noise / rate

    def cdf(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        z = jnp.maximum(rate * x, 0.0)
        return jsp.gammainc(jnp.broadcast_to(a, z.shape), z)

    def entropy(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return a - jnp.log(rate) + jsp.gammaln(a) + (1 - a) * jsp.digamma(a)


class InverseGamma(AbstractDistribution):
    """The distribution of 1/x for x ~ Gamma(concentration, rate).

    **Fields**
    - `concentration`: shape, > 0; the mean exists above 1, the variance above 2.
    - `rate`: scale of this distribution, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        # r: the mean of 1/x under x's distribution, inverted, over x; see Gamma.
        is_outside = x <= 0
        r = (rate / a) / jnp.where(is_outside, 1.0, x)
        constant = log(rate / a) + log_gamma_remainder(a)
        return jnp.where(is_outside, -jnp.inf, (a + 1) * jnp.log(r) - a * (r - 1) - constant)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return 1 / Gamma(self.concentration, self.rate).sample(key, sample_shape)

    def cdf(self, value: Any) -> jax.Array:
        x, a, rate = align(value, self.concentration, self.rate)
        inside = x > 0
        z = rate / jnp.where(inside, x, 1.0)
        return jnp.where(inside, jsp.gammaincc(jnp.broadcast_to(a, z.shape), z), 0.0)

    def entropy(self) -> jax.Array:
        a, rate = self._arrays("concentration", "rate")
        return a + jnp.log(rate) + jsp.gammaln(a) - (1 + a) * jsp.digamma(a)


class Exponential(AbstractDistribution):
    """The exponential distribution.

    **Fields**
    - `rate`: inverse of the mean, > 0.
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

    def log_prob(self, value: Any) -> jax.Array:
        x, rate = align(value, self.rate)
        return jnp.where(x < 0, -jnp.inf, log(rate) - rate * x)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, rate = align(jax.random.exponential(key, self._shape(sample_shape), self.dtype), self.rate)
        return noise / rate

    def cdf(self, value: Any) -> jax.Array:
        x, rate = align(value, self.rate)
        return -jnp.expm1(-rate * jnp.maximum(x, 0.0))

    def icdf(self, q: Any) -> jax.Array:
        q, rate = align(q, self.rate)
        return -jnp.log1p(-q) / rate

    def entropy(self) -> jax.Array:
        (rate,) = self._arrays("rate")
        return 1 - jnp.log(rate)
