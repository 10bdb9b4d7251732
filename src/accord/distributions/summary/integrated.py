"""Define the base class of continuous distributions whose summaries are computed by quadrature."""

import jax

from ..base import AbstractDistribution
from .moments import entropy_of, mean_of, variance_of
from .peak import mode_of


class AbstractIntegrated(AbstractDistribution):
    """Abstract base class: summaries come from quadrature and search between knots, each of the batch shape."""

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
