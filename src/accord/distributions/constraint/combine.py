"""Build constraints from other constraints: over more axes, joined along one axis, or not yet known."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...core.errors import DistributionError
from .base import Constraint


class Independent(Constraint):
    """Arrays in which every element along the last `count` batch axes lies in `base`."""

    base: Constraint
    count: int = eqx.field(static=True)

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return whether the set is countable."""
        return self.base.is_discrete

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return self.base.event_dim + self.count

    def __call__(self, value: Any) -> Any:
        inside = self.base(value)
        return inside.all(tuple(range(-self.count, 0))) if self.count else inside

    def feasible_like(self, value: Any) -> jax.Array:
        return self.base.feasible_like(value)

    def describe(self) -> str:
        return self.base.describe()


class Cat(Constraint):
    """Arrays made of slices along the axis `dim`, each slice with its own constraint.

    **Fields**
    - `parts`: the constraints, in order.
    - `dim`: the axis, counted from the end: negative.
    - `lengths`: how long each slice is; 1 each by default.

    An event has as many axes as the largest of the parts' events; parts with fewer must hold in every element.
    """

    parts: tuple[Constraint, ...] = eqx.field(converter=tuple)
    dim: int = eqx.field(static=True, default=-1)
    lengths: tuple[int, ...] | None = eqx.field(
        static=True, default=None, converter=lambda lengths: None if lengths is None else tuple(lengths)
    )

    def __check_init__(self) -> None:
        if not self.parts or self.dim >= 0 or len(self.slice_lengths) != len(self.parts):
            raise DistributionError(
                f"Cat: got {len(self.parts)} constraints, dim={self.dim} and lengths={self.lengths}. Give at least one "
                "constraint, a negative dim (counted from the end) and one length for each constraint."
            )

    @property
    def slice_lengths(self) -> tuple[int, ...]:
        """Return the length of each slice."""
        return (1,) * len(self.parts) if self.lengths is None else self.lengths

    @property
    def is_discrete(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return whether the set is countable in some of its slices."""
        return any(part.is_discrete for part in self.parts)

    @property
    def event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Trailing axes of a value that form one event."""
        return max(part.event_dim for part in self.parts)

    def __call__(self, value: Any) -> Any:
        joined: Any = jnp if isinstance(value, jax.Array) else np
        inside = []
        for part, piece in zip(self.parts, self._pieces(value), strict=True):
            axes = tuple(range(part.event_dim - self.event_dim, 0))
            inside.append(part(piece).all(axes) if axes else part(piece))
        if -self.dim <= self.event_dim:
            return joined.stack(inside).all(0)
        return joined.concatenate(inside, self.dim + self.event_dim)

    def feasible_like(self, value: Any) -> jax.Array:
        pieces = zip(self.parts, self._pieces(value), strict=True)
        return jnp.concatenate([part.feasible_like(piece) for part, piece in pieces], self.dim)

    def describe(self) -> str:
        parts = zip(self.slice_lengths, self.parts, strict=True)
        return ", then ".join(f"{length} along axis {self.dim} {part.describe()}" for length, part in parts)

    def _pieces(self, value: Any) -> list[Any]:
        """Return the slices of a value."""
        ends = np.cumsum(self.slice_lengths)
        if ends[-1] != np.shape(value)[self.dim]:
            raise DistributionError(
                f"Cat: the slices have lengths {self.slice_lengths}, {ends[-1]} in all, but axis {self.dim} of the "
                f"value is {np.shape(value)[self.dim]} long. Give `lengths` with this sum."
            )
        after = (slice(None),) * (-self.dim - 1)
        return [
            value[(..., slice(int(end) - length, int(end)), *after)]
            for length, end in zip(self.slice_lengths, ends, strict=True)
        ]


class Dependent(Constraint):
    """Set that depends on a distribution's parameters: ask a distribution for its `support`."""

    is_discrete: bool = eqx.field(static=True, default=False)  # pyright: ignore[reportIncompatibleVariableOverride]
    event_dim: int = eqx.field(static=True, default=0)  # pyright: ignore[reportIncompatibleVariableOverride]
    words: ClassVar[str] = "in a set that depends on the other parameters"

    def __call__(self, value: Any) -> Any:
        raise self._unknown()

    def feasible_like(self, value: Any) -> jax.Array:
        raise self._unknown()

    def _unknown(self) -> DistributionError:
        """Return the error for a property that needs a distribution's parameters."""
        return DistributionError(
            "Dependent: the set depends on parameters. Use the `support` of a distribution, which has them."
        )


def is_dependent(constraint: Constraint) -> bool:
    """Return whether the set depends on a distribution's parameters."""
    match constraint:
        case Independent(base=base):
            return is_dependent(base)
        case Cat(parts=parts):
            return any(is_dependent(part) for part in parts)
        case _:
            return isinstance(constraint, Dependent)
