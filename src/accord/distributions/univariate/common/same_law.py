"""Define the base class of distributions that are another family with other parameters."""

from abc import abstractmethod
from typing import Any

import jax

from ...base import AbstractDistribution, Shape
from ...constraint import Constraint


class AbstractSameLaw(AbstractDistribution):
    """Abstract base class: delegates to another distribution, built from this one's parameters on every use."""

    @property
    @abstractmethod
    def _same(self) -> AbstractDistribution:
        """Return the equal distribution of the other family."""

    @property
    def support(self) -> Constraint:
        return self._same.support

    @property
    def mean(self) -> jax.Array:
        return self._same.mean

    @property
    def variance(self) -> jax.Array:
        return self._same.variance

    @property
    def mode(self) -> jax.Array:
        return self._same.mode

    def log_prob(self, value: Any) -> jax.Array:
        return self._same.log_prob(value)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self._same.sample(key, sample_shape)

    def cdf(self, value: Any) -> jax.Array:
        return self._same.cdf(value)

    def icdf(self, q: Any) -> jax.Array:
        return self._same.icdf(q)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._same.log_cdf(value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._same.log_survival(value)

    def entropy(self) -> jax.Array:
        return self._same.entropy()
