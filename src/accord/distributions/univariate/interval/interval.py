"""Define the beta and uniform distributions on a bounded interval."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from ....bijectors import align, is_concrete
from ... import constraints
from ...base import AbstractDistribution, Shape
from ...constraint import Constraint
from ...special import (
    beta_cdf,
    beta_quantile,
    digamma_less_log,
    keep_inside,
    log,
    log1m,
    log_beta,
    log_beta_cdf,
    log_beta_survival,
    log_gamma_remainder,
    log_of,
    softplus,
)
from ...special.basic.shares import of_arrays, share_against_mean
from ..common.on_interval import AbstractSymmetricOnInterval


class Beta(AbstractDistribution):
    """Beta distribution on (0, 1): a share or probability, such as after some successes and failures.

    **Fields**
    - `concentration1`: weight towards 1, > 0 (often called alpha).
    - `concentration0`: weight towards 0, > 0 (often called beta).

    **Density**: `x^(a-1) (1-x)^(b-1) / B(a, b)`, a = concentration1, b = concentration0.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 25.
    """

    concentration1: Any
    concentration0: Any
    parameters: ClassVar[dict[str, Constraint]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }

    @property
    def support(self) -> Constraint:
        return constraints.unit_interval

    @property
    def mean(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        return a / (a + b)

    @property
    def variance(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        total = a + b
        return (a / total) * (b / total) / (total + 1)

    @property
    def mode(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        peaked = (a >= 1) & (b >= 1) & (a + b > 2)
        peak = (a - 1) / jnp.where(peaked, a + b - 2, 1.0)
        return jnp.where(peaked, peak, jnp.where((a >= 1) & (b < 1), 1.0, 0.0))

    def log_prob(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        # An end belongs to the support where its concentration is known to be 1: the density is then finite there.
        outside_low = x < 0 if is_one(a) else x <= 0
        outside_high = x > 1 if is_one(b) else x >= 1
        is_outside = outside_low | outside_high
        safe = jnp.where(is_outside, 0.5, x)
        if isinstance(a, float) and isinstance(b, float) and max(a, b) < 100:
            log_low, log_high, constant = jnp.log(safe), jnp.log1p(-safe), -log_beta(a, b)
        elif is_one(a) or is_one(b):
            log_low, log_high, constant = _relative_logs(safe, a, b)
        else:
            return jnp.where(is_outside, -jnp.inf, _log_density_of_shares(safe, a, b))
        total = jnp.asarray(constant, x.dtype)
        if not is_one(a):
            total = total + (a - 1) * log_low
        if not is_one(b):
            total = total + (b - 1) * log_high
        return jnp.where(is_outside, -jnp.inf, total)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        key_1, key_0 = jax.random.split(key)
        shape = self._shape(sample_shape)
        # The odds are a ratio of gamma variables, whose logarithms do not underflow for small concentrations.
        odds = jax.random.loggamma(key_0, b, shape, a.dtype) - jax.random.loggamma(key_1, a, shape, a.dtype)
        return keep_inside(jnp.exp(-softplus(odds)), low=0.0, high=1.0)

    def cdf(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        return beta_cdf(a, b, x)

    def icdf(self, q: Any) -> jax.Array:
        q, a, b = align(q, self.concentration1, self.concentration0)
        return beta_quantile(a, b, q)

    def log_cdf(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        return log_beta_cdf(a, b, x)

    def log_survival(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        return log_beta_survival(a, b, x)

    def entropy(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        total = a + b
        # log B and the digammas without their logarithms, which cancel except for these terms.
        remainders = log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(total)
        logs = jnp.log(a / total) + jnp.log(b / total)
        slopes = (a - 1) * digamma_less_log(a) + (b - 1) * digamma_less_log(b)
        return remainders + logs - slopes + (total - 2) * digamma_less_log(total)


class Uniform(AbstractSymmetricOnInterval):
    """Uniform distribution on an interval, ends included.

    **Fields**
    - `low`, `high`: ends of the interval, finite, `low < high`; both may be traced.

    **Density**: `1 / (high - low)`.

    **Source**: Johnson, Kotz & Balakrishnan (1995), Continuous Univariate Distributions 2, ch. 26.
    """

    low: Any = 0.0
    high: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"low": constraints.real, "high": constraints.real}

    def __check_init__(self) -> None:
        is_open = [
            is_concrete(end) and bool(np.isinf(np.asarray(end)).any()) for end in (self.low, self.high)
        ]
        if any(is_open):
            raise self.refuse(
                f"low={self.low} and high={self.high}: on an infinite range its density is zero everywhere",
                "A flat prior there is improper; if the data make the posterior proper, write "
                f"{_flat_prior(self.low, self.high, *is_open)}. A prior with a scale is better.",
            )

    @property
    def variance(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return (high - low) ** 2 / 12

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high = align(value, self.low, self.high)
        # NaN is neither inside nor outside.
        inside = jnp.where(jnp.isnan(x), jnp.nan, jnp.asarray(-log(high - low), x.dtype))
        return jnp.where((x < low) | (x > high), -jnp.inf, inside)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, low, high = align(
            jax.random.uniform(key, self._shape(sample_shape), self.dtype), self.low, self.high
        )
        # Rounding may carry a draw over the upper end.
        return jnp.minimum(low + (high - low) * noise, high)

    def cdf(self, value: Any) -> jax.Array:
        return self._shares(value)[0]

    def icdf(self, q: Any) -> jax.Array:
        q, low, high = align(q, self.low, self.high)
        return low + (high - low) * q

    def log_cdf(self, value: Any) -> jax.Array:
        below, above = self._shares(value)
        return jnp.where(below < 0.5, log_of(below), log1m(above))

    def log_survival(self, value: Any) -> jax.Array:
        below, above = self._shares(value)
        return jnp.where(below < 0.5, log1m(below), log_of(above))

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return jnp.log(high - low)

    def _shares(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return the parts of the interval below and above the value."""
        x, low, high = align(value, self.low, self.high)
        is_low, is_high = x < low, x > high
        below, above = (x - low) / (high - low), (high - x) / (high - low)
        return (
            jnp.where(is_low, 0.0, jnp.where(is_high, 1.0, below)),
            jnp.where(is_low, 1.0, jnp.where(is_high, 0.0, above)),
        )


def _flat_prior(low: Any, high: Any, is_open_below: bool, is_open_above: bool) -> str:
    """Say how to write an improper prior on an infinite range."""
    if is_open_below and is_open_above:
        return "`dist.Flat()`"
    if is_open_above:
        return f"`dist.FlatPos({low})`"
    return f"`dist.ImproperUniform(constraints.less_than({high}), (), ())`"


def is_one(concentration: Any) -> bool:
    """Return whether a concentration is known, while tracing, to be 1: its term is then absent from the density."""
    return isinstance(concentration, float) and concentration == 1


def _log_density_of_shares(x: jax.Array, a: Any, b: Any) -> jax.Array:
    """Return the log density inside, with concentration slopes that stay accurate at a sharp beta's mean."""
    remainders = log_gamma_remainder(a + b) - log_gamma_remainder(a) - log_gamma_remainder(b)
    log_low, log_high, _ = _relative_logs(x, a, b)
    x, a, b, log_low, log_high = of_arrays(x, a, b, log_low, log_high)
    low = share_against_mean(x, a, log_low, jnp.log(a / (a + b)))
    return low + share_against_mean(1 - x, b, log_high, jnp.log(b / (a + b))) + remainders


def _relative_logs(x: jax.Array, a: Any, b: Any) -> tuple[jax.Array, jax.Array, Any]:
    """Return logs of x and 1 - x over their means, and the constant that completes the density.

    Near the mean of a sharp beta both logs are small, so large concentrations multiply nothing large.
    """
    total = a + b
    # Combine the nearer end's term with the far concentration first: 1 - x is exact above a half.
    is_low, y = x < 0.5, 1 - x
    log_low = jnp.where(
        is_low, jnp.log(x * (total / a)), jnp.log1p((b - jnp.where(is_low, b / total, y) * total) / a)
    )
    log_high = jnp.where(
        is_low, jnp.log1p((a - jnp.where(is_low, x, a / total) * total) / b), jnp.log(y * (total / b))
    )
    remainders = log_gamma_remainder(total) - log_gamma_remainder(a) - log_gamma_remainder(b)
    return log_low, log_high, remainders - log(a / total) - log(b / total)
