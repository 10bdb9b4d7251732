"""Define the base class of distributions that change another's batch, not its events."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import constraint as c
from ..base import AbstractDistribution, Shape


class AbstractOfSameEvent(AbstractDistribution):
    """Abstract base class over the events of `base`, in a batch shape to which the base's broadcasts."""

    base: eqx.AbstractVar[AbstractDistribution]

    @property
    def event_shape(self) -> Shape:
        return self.base.event_shape

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @property
    def support(self) -> c.Constraint:
        return self.base.support

    @property
    def mean(self) -> jax.Array:
        return jnp.broadcast_to(self.base.mean, self._shape())

    @property
    def variance(self) -> jax.Array:
        return jnp.broadcast_to(self.base.variance, self._shape())

    @property
    def mode(self) -> jax.Array:
        return jnp.broadcast_to(self.base.mode, self._shape())
