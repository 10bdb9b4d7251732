"""Leave out some of the events of a distribution."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from ..base import AbstractDistribution, Shape
from .enumerated import enumerate_in
from .same_event import AbstractOfSameEvent


class MaskedDistribution(AbstractOfSameEvent):
    """Masked distribution: only events whose mask is True contribute to the log density.

    **Fields**
    - `base`: any distribution.
    - `where`: booleans that broadcast with the batch shape; True counts.

    **Density**: the density of `base` where `where` is True, 1 elsewhere.

    **Source**: Little & Rubin (2019), Statistical Analysis with Missing Data, section 6.2.
    """

    base: AbstractDistribution
    where: Any

    def __check_init__(self) -> None:
        if jnp.result_type(self.where) != jnp.bool_:
            raise DistributionError(
                f"{type(self.base).__name__}.mask: the mask has dtype {jnp.result_type(self.where)}. Give booleans, "
                "True where an event counts."
            )

    @property
    def batch_shape(self) -> Shape:
        return np.broadcast_shapes(self.base.batch_shape, np.shape(self.where))

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        batch = value.shape[: value.ndim - self.event_dim]
        where = jnp.broadcast_to(self.where, jnp.broadcast_shapes(batch, np.shape(self.where)))
        whole = where.shape + value.shape[value.ndim - self.event_dim :]
        # The value is replaced before the density is computed: hiding only the result would let NaN into the gradient.
        shown = jnp.expand_dims(where, range(where.ndim, len(whole)))
        value = jnp.broadcast_to(value, whole)
        feasible = self.support.feasible_like(value).astype(value.dtype)
        value = jnp.where(jnp.broadcast_to(shown, whole), value, feasible)
        result = self.base.log_prob(value)
        return jnp.where(jnp.broadcast_to(where, result.shape), result, 0.0)

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self._whole().sample(key, sample_shape)

    def cdf(self, value: Any) -> jax.Array:
        return self._whole().cdf(value)

    def icdf(self, q: Any) -> jax.Array:
        return self._whole().icdf(q)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._whole().log_cdf(value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._whole().log_survival(value)

    def entropy(self) -> jax.Array:
        where = jnp.broadcast_to(jnp.asarray(self.where), self.batch_shape)
        return jnp.where(where, self._whole().entropy(), 0.0)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        """List all values of a finite support along a new first axis."""
        return enumerate_in(self.base, self.batch_shape, expand)

    def _whole(self) -> AbstractDistribution:
        """Return the base in this batch shape: the mask changes the density, not the draws."""
        return self.base if self.base.batch_shape == self.batch_shape else self.base.expand(self.batch_shape)
