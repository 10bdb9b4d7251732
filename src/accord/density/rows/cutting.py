"""Cut arrays into equal blocks of rows, each in equal pieces, and put them together again."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

NUM_BLOCKS = 16
"""Into which data is cut, whatever the number of devices, which may be as many."""


@dataclass(frozen=True)
class Cut:
    """Rows in `NUM_BLOCKS` blocks of `num_pieces` pieces of `size` rows; the last may hold copies of the last row."""

    num_rows: int
    num_pieces: int
    size: int

    @staticmethod
    def of(num_rows: int, chunk: int | None = None) -> "Cut":
        """Cut into pieces as equal as can be, of at most `chunk` rows; None is one piece for each block."""
        rows_of_block = -(-num_rows // NUM_BLOCKS)
        num_pieces = -(-rows_of_block // min(chunk or rows_of_block, rows_of_block))
        return Cut(num_rows, num_pieces, -(-rows_of_block // num_pieces))

    def blocks(self, array: Any, axis: int) -> Any:
        """Lay out blocks and pieces along two new first axes, each with its rows in the place of `axis`."""
        xp: Any = jnp if isinstance(array, jax.Array) else np
        rows = xp.moveaxis(array, axis, 0)
        spare = NUM_BLOCKS * self.num_pieces * self.size - self.num_rows
        if spare:
            rows = xp.concatenate([rows, xp.broadcast_to(rows[-1:], (spare, *rows.shape[1:]))])
        pieces = rows.reshape(NUM_BLOCKS, self.num_pieces, self.size, *rows.shape[1:])
        return xp.moveaxis(pieces, 2, axis + 2)

    def joined(self, blocks: Any, axis: int) -> Any:
        """Join blocks to the array that they were cut from; blocks that do not count may follow."""
        xp: Any = jnp if isinstance(blocks, jax.Array) else np
        rows = xp.moveaxis(blocks, axis + 2, 2)
        whole = rows.reshape(-1, *rows.shape[3:])[: self.num_rows]
        return xp.moveaxis(whole, 0, axis)

    @property
    def is_real(self) -> np.ndarray:
        """Return which rows are not copies, shape `(NUM_BLOCKS, num_pieces, size)`."""
        shape = (NUM_BLOCKS, self.num_pieces, self.size)
        return (np.arange(np.prod(shape)) < self.num_rows).reshape(shape)
