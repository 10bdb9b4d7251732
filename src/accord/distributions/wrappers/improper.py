"""Define the improper uniform prior on a support."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint, Independent, Real


class ImproperUniform(AbstractDistribution):
    """Improper uniform prior on `support`, with density 1; it cannot be sampled.

    **Fields**
    - `constraint`: the support, given as `support=` or in first place; any constraint.
    - `shape`: the batch shape.
    - `event`: the event shape; its length is at least the `event_dim` of the support.

    **Density**: `1` on the support.

    **Source**: Gelman et al. (2013), Bayesian Data Analysis, section 2.8.
    """

    constraint: Constraint
    shape: Shape = eqx.field(static=True)
    event: Shape = eqx.field(static=True)

    def __init__(self, support: Constraint, batch_shape: Shape, event_shape: Shape):
        self.constraint = support
        self.shape = tuple(batch_shape)
        self.event = tuple(event_shape)

    def __check_init__(self) -> None:
        if len(self.event) < self.constraint.event_dim:
            raise DistributionError(
                f"ImproperUniform: event_shape {self.event} has fewer axes than the "
                f"{self.constraint.event_dim} that the support needs. Move axes from batch_shape to event_shape."
            )

    @property
    def batch_shape(self) -> Shape:
        return self.shape

    @property
    def event_shape(self) -> Shape:
        return self.event

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(jnp.result_type(float))

    @property
    def support(self) -> Constraint:
        count = len(self.event) - self.constraint.event_dim
        return Independent(self.constraint, count) if count else self.constraint

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        dtype = value.dtype if jnp.issubdtype(value.dtype, jnp.floating) else self.dtype
        zero = jnp.zeros(value.shape[: value.ndim - len(self.event)], dtype)
        if isinstance(self.constraint, Real):
            return zero
        return jnp.where(self.support(value), zero, -jnp.inf)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        del key, sample_shape
        raise DistributionError(
            "ImproperUniform has no draws: it does not integrate to one. Draw from a proper prior instead."
        )
