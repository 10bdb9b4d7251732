"""Keep rows of numbers as they come, in bounded memory: every row at first, then every second, every fourth."""

from collections.abc import Iterable, Sequence

import numpy as np


class ThinnedRows:
    """Rows that arrive in order, of which every `stride`-th is kept, beginning with row 0.

    **Arguments**: `width`, numbers in a row; `most`, rows that are kept at most; >= 2.
    """

    def __init__(self, width: int, most: int):
        self.stride = 1
        self.num_seen = 0
        self._most = most
        self._kept = np.empty((0, width))
        self._size = 0

    @property
    def rows(self) -> np.ndarray:
        """The kept rows, shape `(row, width)`; row i is the one that came `i * stride`-th."""
        return self._kept[: self._size]

    def add(self, rows: np.ndarray) -> None:
        """Take the next rows, shape `(n, width)`."""
        while len(rows):
            first = -self.num_seen % self.stride
            room = self._most - self._size
            # As many as fit at this stride, and the ones that it leaves out.
            taken = rows[: first + room * self.stride]
            picked = taken[first :: self.stride]
            self._reserve(self._size + len(picked))
            self._kept[self._size : self._size + len(picked)] = picked
            self._size += len(picked)
            self.num_seen += len(taken)
            rows = rows[len(taken) :]
            if self._size == self._most and len(rows):
                self.thin(2 * self.stride)

    def thin(self, stride: int) -> None:
        """Keep fewer rows: every `stride`-th, a multiple of the present stride."""
        step = stride // self.stride
        kept = self._kept[: self._size : step].copy()
        self._kept[: len(kept)] = kept
        self._size, self.stride = len(kept), stride

    def _reserve(self, size: int) -> None:
        if size > len(self._kept):
            grown = np.empty((min(max(2 * len(self._kept), size, 64), self._most), self._kept.shape[1]))
            grown[: self._size] = self._kept[: self._size]
            self._kept = grown


def together(
    chains: Iterable[ThinnedRows], before: int | None = None, columns: Sequence[int] | None = None
) -> tuple[np.ndarray, int]:
    """Return rows that all chains have, shape `(chain, row, width)`, and the stride between them.

    `before`: leave out rows that came later than that many. `columns`: copy these alone, in this order.
    """
    chains = list(chains)
    stride = max(chain.stride for chain in chains)
    end = min(chain.num_seen for chain in chains)
    count = -(-(end if before is None else min(before, end)) // stride)
    rows = [chain.rows[:: stride // chain.stride][:count] for chain in chains]
    return np.stack(rows if columns is None else [each[:, list(columns)] for each in rows]), stride
