"""Hold candidates that were computed before the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.position import Position
from ...density.unknowns import free_of
from .base import AbstractPoints


@dataclass(frozen=True, eq=False)
class TablePoints(AbstractPoints):
    """Candidates by chain, shape `(tries, dim)`, and their whole numbers, `(tries, count)`, where there are any.

    `source` says where they come from; `given` are the chains whose places hold values that the user gave.
    """

    source: str
    rows: Mapping[int, np.ndarray]
    given: frozenset[int] = frozenset()
    wholes: Mapping[int, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def of(source: str, places: Mapping[int, Any], given: frozenset[int] = frozenset()) -> "TablePoints":
        """Return those of positions by chain, with an axis of tries."""
        rows: dict[int, Any] = {chain: free_of(at) for chain, at in places.items()}
        wholes: dict[int, Any] = {chain: at.whole for chain, at in places.items() if isinstance(at, Position)}
        return TablePoints(source, rows, given, wholes)

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

    def whole(self, chain: int, attempt: int) -> np.ndarray | None:
        """The row of whole numbers."""
        return self.wholes[chain][attempt] if chain in self.wholes else None
