"""Hold candidates that were computed before the run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .base import AbstractPoints


@dataclass(frozen=True, eq=False)
class TablePoints(AbstractPoints):
    """Candidates by chain, shape `(tries, dim)`.

    `source` says where they come from; `given` are the chains whose places hold values that the user gave.
    """

    source: str
    rows: Mapping[int, np.ndarray]
    given: frozenset[int] = frozenset()

    @property
    def origin(self) -> str:
        return self.source

    def num_tries(self, chain: int) -> int:
        """Return the number of rows."""
        return len(self.rows[chain])

    def is_given(self, chain: int) -> bool:
        """Return whether the values were given."""
        return chain in self.given

    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        """The row."""
        del seed, dim
        return self.rows[chain][attempt]
