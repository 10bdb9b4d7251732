"""Say which values a series may have whose bounds are other ones at each step."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...core.by_step import Flags, at_each_step
from .base import Constraint


class EachStep(Constraint):
    """Series, along the first axis, of which each step lies in a set of its own.

    **Fields**
    - `base`: a constraint whose bounds may have a first axis of steps; `by_step`, for each of its leaves, whether.
    """

    base: Constraint
    by_step: Flags = eqx.field(static=True)

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the set is countable."""
        return self.base.is_discrete

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return self.base.event_dim

    def __call__(self, value: Any) -> Any:
        return at_each_step(
            lambda base, value: jnp.asarray(base(value)), self.base, self.by_step, jnp.asarray(value)
        )

    def feasible_like(self, value: Any) -> jax.Array:
        return at_each_step(
            lambda base, value: base.feasible_like(value), self.base, self.by_step, jnp.asarray(value)
        )

    def describe(self) -> str:
        return self.base.describe()
