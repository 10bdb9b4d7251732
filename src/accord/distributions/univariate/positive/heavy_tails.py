"""Define the Dagum and log-logistic distributions of positive numbers with power-law tails."""

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
from ...special import log, log_beta, logistic, softplus
from ...special.basic.smooth import log_complement, log_cosh, log_expm1, log_ratio
from ..common.same_law import AbstractSameLaw

_EULER = float(np.euler_gamma)


class Dagum(AbstractDistribution):
    """Dagum distribution of positive numbers, such as incomes: a power law at both ends.

    **Fields**
    - `concentration`: > 0; the lower tail has the exponent `concentration * sharpness`.
    - `sharpness`: > 0; exponent of the upper tail. The mean exists above 1, the variance above 2.
    - `scale`: > 0.

    **Density**: `a p / x (x / b)^(a p) / (1 + (x / b)^a)^(p + 1)`, p = concentration, a = sharpness, b = scale.

    **Source**: Kleiber (2008), A guide to the Dagum distributions, in Modeling Income Distributions and Lorenz Curves.
    """

    concentration: Any
    sharpness: Any
    scale: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration": constraints.positive,
        "sharpness": constraints.positive,
        "scale": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.positive

    @property
    def mean(self) -> jax.Array:
        _, a, scale = self._arrays("concentration", "sharpness", "scale")
        return jnp.where(a > 1, scale * self._moment(1), jnp.inf)

    @property
    def variance(self) -> jax.Array:
        _, a, scale = self._arrays("concentration", "sharpness", "scale")
        return jnp.where(a > 2, scale**2 * (self._moment(2) - self._moment(1) ** 2), jnp.inf)

    @property
    def mode(self) -> jax.Array:
        p, a, scale = self._arrays("concentration", "sharpness", "scale")
        has_peak = a * p > 1
        ratio = jnp.where(has_peak, (a * p - 1) / (a + 1), 1.0)
        return jnp.where(has_peak, scale * jnp.exp(jnp.log(ratio) / a), 0.0)

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, w, p, a = _log_odds(value, self.concentration, self.sharpness, self.scale)
        log_prob = log(a) + log(p) - jnp.log(x) - p * softplus(-w) - softplus(w)
        return jnp.where(is_outside, -jnp.inf, log_prob)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return keep_inside(self.icdf(open_uniform(key, self._shape(sample_shape), self.dtype)), 0.0)

    def cdf(self, value: Any) -> jax.Array:
        return jnp.exp(self.log_cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        q, p, a, scale = align(q, self.concentration, self.sharpness, self.scale)
        return scale * jnp.exp(-log_expm1(-jnp.log(q) / p) / a)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, _, w, p, _ = _log_odds(value, self.concentration, self.sharpness, self.scale)
        return jnp.where(is_outside, -jnp.inf, -p * softplus(-w))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, _, w, p, _ = _log_odds(value, self.concentration, self.sharpness, self.scale)
        # Far out softplus(-w) is exp(-w) to rounding, and that may underflow.
        is_far = w > 40
        log_size = jnp.where(is_far, -w, jnp.log(softplus(-jnp.where(is_far, 0.0, w))))
        return jnp.where(is_outside, 0.0, log_complement(log(p) + log_size))

    def entropy(self) -> jax.Array:
        p, a, scale = self._arrays("concentration", "sharpness", "scale")
        mean_log_odds = jsp.digamma(p) + _EULER
        return 1 + 1 / p + mean_log_odds * (1 + 1 / a) + jnp.log(scale) - jnp.log(a) - jnp.log(p)

    def _moment(self, order: int) -> jax.Array:
        """Return the mean of a power of x / scale, where it exists."""
        p, a = self._arrays("concentration", "sharpness")
        share = order / jnp.where(a > order, a, 2.0 * order)
        return p * jnp.exp(log_beta(p + share, 1 - share))


class LogLogistic(AbstractSameLaw):
    """Log-logistic distribution of positive numbers: lifetimes with closed-form odds.

    **Fields**
    - `scale`: median, > 0.
    - `concentration`: > 0; exponent of both tails. The mean exists above 1, the variance above 2.

    **Density**: `(c / x) (x / scale)^c / (1 + (x / scale)^c)^2`, c = concentration.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 23, section 11.
    """

    scale: Any
    concentration: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }

    def log_prob(self, value: Any) -> jax.Array:
        is_outside, x, w, _, c = _log_odds(value, 1.0, self.concentration, self.scale)
        return jnp.where(is_outside, -jnp.inf, log(c) - jnp.log(x) - 2 * log_cosh(0.5 * w) - math.log(4))

    def cdf(self, value: Any) -> jax.Array:
        is_outside, _, w, _, _ = _log_odds(value, 1.0, self.concentration, self.scale)
        return jnp.where(is_outside, 0.0, logistic(w))

    def icdf(self, q: Any) -> jax.Array:
        q, scale, c = align(q, self.scale, self.concentration)
        return scale * jnp.exp((jnp.log(q) - jnp.log1p(-q)) / c)

    def log_cdf(self, value: Any) -> jax.Array:
        is_outside, _, w, _, _ = _log_odds(value, 1.0, self.concentration, self.scale)
        return jnp.where(is_outside, -jnp.inf, -softplus(-w))

    def log_survival(self, value: Any) -> jax.Array:
        is_outside, _, w, _, _ = _log_odds(value, 1.0, self.concentration, self.scale)
        return jnp.where(is_outside, 0.0, -softplus(w))

    @property
    def _same(self) -> Dagum:
        return Dagum(1.0, self.concentration, self.scale)


def _log_odds(value: Any, p: Any, a: Any, scale: Any) -> tuple[Any, ...]:
    """Return whether x is outside, a safe x, the log odds of the cdf at concentration 1, and two parameters."""
    x, p, a, scale = align(value, p, a, scale)
    is_outside = x <= 0
    x = jnp.where(is_outside, 1.0, x)
    return is_outside, x, a * log_ratio(x, scale), p, a
