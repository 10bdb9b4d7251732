"""Define the base class of distributions whose log tails are computed together."""

from abc import abstractmethod
from typing import Any

import jax
import jax.numpy as jnp

from ...base import AbstractDistribution
from ...special import exp_of


class AbstractTwoTailed(AbstractDistribution):
    """Abstract base class of distributions of numbers whose two log tails are computed together."""

    @abstractmethod
    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """Return log probabilities of at most any value, and above it."""

    def cdf(self, value: Any) -> jax.Array:
        return exp_of(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._log_tails(value)[0]

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_tails(value)[1]


def with_ends(
    is_below: jax.Array, is_above: jax.Array, tails: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """Return both log tails: as computed within the support, 0 or -inf outside."""
    below, above = tails
    return (
        jnp.where(is_below, -jnp.inf, jnp.where(is_above, 0.0, below)),
        jnp.where(is_below, 0.0, jnp.where(is_above, -jnp.inf, above)),
    )
