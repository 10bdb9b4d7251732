"""Define ordered distributions: exchangeable elements in increasing order."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.tracebacks import entry_point
from .. import constraints
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint


class OrderedDistribution(AbstractDistribution):
    """Ordered distribution: exchangeable elements, sorted or given that they are in increasing order.

    Use it to break the symmetry of a mixture, whose components could otherwise swap labels.

    **Fields**
    - `base_dist`: a continuous distribution of vectors over the reals whose elements may be permuted without changing
      its density, such as `Normal(0, 1).expand((3,)).to_event(1)`.

    **Density**: `n! f(x)` for x_1 < ... < x_n.

    **Source**: David & Nagaraja (2003), Order Statistics, section 2.2.
    """

    base_dist: AbstractDistribution

    def __check_init__(self) -> None:
        if self.base_dist.event_dim != 1 or self.base_dist.is_discrete:
            raise self.refuse(
                f"{type(self.base_dist).__name__} is discrete or has event shape {self.base_dist.event_shape}",
                "Give a continuous distribution of vectors, such as `Normal(0, 1).expand((3,)).to_event(1)`.",
            )

    @property
    def batch_shape(self) -> Shape:
        return self.base_dist.batch_shape

    @property
    def event_shape(self) -> Shape:
        return self.base_dist.event_shape

    @property
    def dtype(self) -> np.dtype:
        return self.base_dist.dtype

    @property
    def support(self) -> Constraint:
        return constraints.ordered_vector

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        is_ordered = self.support(value) | jnp.isnan(value).any(axis=-1)
        inside = self.support.feasible_like(value).astype(value.dtype)
        x = jnp.where(jnp.expand_dims(is_ordered, -1), value, inside)
        count = math.lgamma(self.event_shape[0] + 1)
        result = self.base_dist.log_prob(x) + count
        return jnp.where(jnp.broadcast_to(is_ordered, result.shape), result, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return jnp.sort(self.base_dist.sample(key, sample_shape), axis=-1)


@entry_point
def ordered(distribution: AbstractDistribution) -> OrderedDistribution:
    """Build the distribution of exchangeable elements given that they are in increasing order."""
    return OrderedDistribution(distribution)
