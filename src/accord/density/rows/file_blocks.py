"""Cut rows that lie in a file into blocks, and read those blocks that are asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .cutting import NUM_BLOCKS, Cut
from .row_files import FileRows


@dataclass(frozen=True)
class FileBlocks:
    """Blocks of rows, as `Cut.blocks` makes them of an array, that have not been read.

    **Fields**: `rows`; `cut`; `count`, of blocks: those beyond `NUM_BLOCKS` are copies of the first one, to no effect.
    """

    rows: FileRows
    cut: Cut
    count: int = NUM_BLOCKS

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of blocks, pieces and rows, and the shape of a row."""
        return (self.count, self.cut.num_pieces, self.cut.size, *self.rows.shape[1:])

    @property
    def dtype(self) -> np.dtype:
        """The dtype of what is read."""
        return self.rows.dtype

    def __len__(self) -> int:
        return self.count

    def read(self, index: tuple[slice, ...]) -> np.ndarray:
        """Read the blocks of a slice along the first axis, or all of them; the other slices are whole."""
        first, last, _ = (index[0] if index else slice(None)).indices(self.count)
        return np.stack([self._block(number if number < NUM_BLOCKS else 0) for number in range(first, last)])

    def _block(self, number: int) -> np.ndarray:
        size = self.cut.num_pieces * self.cut.size
        start = min(number * size, self.cut.num_rows - 1)  # a block of copies has the last row
        found = self.rows.read(start, min((number + 1) * size, self.cut.num_rows))
        spare: Any = np.broadcast_to(found[-1:], (size - len(found), *found.shape[1:]))
        return np.concatenate([found, spare]).reshape(self.shape[1:])
