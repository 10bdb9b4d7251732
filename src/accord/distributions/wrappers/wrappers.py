"""Change the shape of a distribution: repeat it, or take batch axes into the event."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from .. import constraint as c
from ..base import AbstractDistribution, Shape
from .enumerated import enumerate_in
from .masked import MaskedDistribution as MaskedDistribution
from .same_event import AbstractOfSameEvent


class ExpandedDistribution(AbstractOfSameEvent):
    """Expanded distribution: independent copies over a larger batch shape.

    **Fields**
    - `base`: any distribution.
    - `shape`: the new batch shape; the batch shape of `base` broadcasts to it.

    **Density**: the density of `base`, element by element.

    **Source**: Casella & Berger (2002), Statistical Inference, definition 5.1.1.
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

    def log_prob(self, value: Any) -> jax.Array:
        return self._spread(self.base.log_prob(value))

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
        return self._spread(self.base.cdf(value))

    def icdf(self, q: Any) -> jax.Array:
        return self._spread(self.base.icdf(q))

    def log_cdf(self, value: Any) -> jax.Array:
        return self._spread(self.base.log_cdf(value))

    def log_survival(self, value: Any) -> jax.Array:
        return self._spread(self.base.log_survival(value))

    def entropy(self) -> jax.Array:
        return jnp.broadcast_to(self.base.entropy(), self.shape)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        """List all values of a finite support along a new first axis."""
        return enumerate_in(self.base, self.shape, expand)

    def _spread(self, result: jax.Array) -> jax.Array:
        """Broadcast a result of the base, of at least its batch shape, to this batch shape."""
        return jnp.broadcast_to(result, jnp.broadcast_shapes(result.shape, self.shape))


class Independent(AbstractDistribution):
    """Independent distribution: the last `count` batch axes belong to the event.

    **Fields**
    - `base`: any distribution.
    - `count`: how many batch axes to take, from 0 to all of them.

    **Density**: the product of the densities of `base` over these axes.

    **Source**: Casella & Berger (2002), Statistical Inference, definition 4.6.5.
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

    @property
    def mode(self) -> jax.Array:
        return self.base.mode

    def log_prob(self, value: Any) -> jax.Array:
        result = self.base.log_prob(value)
        return result.sum(axis=tuple(range(-self.count, 0))) if self.count else result

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        return self.base.sample(key, sample_shape)

    def entropy(self) -> jax.Array:
        result = self.base.entropy()
        return result.sum(axis=tuple(range(-self.count, 0))) if self.count else result

    def cdf(self, value: Any) -> jax.Array:
        return self._univariate("cdf").cdf(value)

    def icdf(self, q: Any) -> jax.Array:
        return self._univariate("icdf").icdf(q)

    def log_cdf(self, value: Any) -> jax.Array:
        return self._univariate("log_cdf").log_cdf(value)

    def log_survival(self, value: Any) -> jax.Array:
        return self._univariate("log_survival").log_survival(value)

    def enumerate_support(self, expand: bool = True) -> jax.Array:
        """List all values of a finite support along a new first axis; only while no axis belongs to the event."""
        return enumerate_in(self._univariate("enumerate_support"), self.batch_shape, expand)

    def _univariate(self, what: str) -> AbstractDistribution:
        """Return the base, if its events are those of this distribution."""
        if self.count:
            raise DistributionError(
                f"Independent: {type(self.base).__name__} of event shape {self.event_shape} has no {what}, which only "
                "univariate distributions have. Ask for it before `to_event`."
            )
        return self.base
