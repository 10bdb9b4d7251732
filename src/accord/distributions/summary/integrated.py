"""Announce mean, variance, mode and entropy of a continuous univariate law that has no formula for them."""

import jax

from ..base import AbstractDistribution
from .moments import entropy_of, mean_of, variance_of
from .peak import mode_of


class AbstractIntegrated(AbstractDistribution):
    """A law whose summaries are integrated, and searched for, between its knots; each of the batch shape."""

    @property
    def mean(self) -> jax.Array:
        return mean_of(self, self._knots())

    @property
    def variance(self) -> jax.Array:
        return variance_of(self, self._knots())

    @property
    def mode(self) -> jax.Array:
        return mode_of(self, self._knots())

    def entropy(self) -> jax.Array:
        return entropy_of(self, self._knots())
