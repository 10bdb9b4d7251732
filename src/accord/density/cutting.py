"""Cut arrays into equal blocks of rows, and put them together again."""

from typing import Any

import jax.numpy as jnp
import numpy as np

NUM_BLOCKS = 16
"""Into which data is cut, whatever the number of devices, which may be as many."""


def rows_of_block(num_rows: int) -> int:
    """How many rows a block has; the last blocks may hold copies of the last row."""
    return -(-num_rows // NUM_BLOCKS)


def cut(array: Any, axis: int) -> Any:
    """Blocks along a new first axis, each with the rows of `axis` in its place."""
    xp: Any = np if isinstance(array, np.ndarray) else jnp
    num_rows = array.shape[axis]
    size = rows_of_block(num_rows)
    rows = xp.moveaxis(array, axis, 0)
    spare = NUM_BLOCKS * size - num_rows
    if spare:
        rows = xp.concatenate([rows, xp.broadcast_to(rows[-1:], (spare, *rows.shape[1:]))])
    return xp.moveaxis(rows.reshape(NUM_BLOCKS, size, *rows.shape[1:]), 1, axis + 1)


def joined(blocks: Any, axis: int, num_rows: int) -> Any:
    """The array of which these are the blocks."""
    rows = jnp.moveaxis(blocks, axis + 1, 1)
    whole = rows.reshape(-1, *rows.shape[2:])[:num_rows]
    return jnp.moveaxis(whole, 0, axis)


def is_real_row(num_rows: int) -> np.ndarray:
    """Which rows of the blocks are no copies, shape `(NUM_BLOCKS, rows)`."""
    size = rows_of_block(num_rows)
    return (np.arange(NUM_BLOCKS * size) < num_rows).reshape(NUM_BLOCKS, size)
