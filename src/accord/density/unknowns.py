"""Cut a position into arrays by site, and put it together."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import DataError
from ..core.position import Position
from .layout import Entry, Layout

Unknowns = jax.Array | Position
"""Where a program is evaluated: an array of shape `(dim,)`, or a `Position` where some unknowns are whole numbers."""

# Up to here a position is cut by slices, whose gradient XLA fuses into one kernel: 0.05 us for 3 sites and 0.7 us for
# 30, inside a loop on one CPU core, where a split, whose gradient is a concatenation, takes 2.4 and 2.6 us. The cost of
# slices grows with the square of their number: 60 take 7.1 us, the split 4.0 us.
MAX_SLICES = 48


def like(layout: Layout, dtype: Any) -> Any:
    """Return a position's shapes and dtypes, of floats in this dtype."""
    free: Any = jax.ShapeDtypeStruct((layout.dim,), dtype)
    whole: Any = jax.ShapeDtypeStruct((layout.num_whole,), np.int32)
    return Position(free, whole) if layout.whole else free


def free_of(position: Unknowns) -> jax.Array:
    """Return the free numbers of a position, shape `(dim,)`."""
    return position.free if isinstance(position, Position) else position


def pieces_at(position: Unknowns, layout: Layout) -> dict[str, jax.Array]:
    """Cut a position into arrays by site: unconstrained ones, and the values of sites of whole numbers."""
    if not isinstance(position, Position) or position.whole is None:
        return pieces_of(free_of(position), layout.entries)
    return pieces_of(position.free, layout.entries) | pieces_of(position.whole, layout.whole)


def joined(pieces: Mapping[str, jax.Array], layout: Layout) -> Unknowns:
    """Put a position together from arrays by site."""
    free = _row(pieces, layout.entries, jnp.result_type(float))
    return Position(free, _row(pieces, layout.whole, jnp.int32).astype(jnp.int32)) if layout.whole else free


def checked(position: Unknowns, layout: Layout) -> Unknowns:
    """Return a position as arrays of the right shapes. Raises `DataError` for others."""
    whole = position.whole if isinstance(position, Position) else None
    free, count = jnp.asarray(free_of(position)), layout.num_whole
    if free.shape != (layout.dim,):
        raise DataError(f"a position of this density has shape ({layout.dim},), got {free.shape}.")
    if whole is None and not count:
        return free
    names = ", ".join(repr(entry.name) for entry in layout.whole)
    if whole is None:
        raise DataError(
            f"this density has whole numbers among its unknowns ({names}), so that no vector is a position of it. Give "
            f"a `Position(free, whole)` of `accord.density`, with free numbers of shape ({layout.dim},) and whole ones "
            f"of shape ({count},)."
        )
    whole = jnp.asarray(whole)
    if whole.shape != (count,) or not jnp.issubdtype(whole.dtype, jnp.integer):
        raise DataError(
            f"the whole numbers of a position of this density are integers of shape ({count},)"
            f"{f', of {names}' if names else ''}; got shape {whole.shape} and dtype {whole.dtype}."
        )
    return Position(free, whole.astype(jnp.int32)) if count else free


def pieces_of(position: jax.Array, entries: tuple[Entry, ...]) -> dict[str, jax.Array]:
    """Cut an array into those of some sites, one after the other."""
    if len(entries) == 1:
        parts = [position]
    elif len(entries) <= MAX_SLICES:
        parts = [jax.lax.slice_in_dim(position, entry.start, entry.stop) for entry in entries]
    else:
        parts = jax.lax.split(position, [entry.stop - entry.start for entry in entries])
    shapes = [entry.unconstrained_shape for entry in entries]
    return {
        entry.name: part if part.shape == shape else jax.lax.reshape(part, shape)
        for entry, part, shape in zip(entries, parts, shapes, strict=True)
    }


def _row(pieces: Mapping[str, jax.Array], entries: tuple[Entry, ...], dtype: jnp.dtype) -> jax.Array:
    parts = [jnp.ravel(pieces[entry.name]) for entry in entries]
    return jnp.concatenate(parts) if parts else jnp.zeros(0, dtype)
