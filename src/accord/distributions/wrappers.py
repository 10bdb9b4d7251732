"""Change the shape of a distribution, or leave out some of its events."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from . import constraint as c
from .base import AbstractDistribution, Shape


class Expanded(AbstractDistribution):
    """A distribution repeated independently over a larger batch shape.

    **Fields**
    - `base`: any distribution.
    - `shape`: the new batch shape, to which that of `base` broadcasts.
    """

    base: AbstractDistribution
    shape: Shape = eqx.field(static=True)

    def __check_init__(self) -> None:
        try:
            fits = np.broadcast_shapes(self.base.batch_shape, self.shape) == self.shape
        except ValueError:
            fits = False
        if not fits:
            raise DistributionError(
                f"{type(self.base).__name__} of batch shape {self.base.batch_shape} cannot be expanded to "
                f"{self.shape}. Give a shape to which it broadcasts."
            )

    @property
    def batch_shape(self) -> Shape:
        return self.shape

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

    def log_prob(self, value: Any) -> jax.Array:
        result = self.base.log_prob(value)
        return jnp.broadcast_to(result, jnp.broadcast_shapes(result.shape, self.shape))

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        # Draw one sample axis for every axis to be repeated, then move each to its place in the batch shape.
        new = len(self.shape) - len(self.base.batch_shape)
        padded = (1,) * new + self.base.batch_shape
        repeated = [i for i, size in enumerate(self.shape) if i < new or size != padded[i]]
        draws = self.base.sample(key, (*sample_shape, *(self.shape[i] for i in repeated)))
        kept = [i for i in range(len(self.shape)) if i not in repeated]
        first = len(sample_shape)
        draws = draws.reshape(
            (*draws.shape[: first + len(repeated)], *(self.shape[i] for i in kept), *self.event_shape)
        )
        order = repeated + kept
        batch = [first + order.index(i) for i in range(len(self.shape))]
        last = range(first + len(order), draws.ndim)
        return jnp.transpose(draws, (*range(first), *batch, *last))

    def cdf(self, value: Any) -> jax.Array:
        result = self.base.cdf(value)
        return jnp.broadcast_to(result, jnp.broadcast_shapes(result.shape, self.shape))

    def icdf(self, q: Any) -> jax.Array:
        result = self.base.icdf(q)
        return jnp.broadcast_to(result, jnp.broadcast_shapes(result.shape, self.shape))

    def entropy(self) -> jax.Array:
        return jnp.broadcast_to(self.base.entropy(), self.shape)


class Independent(AbstractDistribution):
    """A distribution whose last `count` batch axes belong to the event.

    **Fields**
    - `base`: any distribution.
    - `count`: how many batch axes to take, from 0 to all of them.
    """

    base: AbstractDistribution
    count: int = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not 0 <= self.count <= len(self.base.batch_shape):
            raise DistributionError(
                f"{type(self.base).__name__} of batch shape {self.base.batch_shape} cannot give {self.count} axes to "
                f"the event. Give from 0 to {len(self.base.batch_shape)}."
            )

    @property
    def batch_shape(self) -> Shape:
        shape = self.base.batch_shape
        return shape[: len(shape) - self.count]

    @property
    def event_shape(self) -> Shape:
        shape = self.base.batch_shape
        return (*shape[len(shape) - self.count :], *self.base.event_shape)

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @property
    def support(self) -> c.Constraint:
        return c.Independent(self.base.support, self.count) if self.count else self.base.support

    @property
    def mean(self) -> jax.Array:
        return self.base.mean

    @property
    def variance(self) -> jax.Array:
        return self.base.variance

    def log_prob(self, value: Any) -> jax.Array:
        result = self.base.log_prob(value)
        return result.sum(axis=tuple(range(-self.count, 0))) if self.count else result

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.base.sample(key, sample_shape)

    def entropy(self) -> jax.Array:
        result = self.base.entropy()
        return result.sum(axis=tuple(range(-self.count, 0))) if self.count else result


class Masked(AbstractDistribution):
    """A distribution of which only some events count.

    **Fields**
    - `base`: any distribution.
    - `where`: booleans that broadcast with the batch shape; True counts.
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
        if self.base.batch_shape == self.batch_shape:
            return self.base.sample(key, sample_shape)
        return self.base.expand(self.batch_shape).sample(key, sample_shape)

    def cdf(self, value: Any) -> jax.Array:
        return self.base.cdf(value)

    def icdf(self, q: Any) -> jax.Array:
        return self.base.icdf(q)
