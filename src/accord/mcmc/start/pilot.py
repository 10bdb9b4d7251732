"""Start where the pilot of a run has been."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.position import Position
from ...core.precision import float_dtype
from ...density import LogDensity
from .base import AbstractPoints, AbstractStart
from .table import TablePoints

NUM_STARTS = 32
"""Places of a pilot that are kept for chains to start at."""

# From the place of a chain to that of the next one, so that neighbours are far apart on the walk.
_STRIDE = 13


@dataclass(frozen=True, eq=False)
class FromPilot(AbstractStart):
    """Start at places of the second half of a pilot's walk; beyond `NUM_STARTS` chains, they take these in turn.

    **Fields**: `free`, shape `(place, dim)`; `whole`, `(place, count)`, or None.
    """

    free: np.ndarray
    whole: np.ndarray | None

    def points(self, density: LogDensity, seed: int, chains: Sequence[int]) -> AbstractPoints:
        """Take one place for each chain, by its number."""
        del seed
        dtype = float_dtype(density.program.precision)

        def place(chain: int) -> Any:
            row = [_STRIDE * chain % len(self.free)]
            free: Any = self.free[row].astype(dtype)
            whole: Any = None if self.whole is None else self.whole[row]
            return Position(free, whole) if whole is not None else free

        places = {chain: place(chain) for chain in chains}
        return TablePoints.of("that the pilot found", places, frozenset(chains))

    def described(self) -> dict[str, Any]:
        """Its kind; the store keeps the places."""
        return {"kind": "from_pilot"}

    def kept(self) -> dict[str, Any]:
        """All places; JSON holds every digit of them."""
        return {
            "free": self.free.tolist(),
            "whole": None if self.whole is None else self.whole.tolist(),
        }

    @staticmethod
    def of_kept(kept: Mapping[str, Any]) -> "FromPilot":
        """Make the start of what `kept` returned."""
        whole = kept["whole"]
        return FromPilot(
            np.asarray(kept["free"], float), None if whole is None else np.asarray(whole, np.int32)
        )
