"""Add up long vectors, and write rows of tables, in few passes over memory.

In thousands of dimensions a step costs what its passes over vectors cost.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float, Int

_MAX_SUMMED = 4095
"""Numbers that XLA adds up itself. It leaves more to a library, which a piece of machine code cannot call."""

_NUM_PARTS = 8

IN_TURN = 16
"""Lanes whose rows are written one after the other on CPU, where a scatter is slow."""


def inner(left: Float[Array, "... dim"], right: Float[Array, "... dim"]) -> Float[Array, "..."]:
    """Sum the products over the last axis."""
    return added_up(left * right)


def added_up(numbers: Array) -> Array:
    """Sum over the last axis; a long one in parts, which are added to each other first."""
    dim = numbers.shape[-1]
    if dim <= _MAX_SUMMED:
        return jnp.sum(numbers, -1)
    size = dim // _NUM_PARTS

    def part(start: int, end: int) -> Array:
        return jax.lax.slice_in_dim(numbers, start, end, axis=-1)

    first, *others = (part(number * size, (number + 1) * size) for number in range(_NUM_PARTS))
    return added_up(sum(others, start=first)) + jnp.sum(part(_NUM_PARTS * size, dim), -1)


@custom_vmap
def put_row(rows: Float[Array, "row dim"], index: Int[Array, ""], value: Float[Array, " dim"]) -> Array:
    """Return a table with one row replaced, in place where the old table is not used again."""
    return jax.lax.dynamic_update_index_in_dim(rows, value, index, 0)


@put_row.def_vmap
def _put_row_in_lanes(lanes: int, is_batched: Any, rows: Array, index: Array, value: Array) -> Any:
    tables, places, values = (
        leaf if is_own else jnp.broadcast_to(leaf, (lanes, *leaf.shape))
        for leaf, is_own in zip((rows, index, value), is_batched, strict=True)
    )
    return put_rows(tables, places, values), True


def put_rows(
    tables: Float[Array, "lane row dim"],
    index: Int[Array, " lane"],
    values: Float[Array, "lane dim"],
    in_turn: int = IN_TURN,
) -> Array:
    """Return the tables of all lanes, each with one row replaced; up to `in_turn` in turn, more by one scatter."""
    lanes = tables.shape[0]
    if lanes > in_turn:
        at = jnp.arange(lanes), index
        return tables.at[at].set(values, indices_are_sorted=True, unique_indices=True)
    for lane in range(lanes):
        start = (jnp.int32(lane), index[lane].astype(jnp.int32), jnp.int32(0))
        tables = jax.lax.dynamic_update_slice(tables, values[lane][None, None], start)
    return tables
