"""Map each step of a series by parameters of its own."""

from typing import Any

import equinox as eqx
import jax

from ..core.by_step import Flags, at_each_step
from .base import AbstractBijector


class EachStep(AbstractBijector):
    """Map each step of a series, along the first axis of `x` and `y`, by its own bijector.

    **Fields**
    - `base`: a bijector whose parameters may have a first axis of steps.
    - `by_step`: for each of its leaves, whether it has that axis.
    """

    base: AbstractBijector
    by_step: Flags = eqx.field(static=True)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return self.base.domain_event_dim

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return self.base.codomain_event_dim

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        return at_each_step(lambda base, x: base.forward_and_log_det(x), self.base, self.by_step, x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return at_each_step(lambda base, y: base.inverse_and_log_det(y), self.base, self.by_step, y)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], *self.base.forward_shape(shape[1:]))

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], *self.base.inverse_shape(shape[1:]))
