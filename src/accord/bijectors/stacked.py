"""Map slices of an array, each by its own bijector."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DistributionError
from .arrays import float_type
from .base import AbstractBijector, sum_trailing


class Stacked(AbstractBijector):
    """Map slices along one axis, each by its own bijector, and concatenate the results.

    An event has as many axes as the largest of the parts' events. If the axis is one of them, log determinants are
    summed; otherwise they are concatenated too.

    **Fields**
    - `parts`: bijectors, in order; all add the same number of axes (usually none).
    - `dim`: the axis of `y`, counted from the end: negative.
    - `lengths`: how long the slices of `y` are; 1 each by default.

    **Example**

    >>> bijector = bijectors.Stacked((bijectors.Exp(), bijectors.Identity()))
    >>> y, log_det = bijector.forward_and_log_det(np.array([0.5, -1.0]))
    >>> print(y, log_det)
    [ 1.649 -1.   ] [0.5 0. ]
    """

    parts: tuple[AbstractBijector, ...] = eqx.field(converter=tuple)
    dim: int = eqx.field(static=True, default=-1)
    lengths: tuple[int, ...] | None = eqx.field(
        static=True, default=None, converter=lambda lengths: None if lengths is None else tuple(lengths)
    )

    def __check_init__(self) -> None:
        added = {part.codomain_event_dim - part.domain_event_dim for part in self.parts}
        within = -self.dim <= self.codomain_event_dim if self.parts else False
        fits = self.lengths is None or len(self.lengths) == len(self.parts)
        if self.dim >= 0 or not fits or len(added) != 1 or (within and added != {0}):
            raise DistributionError(
                f"Stacked: got {[type(part).__name__ for part in self.parts]}, dim={self.dim}, lengths={self.lengths}. "
                "Give at least one bijector, a negative dim (counted from the end), one length for each bijector, and "
                "only bijectors that add no axes, or all the same number to the right of dim."
            )

    @property
    def domain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `x` that form one event."""
        return max(part.domain_event_dim for part in self.parts)

    @property
    def codomain_event_dim(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of trailing axes of `y` that form one event."""
        return max(part.codomain_event_dim for part in self.parts)

    def forward_and_log_det(self, x: Any) -> tuple[jax.Array, jax.Array]:
        lengths = self._domain_lengths(np.shape(x))
        pieces = _split(x, lengths, self._domain_dim)
        mapped = [part.forward_and_log_det(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        return self._join(mapped, self.dim)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        pieces = _split(y, self._lengths, self.dim)
        mapped = [part.inverse_and_log_det(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        return self._join(mapped, self._domain_dim)

    def forward_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        lengths = self._domain_lengths(shape)
        whole = self.parts[0].forward_shape(_with_length(shape, self._domain_dim, lengths[0]))
        return _with_length(whole, self.dim, sum(self._lengths))

    def inverse_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        pieces = [
            part.inverse_shape(_with_length(shape, self.dim, length))
            for part, length in zip(self.parts, self._lengths, strict=True)
        ]
        return _with_length(pieces[0], self._domain_dim, sum(piece[self._domain_dim] for piece in pieces))

    @property
    def _lengths(self) -> tuple[int, ...]:
        """Return the lengths of the slices of `y`."""
        return (1,) * len(self.parts) if self.lengths is None else self.lengths

    @property
    def _domain_dim(self) -> int:
        """Return the axis of `x`, counted from the end."""
        return self.dim + self.codomain_event_dim - self.domain_event_dim

    def _domain_lengths(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the lengths of the slices of an `x` of this shape."""
        if -self.dim > self.codomain_event_dim:
            return self._lengths
        return tuple(
            part.inverse_shape(_with_length(shape, self.dim, length))[self.dim]
            for part, length in zip(self.parts, self._lengths, strict=True)
        )

    def _join(self, mapped: list[tuple[jax.Array, jax.Array]], dim: int) -> tuple[jax.Array, jax.Array]:
        """Concatenate values; concatenate or sum their log determinants."""
        dtype = float_type(*(log_det for _, log_det in mapped))
        widest = np.result_type(*(value.dtype for value, _ in mapped))
        values = [value.astype(widest) for value, _ in mapped]
        log_dets = [
            sum_trailing(log_det, self.domain_event_dim - part.domain_event_dim).astype(dtype)
            for part, (_, log_det) in zip(self.parts, mapped, strict=True)
        ]
        batch_axis = self.dim + self.codomain_event_dim
        if batch_axis < 0:
            return jnp.concatenate(values, axis=dim), jnp.concatenate(log_dets, axis=batch_axis)
        return jnp.concatenate(values, axis=dim), jnp.stack(log_dets).sum(axis=0)


def _split(value: Any, lengths: tuple[int, ...], dim: int) -> list[jax.Array]:
    """Split an array into slices of these lengths along an axis."""
    value = jnp.asarray(value)
    if sum(lengths) != value.shape[dim]:
        raise DistributionError(
            f"Stacked: the slices have lengths {lengths}, {sum(lengths)} in all, but axis {dim} of the value is "
            f"{value.shape[dim]} long. Give `lengths` with this sum."
        )
    return jnp.split(value, np.cumsum(lengths)[:-1].tolist(), axis=dim)


def _with_length(shape: tuple[int, ...], dim: int, length: int) -> tuple[int, ...]:
    """Return a shape with another length along one axis."""
    changed = list(shape)
    changed[dim] = length
    return tuple(changed)
