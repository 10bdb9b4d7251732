"""Distribute numbers of a bounded interval: beta and uniform."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from ..bijectors import align, is_concrete
from . import constraints
from .base import AbstractDistribution, Shape
from .constraint import Constraint
from .special import log, log_beta, log_gamma_remainder


class Beta(AbstractDistribution):
    """The beta distribution on (0, 1).

    **Fields**
    - `concentration1`: weight towards 1, > 0 (often called alpha).
    - `concentration0`: weight towards 0, > 0 (often called beta).
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

    def log_prob(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        # An end belongs to the support where its concentration is known to be 1: the density is then finite there.
        outside_low = x < 0 if is_one(a) else x <= 0
        outside_high = x > 1 if is_one(b) else x >= 1
        is_outside = outside_low | outside_high
        safe = jnp.where(is_outside, 0.5, x)
        if isinstance(a, float) and isinstance(b, float) and max(a, b) < 100:
            log_low, log_high, constant = jnp.log(safe), jnp.log1p(-safe), -log_beta(a, b)
        else:
            log_low, log_high, constant = _relative_logs(safe, a, b)
        total = jnp.asarray(constant, x.dtype)
        if not is_one(a):
            total = total + (a - 1) * log_low
        if not is_one(b):
            total = total + (b - 1) * log_high
        return jnp.where(is_outside, -jnp.inf, total)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        return jax.random.beta(key, a, b, self._shape(sample_shape), self.dtype)

    def cdf(self, value: Any) -> jax.Array:
        x, a, b = align(value, self.concentration1, self.concentration0)
        x = jnp.clip(x, 0.0, 1.0)
        return jsp.betainc(a, b, x)

    def entropy(self) -> jax.Array:
        a, b = self._arrays("concentration1", "concentration0")
        by_element = (a - 1) * jsp.digamma(a) + (b - 1) * jsp.digamma(b) - (a + b - 2) * jsp.digamma(a + b)
        return log_beta(a, b) - by_element


class Uniform(AbstractDistribution):
    """The uniform distribution on [low, high].

    **Fields**
    - `low`, `high`: ends of the interval, finite, `low < high`; both may be traced.
    """

    low: Any = 0.0
    high: Any = 1.0
    parameters: ClassVar[dict[str, Constraint]] = {"low": constraints.real, "high": constraints.real}

    def __check_init__(self) -> None:
        check_bounds(self, self.low, self.high)

    @property
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return low + 0.5 * (high - low)

    @property
    def variance(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return (high - low) ** 2 / 12

    def log_prob(self, value: Any) -> jax.Array:
        x, low, high = align(value, self.low, self.high)
        return jnp.where((x >= low) & (x <= high), jnp.asarray(-log(high - low), x.dtype), -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        noise, low, high = align(
            jax.random.uniform(key, self._shape(sample_shape), self.dtype), self.low, self.high
        )
        return low + (high - low) * noise

    def cdf(self, value: Any) -> jax.Array:
        x, low, high = align(value, self.low, self.high)
        return jnp.clip((x - low) / (high - low), 0.0, 1.0)

    def icdf(self, q: Any) -> jax.Array:
        q, low, high = align(q, self.low, self.high)
        return low + (high - low) * q

    def entropy(self) -> jax.Array:
        low, high = self._arrays("low", "high")
        return jnp.log(high - low)


def check_bounds(distribution: AbstractDistribution, low: Any, high: Any) -> None:
    """Raise `DistributionError` unless `low < high` wherever both are known now; None is no bound."""
    if low is None or high is None or not (is_concrete(low) and is_concrete(high)):
        return
    low, high = np.broadcast_arrays(np.asarray(low), np.asarray(high))
    if (low >= high).any():
        where = np.argwhere(low >= high)[0]
        at = f" at index {tuple(int(i) for i in where)}" if where.size else ""
        raise distribution.refuse(
            f"low must be below high, got low={low[tuple(where)]} and high={high[tuple(where)]}{at}",
            "Check the order of the bounds.",
        )


def is_one(concentration: Any) -> bool:
    """Whether a concentration is the number 1, known while tracing: its term is then absent from the density."""
    return isinstance(concentration, float) and concentration == 1


def _relative_logs(x: jax.Array, a: Any, b: Any) -> tuple[jax.Array, jax.Array, Any]:
    """Logs of x and 1 - x over their means, and the constant that then completes the density.

    Near the mean of a sharp beta both logs are small, so large concentrations multiply nothing large.
    """
    total = a + b
    # What the nearer end takes away is compared with the far concentration first: 1 - x is exact above a half.
    is_low, y = x < 0.5, 1 - x
    log_low = jnp.where(
        is_low, jnp.log(x * (total / a)), jnp.log1p((b - jnp.where(is_low, b / total, y) * total) / a)
    )
    log_high = jnp.where(
        is_low, jnp.log1p((a - jnp.where(is_low, x, a / total) * total) / b), jnp.log(y * (total / b))
    )
    remainders = log_gamma_remainder(total) - log_gamma_remainder(a) - log_gamma_remainder(b)
    return log_low, log_high, remainders - log(a / total) - log(b / total)
