"""Give a cdf and both of its logarithms by one computation of the two tails, each accurate where it is small."""

from abc import abstractmethod
from typing import Any

import jax
import jax.numpy as jnp

from ..base import AbstractDistribution
from ..special import exp_of


class AbstractTwoTailed(AbstractDistribution):
    """A law of numbers of which the logarithms of both tails are computed together."""

    @abstractmethod
    def _log_tails(self, value: Any) -> tuple[jax.Array, jax.Array]:
        """The logs of the probabilities of being at most any value, and above it."""

    def cdf(self, value: Any) -> jax.Array:
        return exp_of(self.log_cdf(value))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._log_tails(value)[0]

    def log_survival(self, value: Any) -> jax.Array:
        return self._log_tails(value)[1]


def with_ends(
    is_below: jax.Array, is_above: jax.Array, tails: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """The logs of both tails: as computed within the support, certain below and above all of it."""
    below, above = tails
    return (
        jnp.where(is_below, -jnp.inf, jnp.where(is_above, 0.0, below)),
        jnp.where(is_below, 0.0, jnp.where(is_above, -jnp.inf, above)),
    )
