"""Build bijectors from bijectors: one after the other, or with batch axes taken into the event."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .arrays import align
from .base import AbstractBijector, sum_trailing


class Chain(AbstractBijector):
    """Maps applied one after the other: `Chain((f, g)).forward(x)` is `g(f(x))`.

    **Fields**
    - `parts`: bijectors, the first applied first. Elementwise ones act on every element of the others' events.
    """

    parts: tuple[AbstractBijector, ...]

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `x` that form one event: the largest that any part needs."""
        need = 0
        for part in reversed(self.parts):
            need = max(need - part.codomain_event_dim, 0) + part.domain_event_dim
        return need

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `y` that form one event."""
        need = self.domain_event_dim
        for part in self.parts:
            need += part.codomain_event_dim - part.domain_event_dim
        return need

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        (x,) = align(x)
        batch_dim = x.ndim - self.domain_event_dim
        total = jnp.zeros(x.shape[:batch_dim], x.dtype)
        for part in self.parts:
            x, log_det = part.forward_and_log_det(x)
            total = total + sum_trailing(log_det, log_det.ndim - batch_dim)
        return x, total

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        (y,) = align(y)
        batch_dim = y.ndim - self.codomain_event_dim
        total = jnp.zeros(y.shape[:batch_dim], y.dtype)
        for part in reversed(self.parts):
            y, log_det = part.inverse_and_log_det(y)
            total = total + sum_trailing(log_det, log_det.ndim - batch_dim)
        return y, total

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape


class Independent(AbstractBijector):
    """A map whose last `count` batch axes are counted as part of the event: the log determinants are summed over them.

    **Fields**
    - `base`: the map.
    - `count`: how many batch axes of `base` to take into the event, >= 0.
    """

    base: AbstractBijector
    count: int = eqx.field(static=True)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `x` that form one event."""
        return self.base.domain_event_dim + self.count

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of `y` that form one event."""
        return self.base.codomain_event_dim + self.count

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        y, log_det = self.base.forward_and_log_det(x)
        return y, sum_trailing(log_det, self.count)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        x, log_det = self.base.inverse_and_log_det(y)
        return x, sum_trailing(log_det, self.count)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base.forward_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base.inverse_shape(shape)
