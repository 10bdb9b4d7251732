"""Take one distribution or another, by a condition that may be traced."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..constraint.either import either


class Either(AbstractDistribution):
    """The distribution `first` where the condition holds, else `second`; the unused one has no influence.

    **Fields**
    - `condition`: bool of shape `()`.
    - `first`, `second`: of the one not taken, parameters may be anything.
    - `shape`, `event`: batch and event shape of both; `float_dtype`: as `dtype`.

    **Density**: the density of the chosen distribution. The unused distribution gets safe values instead: zero times a
    derivative that is not finite would be NaN.
    """

    condition: Any
    first: AbstractDistribution
    second: AbstractDistribution
    shape: Shape = eqx.field(static=True)
    event: Shape = eqx.field(static=True)
    float_dtype: np.dtype = eqx.field(static=True)

    @property
    def batch_shape(self) -> Shape:
        return self.shape

    @property
    def event_shape(self) -> Shape:
        return self.event

    @property
    def dtype(self) -> np.dtype:
        return self.float_dtype

    @property
    def support(self) -> Constraint:
        """Return the support of the chosen distribution."""
        return either(self.condition, self.first.support, self.second.support)

    @property
    def mean(self) -> jax.Array:
        return self._taken(self.first.mean, self.second.mean)

    @property
    def variance(self) -> jax.Array:
        return self._taken(self.first.variance, self.second.variance)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        first = jnp.where(self.condition, value, self.first.support.feasible_like(value))
        second = jnp.where(self.condition, self.second.support.feasible_like(value), value)
        return jnp.where(self.condition, self.first.log_prob(first), self.second.log_prob(second))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        draws = (
            each.sample(key, (*sample_shape, *self.shape[: len(self.shape) - len(each.batch_shape)]))
            for each in (self.first, self.second)
        )
        return jnp.where(self.condition, *draws)

    def _taken(self, first: jax.Array, second: jax.Array) -> jax.Array:
        return jnp.broadcast_to(jnp.where(self.condition, first, second), self._shape())
