"""Compute mean, variance and entropy of a truncated whole-number distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from ...core.errors import DistributionError
from ..summary.counts import count_entropy_of, count_mean_of, count_variance_of
from .few_values import few_shares, span_if_few
from .interval_support import cuts

if TYPE_CHECKING:
    from ..base import AbstractDistribution


@dataclass(frozen=True)
class WholeBetween:
    """Summaries of `law`, which is `base` between `low` and `high`; each of the batch shape.

    Mean and variance are infinite where the base's are and no bound cuts its upper tail.
    """

    law: "AbstractDistribution"
    base: "AbstractDistribution"
    low: Any
    high: Any
    knots: Callable[[], jax.Array]

    def mean(self) -> jax.Array:
        """Return the expectation."""
        few = self._few()
        if few is not None:
            return _mean(*few)
        return unless_infinite(
            self.base, self.high, lambda: self.base.mean, count_mean_of(self.law, self.knots())
        )

    def variance(self) -> jax.Array:
        """Return the variance."""
        few = self._few()
        if few is not None:
            values, log_share = few
            return _mean((values - _mean(*few)[None]) ** 2, log_share)
        return unless_infinite(
            self.base, self.high, lambda: self.base.variance, count_variance_of(self.law, self.knots())
        )

    def entropy(self) -> jax.Array:
        """Return the entropy in nats."""
        few = self._few()
        if few is None:
            return count_entropy_of(self.law, self.knots())
        _, log_share = few
        return _mean(-jnp.where(log_share > -jnp.inf, log_share, 0.0), log_share)

    def _few(self) -> tuple[jax.Array, jax.Array] | None:
        """Return all values and their log shares, if they are known to be few."""
        span = span_if_few(self.base, self.low, self.high)
        zeros = jnp.zeros(self.law.batch_shape, self.law.dtype)
        return None if span is None else few_shares(self.base, zeros, span)


def _mean(of: jax.Array, log_share: jax.Array) -> jax.Array:
    """Return the average over the first axis."""
    return (jnp.exp(log_share) * of).sum(axis=0)


def unless_infinite(
    base: "AbstractDistribution", high: Any, of_base: Callable[[], jax.Array], found: jax.Array
) -> jax.Array:
    """Return a finite sum, or infinity where the base's is infinite and no bound cuts its upper tail."""
    try:
        announced = of_base()
    except DistributionError:
        return found
    is_cut = jnp.asarray(cuts(base, high, False))
    is_finite = jnp.isfinite(jnp.broadcast_to(announced, found.shape))
    return jnp.where(is_finite | is_cut, found, jnp.inf)
