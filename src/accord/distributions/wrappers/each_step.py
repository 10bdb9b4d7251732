"""Give each step of a series a distribution of one family, with parameters of its own."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.by_step import Flags, at_each_step, made_at_each_step
from ..base import AbstractDistribution, Shape
from ..constraint import Constraint
from ..constraint.each_step import EachStep as EachStepSet


class EachStep(AbstractDistribution):
    """Independent steps, each with its own parameters: batch shape `(length, *shape)`.

    Some parameters have an entry for each step and some do not. Parameters may have any number of axes, so they cannot
    be broadcast against a first axis. All steps are evaluated at once, each by itself.

    **Fields**
    - `base`: a distribution whose parameters may have a first axis of steps; `by_step`, for each of its leaves, if so.
    - `length`: the number of steps. `shape`, `event`: batch and event shape of one step; `float_dtype`: as `dtype`.

    **Density**: at each step, the density of `base` with the parameters of the step.
    """

    base: AbstractDistribution
    by_step: Flags = eqx.field(static=True)
    length: int = eqx.field(static=True)
    shape: Shape = eqx.field(static=True)
    event: Shape = eqx.field(static=True)
    float_dtype: np.dtype = eqx.field(static=True)

    @property
    def batch_shape(self) -> Shape:
        return (self.length, *self.shape)

    @property
    def event_shape(self) -> Shape:
        return self.event

    @property
    def dtype(self) -> np.dtype:
        return self.float_dtype

    @property
    def support(self) -> Constraint:
        """Return the support of `base`, with the bounds of each step."""
        support, by_step = made_at_each_step(lambda base: base.support, self.base, self.by_step)
        return EachStepSet(support, by_step) if any(by_step) else support

    @property
    def mean(self) -> jax.Array:
        return self._summary("mean", self.event)

    @property
    def variance(self) -> jax.Array:
        return self._summary("variance", self.event)

    def log_prob(self, value: Any) -> jax.Array:
        value = jnp.asarray(value)
        axis = value.ndim - len(self.event) - len(self.batch_shape)
        return at_each_step(
            lambda base, value: base.log_prob(value), self.base, self.by_step, value, axis=axis
        )

    def sample(self, key: jax.Array, sample_shape: Shape = ()) -> jax.Array:
        def of_step(base: AbstractDistribution, key: Any) -> jax.Array:
            repeated = self.shape[: len(self.shape) - len(base.batch_shape)]
            return base.sample(key, (*sample_shape, *repeated))

        keys = jax.random.split(key, self.length)
        return jnp.moveaxis(at_each_step(of_step, self.base, self.by_step, keys), 0, len(sample_shape))

    def _summary(self, name: str, event: Shape) -> jax.Array:
        def of_step(base: AbstractDistribution, _: Any) -> jax.Array:
            return jnp.broadcast_to(getattr(base, name), (*self.shape, *event))

        return at_each_step(of_step, self.base, self.by_step, jnp.zeros(self.length))
