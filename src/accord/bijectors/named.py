"""Map between a flat vector and named arrays, or map each named array by its own bijector."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..core.errors import DistributionError, suggest
from .arrays import align, float_type
from .base import AbstractBijector


class Unpack(AbstractBijector):
    """Split a vector, in order, into a dictionary of arrays.

    `y` is a dictionary; the leading axes of `x` are leading axes of each of its arrays.

    **Fields**
    - `shapes`: mapping from name to shape, in order; the vector has as many elements as all of them together.

    **Example**

    >>> y, log_det = bijectors.Unpack({"loc": (), "slopes": (2,)}).forward_and_log_det(np.arange(3.0))
    >>> {name: value.shape for name, value in y.items()}
    {'loc': (), 'slopes': (2,)}
    """

    shapes: tuple[tuple[str, tuple[int, ...]], ...] = eqx.field(
        static=True,
        converter=lambda shapes: tuple((name, tuple(shape)) for name, shape in dict(shapes).items()),
    )
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[Any, jax.Array]:
        (x,) = align(x)
        self.forward_shape(x.shape)
        batch, pieces, start = x.shape[:-1], {}, 0
        for name, shape in self.shapes:
            size = math.prod(shape)
            pieces[name] = x[..., start : start + size].reshape((*batch, *shape))
            start += size
        return pieces, jnp.zeros(batch, x.dtype)

    def inverse_and_log_det(self, y: Any) -> tuple[jax.Array, jax.Array]:
        _check_names("Unpack", y, dict(self.shapes))
        arrays = {name: jnp.asarray(y[name]) for name, _ in self.shapes}
        batch = self.inverse_shape({name: array.shape for name, array in arrays.items()})[:-1]
        dtype = float_type(*arrays.values())
        x = jnp.concatenate([array.reshape((*batch, -1)).astype(dtype) for array in arrays.values()], axis=-1)
        return x, jnp.zeros(batch, dtype)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        total = sum(math.prod(event) for _, event in self.shapes)
        if shape[-1] != total:
            raise DistributionError(
                f"Unpack: the vector has {shape[-1]} elements, but the shapes {dict(self.shapes)} need {total}."
            )
        return {name: (*shape[:-1], *event) for name, event in self.shapes}

    def inverse_shape(self, shape: Any) -> tuple[int, ...]:
        name, event = self.shapes[0]
        batch = tuple(shape[name][: len(shape[name]) - len(event)])
        for name, event in self.shapes:
            if tuple(shape[name]) != (*batch, *event):
                raise DistributionError(
                    f"Unpack: {name} has shape {tuple(shape[name])}, but needs batch {batch} + event {event}."
                )
        return (*batch, sum(math.prod(event) for _, event in self.shapes))


class Named(AbstractBijector):
    """Map each array in a dictionary by its own bijector.

    The whole dictionary is one event, so the log determinant has shape `()`; use `jax.vmap` for a batch.

    **Fields**
    - `parts`: mapping from name to bijector, for every entry.

    **Example**

    >>> pair = bijectors.Named({"rate": bijectors.Exp(), "shift": bijectors.Identity()})
    >>> y, log_det = pair.forward_and_log_det({"rate": 0.5, "shift": 1.0})
    >>> print({name: f"{value:.3f}" for name, value in y.items()}, f"{log_det:.3f}")
    {'rate': '1.649', 'shift': '1.000'} 0.500
    """

    parts: dict[str, AbstractBijector]
    domain_event_dim: ClassVar[int] = 1
    codomain_event_dim: ClassVar[int] = 1

    def forward_and_log_det(self, x: Any) -> tuple[Any, jax.Array]:
        _check_names("Named", x, self.parts)
        return _gather({name: part.forward_and_log_det(x[name]) for name, part in self.parts.items()})

    def inverse_and_log_det(self, y: Any) -> tuple[Any, jax.Array]:
        _check_names("Named", y, self.parts)
        return _gather({name: part.inverse_and_log_det(y[name]) for name, part in self.parts.items()})

    def forward_shape(self, shape: Any) -> Any:
        return {name: part.forward_shape(shape[name]) for name, part in self.parts.items()}

    def inverse_shape(self, shape: Any) -> Any:
        return {name: part.inverse_shape(shape[name]) for name, part in self.parts.items()}


def _gather(mapped: dict[str, tuple[Any, jax.Array]]) -> tuple[dict[str, Any], jax.Array]:
    """Return values by name, and the sum of all log determinants."""
    dtype = float_type(*(log_det for _, log_det in mapped.values()))
    total = jnp.zeros((), dtype)
    for _, log_det in mapped.values():
        total = total + log_det.sum().astype(dtype)
    return {name: value for name, (value, _) in mapped.items()}, total


def _check_names(bijector: str, values: Any, names: Mapping[str, Any]) -> None:
    """Raise `DistributionError` unless the names are the right ones."""
    if not isinstance(values, Mapping):
        raise DistributionError(
            f"{bijector}: got a {type(values).__name__}. Give a dictionary with {list(names)}."
        )
    for name in values:
        if name not in names:
            raise DistributionError(
                f"{bijector}: {name!r} is not one of {list(names)}.{suggest(name, names)}"
            )
    for name in names:
        if name not in values:
            raise DistributionError(f"{bijector}: {name!r} is missing. Give {list(names)}.")
