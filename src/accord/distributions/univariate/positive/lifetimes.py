"""Define lifetime distributions: Weibull, Rayleigh and Gompertz."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ....bijectors import align
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...noise import keep_inside, open_uniform
from ...special import log, log1m_exp
from ...special.basic.smooth import (
    exp_excess,
    expm1,
    log_complement,
    log_ratio_by_logs,
    minus_exp,
    one_minus_exp_minus_exp,
)
from ...summary.integrated import AbstractIntegrated
from ..common.extreme_moments import extreme_variance
from ..common.same_law import AbstractSameLaw

_EULER = float(np.euler_gamma)


class Weibull(AbstractDistribution):
    """Weibull distribution of lifetimes: the hazard is a power of time.

    **Fields**
    - `scale`: > 0; the quantile of level `1 - exp(-1)`.
    - `concentration`: > 0; the hazard falls with time below 1, is constant at 1 and rises above.

    **Density**: `(c / x) (x / scale)^c exp(-(x / scale)^c)`, c = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 21.
    """

    scale: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        scale, c = self._arrays("scale", "concentration")
        return scale * jnp.exp(jsp.gammaln(1 + 1 / c))

    @property
    def variance(self) -> jax.Array:
        scale, c = self._arrays("scale", "concentration")
        return (scale / c) ** 2 * extreme_variance(-1 / c)

    @property
    def mode(self) -> jax.Array:
        scale, c = self._arrays("scale", "concentration")
        has_peak = c > 1
        c = jnp.where(has_peak, c, 2.0)
        return jnp.where(has_peak, scale * jnp.exp(jnp.log1p(-1 / c) / c), 0.0)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, w, c = self._log_hazard(value)
        return jnp.where(is_outside, -jnp.inf, log(c) - jnp.log(x) - 1.0 - exp_excess(w))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype)), 0.0)

    def cdf(self, value: Any) -> jax.Array:
        is_outside, _, w, _ = self._log_hazard(value)
        return jnp.where(is_outside, 0.0, one_minus_exp_minus_exp(w))

    def icdf(self, q: Any) -> jax.Array:
        q, scale, c = align(q, self.scale, self.concentration)
        return scale * jnp.exp(jnp.log(-jnp.log1p(-q)) / c)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, _, w, _ = self._log_hazard(value)
        return jnp.where(is_outside, -jnp.inf, log_complement(w))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, _, w, _ = self._log_hazard(value)
        return jnp.where(is_outside, 0.0, minus_exp(w))

    def entropy(self) -> jax.Array:
        scale, c = self._arrays("scale", "concentration")
        return 1 + _EULER * (1 - 1 / c) + jnp.log(scale) - jnp.log(c)

    def _log_hazard(self, value: Any) -> tuple[Any, ...]:
        """Return whether x is outside, a safe x, the log of the cumulative hazard and the concentration."""
        x, scale, c = align(value, self.scale, self.concentration)
        is_outside = x <= 0
        x = jnp.where(is_outside, 1.0, x)
        return is_outside, x, c * log_ratio_by_logs(x, scale), c


class Rayleigh(AbstractSameLaw):
    """Rayleigh distribution of positive numbers: the length of a vector of two independent normal variables.

    **Fields**
    - `scale`: > 0; standard deviation of either variable, and the mode.

    **Density**: `x / scale^2 exp(-x^2 / (2 scale^2))`.

    **Source**: Johnson, Kotz & Balakrishnan (1994), Continuous Univariate Distributions 1, ch. 18, section 10.
    """

    scale: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"scale": constraints.positive}

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mode(self) -> jax.Array:
        return self._full(self.scale)

    @property
    def _same(self) -> Weibull:
        _, scale = align(0.0, self.scale)
        return Weibull(math.sqrt(2) * scale, 2.0)


class Gompertz(AbstractIntegrated):
    """Gompertz distribution of lifetimes: the hazard grows exponentially with age.

    **Fields**
    - `concentration`: > 0; the hazard at age 0 is `concentration * rate`.
    - `rate`: > 0; growth rate of the hazard.

    **Density**: `c r exp(r x - c (exp(r x) - 1))`, c = concentration, r = rate.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 22, section 8.
    """

    concentration: Any
    rate: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.nonnegative

    @property
    def mode(self) -> jax.Array:
        c, rate = self._arrays("concentration", "rate")
        return jnp.maximum(-jnp.log(c), 0.0) / rate

    def entropy(self) -> jax.Array:
        # The cumulative hazard has an exponential distribution, of mean 1.
        c, rate = self._arrays("concentration", "rate")
        return 1 - log(c) - log(rate) - rate * self.mean

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, age, c, rate = self._age(value)
        return jnp.where(is_outside, -jnp.inf, log(c) + log(rate) + age - c * expm1(age))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype))

    def cdf(self, value: Any) -> jax.Array:
        _, age, c, _ = self._age(value)
        # The survival probability underflows beyond this cumulative hazard, in any precision.
        is_gone = c * jnp.expm1(age) > 2e4
        return jnp.where(is_gone, 1.0, -expm1(-c * expm1(jnp.where(is_gone, 0.0, age))))

    def icdf(self, q: Any) -> jax.Array:
        q, c, rate = align(q, self.concentration, self.rate)
        return jnp.log1p(-jnp.log1p(-q) / c) / rate

    def log_cdf(self, value: Any) -> jax.Array:
        _, age, c, _ = self._age(value)
        is_gone = c * jnp.expm1(age) > 2e4
        return jnp.where(is_gone, 0.0, log1m_exp(-c * expm1(jnp.where(is_gone, 0.0, age))))

    def log_survival(self, value: Any) -> jax.Array:
        _, age, c, _ = self._age(value)
        return -c * expm1(age)

    def _age(self, value: Any) -> tuple[Any, ...]:
        """Return whether x is outside, its safe product with the rate, and the parameters."""
        x, c, rate = align(value, self.concentration, self.rate)
        is_outside = x < 0
        return is_outside, rate * jnp.where(is_outside, 0.0, x), c, rate
