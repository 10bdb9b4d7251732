"""Define distributions of shares in (0, 1): Kumaraswamy, and beta by its mean."""

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
from ...parameters import check_parameter
from ...special import excess, log, log1m_exp, log_beta, log_gamma_remainder
from ...special.basic.smooth import expm1, expm1_ratio, log_complement
from ..common.same_law import AbstractSameLaw
from .interval import Beta

_EULER = float(np.euler_gamma)


class Kumaraswamy(AbstractDistribution):
    """Kumaraswamy distribution on (0, 1): similar to the beta, with a closed-form cdf.

    **Fields**
    - `concentration1`: > 0; weight towards 1.
    - `concentration0`: > 0; weight towards 0.

    **Density**: `a b x^(a - 1) (1 - x^a)^(b - 1)`, a = concentration1, b = concentration0.

    **Source**: Jones (2009), Statistical Methodology 6, 70-81.
    """

    concentration1: Any
    concentration0: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.open_interval(0.0, 1.0)

    @property
    def mean(self) -> jax.Array:
        return self._moment(1)

    @property
    def variance(self) -> jax.Array:
        return jnp.maximum(self._moment(2) - self._moment(1) ** 2, 0.0)

    @property
    def mode(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        has_peak = (a > 1) & (b > 1)
        ratio = jnp.where(has_peak, a - 1, 1.0) / jnp.where(has_peak, a * b - 1, 1.0)
        peak = jnp.exp(jnp.log(ratio) / a)
        at_one = (a > 1) | ((a == 1) & (b < 1))
        return jnp.where(has_peak, peak, jnp.where(at_one, 1.0, 0.0))

    def log_prob(self, value: Any) -> jax.Array:
        _, log_x, log_rest, a, b, is_inside = self._logs(value)
        # a / (1 - x^a), which tends to -1 / log(x) as a falls.
        log_growth = -jnp.log(-log_x) - jnp.log(expm1_ratio(a * log_x))
        log_prob = log(b) + log_growth + (a - 1) * log_x + b * log_rest
        return jnp.where(is_inside, log_prob, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype)), 0.0, 1.0)

    def cdf(self, value: Any) -> jax.Array:
        x, _, log_rest, _, b, is_inside = self._logs(value)
        return jnp.where(is_inside, -expm1(b * log_rest), jnp.where(x < 0.5, 0.0, 1.0))

    def icdf(self, q: Any) -> jax.Array:
        q, a, b = align(q, self.concentration1, self.concentration0)
        return jnp.exp(log1m_exp(jnp.log1p(-q) / b) / a)

    def log_cdf(self, value: Any) -> jax.Array:
        x, log_x, log_rest, a, b, is_inside = self._logs(value)
        # For small x, -log(1 - x^a) is x^a to rounding, which may underflow.
        is_far = a * log_x < -40
        log_size = jnp.where(is_far, a * log_x, jnp.log(-jnp.where(is_far, -1.0, log_rest)))
        return jnp.where(is_inside, log_complement(log(b) + log_size), jnp.where(x < 0.5, -jnp.inf, 0.0))

    def log_survival(self, value: Any) -> jax.Array:
        x, _, log_rest, _, b, is_inside = self._logs(value)
        return jnp.where(is_inside, b * log_rest, jnp.where(x < 0.5, 0.0, -jnp.inf))

    def entropy(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        harmonic = jsp.digamma(b + 1) + _EULER
        return 1 - 1 / b + (1 - 1 / a) * harmonic - jnp.log(a) - jnp.log(b)

    def _moment(self, order: int) -> jax.Array:
        """Return the mean of a power of x."""
        a, b = self._arrays("concentration1", "concentration0")
        return jnp.exp(jnp.log(b) + log_beta(1 + order / a, b))

    def _logs(self, value: Any) -> tuple[Any, ...]:
        """Return x, safe logs of x and 1 - x^a, the parameters, and whether x is inside (or NaN)."""
        x, a, b = align(value, self.concentration1, self.concentration0)
        is_inside = ~((x <= 0) | (x >= 1))
        log_x = jnp.log(jnp.where(is_inside, x, 0.5))
        return x, log_x, log1m_exp(a * log_x), a, b, is_inside


class BetaProportion(AbstractSameLaw):
    """Beta distribution on (0, 1) by its mean and its concentration.

    **Fields**
    - `mean`: expectation, in (0, 1).
    - `concentration`: > 0; acts as a number of prior observations: the variance is `m (1 - m) / (1 + concentration)`.

    **Density**: `x^(m c - 1) (1 - x)^((1 - m) c - 1) / B(m c, (1 - m) c)`, m = mean, c = concentration.

    **Source**: Ferrari & Cribari-Neto (2004), Journal of Applied Statistics 31, 799-815.
    """

    expected: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "expected": constraints.open_interval(0.0, 1.0),
        "concentration": constraints.positive,
    }

    # `mean` itself is the property of every distribution, which has the batch shape.
    def __init__(self, mean: Any, concentration: Any):
        self.expected = mean
        self.concentration = concentration

    def __check_init__(self) -> None:
        check_parameter(type(self).__name__, "mean", self.parameters["expected"], self.expected)

    @property
    def mean(self) -> jax.Array:
        return self._full(self.expected)

    @property
    def variance(self) -> jax.Array:
        m, c = self._arrays("expected", "concentration")
        return m * (1 - m) / (1 + c)

    def log_prob(self, value: Any) -> jax.Array:
        x, m, c = align(value, self.expected, self.concentration)
        m, c = jnp.asarray(m, x.dtype), jnp.asarray(c, x.dtype)
        is_inside = (x > 0) & (x < 1)
        x_safe = jnp.where(is_inside, x, 0.5)
        log_x, log_y, gap = jnp.log(x_safe), jnp.log1p(-x_safe), x_safe - m
        # Both shares differ equally from their means: near them the excesses are squares, which do not cancel.
        shape = excess(m, gap, log_x - jnp.log(m)) + excess(1 - m, -gap, log_y - jnp.log1p(-m))
        remainders = log_gamma_remainder(c) - log_gamma_remainder(c * m) - log_gamma_remainder(c * (1 - m))
        outside = jnp.where(jnp.isnan(x), jnp.nan, -jnp.inf)
        return jnp.where(is_inside, c * shape + remainders - log_x - log_y, outside)

    @property
    def _same(self) -> Beta:
        _, m, c = align(0.0, self.expected, self.concentration)
        return Beta(m * c, (1 - m) * c)
