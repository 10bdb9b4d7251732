"""Build bijectors from bijectors: compose, invert, or move batch axes into the event."""

from typing import Any

import equinox as eqx
import jax

from .arrays import float_type
from .base import AbstractBijector, sum_trailing


class Chain(AbstractBijector):
    """Compose maps, the first applied first: `Chain((f, g)).forward(x)` is `g(f(x))`.

    **Fields**
    - `parts`: bijectors, the first applied first. Elementwise ones act on every element of the others' events.

    **Example**

    >>> y, log_det = bijectors.Chain((bijectors.Exp(), bijectors.Shift(3))).forward_and_log_det(np.array([0.5, 1.0]))
    >>> print(y, log_det)
    [4.649 5.718] [0.5 1. ]
    """

    parts: tuple[AbstractBijector, ...]

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event: the largest that any part needs."""
        need = 0
        for part in reversed(self.parts):
            need = max(need - part.codomain_event_dim, 0) + part.domain_event_dim
        return need

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        need = self.domain_event_dim
        for part in self.parts:
            need += part.codomain_event_dim - part.domain_event_dim
        return need

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        log_dets = []
        for part in self.parts or (_identity(),):
            x, log_det = part.forward_and_log_det(x)
            log_dets.append(log_det)
        return x, _total(log_dets)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        log_dets = []
        for part in reversed(self.parts or (_identity(),)):
            y, log_det = part.inverse_and_log_det(y)
            log_dets.append(log_det)
        return y, _total(log_dets)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape


class Inverse(AbstractBijector):
    """Invert a map: `Inverse(Sigmoid())` is the logit.

    **Fields**
    - `base`: the map to invert; its `y` is the `x` of the inverse.

    **Example**

    >>> y, log_det = bijectors.Inverse(bijectors.Exp()).forward_and_log_det(np.array([2.0, 4.0]))
    >>> print(y, log_det)
    [0.693 1.386] [-0.693 -1.386]
    """

    base: AbstractBijector

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return self.base.codomain_event_dim

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return self.base.domain_event_dim

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        return self.base.inverse_and_log_det(x)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        return self.base.forward_and_log_det(y)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base.inverse_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base.forward_shape(shape)


class Independent(AbstractBijector):
    """Move the last `count` batch axes of a map into the event; log determinants are summed over them.

    **Fields**
    - `base`: the map.
    - `count`: how many batch axes of `base` to take into the event, >= 0.

    **Example**

    >>> each = bijectors.Exp().forward_and_log_det(np.zeros(3))[1]
    >>> whole = bijectors.Independent(bijectors.Exp(), 1).forward_and_log_det(np.zeros(3))[1]
    >>> each.shape, whole.shape
    ((3,), ())
    """

    base: AbstractBijector
    count: int = eqx.field(static=True)

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return self.base.domain_event_dim + self.count

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
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


def _identity() -> AbstractBijector:
    """Return the identity, the result of a chain without parts."""
    from .elementwise import Identity

    return Identity()


def _total(log_dets: list[jax.Array]) -> jax.Array:
    """Sum log determinants in one dtype over all axes but the batch axes, which all of them have."""
    dtype = float_type(*log_dets)
    rank = min(log_det.ndim for log_det in log_dets)
    # The part with the largest event has no more batch axes than the chain.
    first, *others = [sum_trailing(log_det, log_det.ndim - rank).astype(dtype) for log_det in log_dets]
    for log_det in others:
        first = first + log_det
    return first
