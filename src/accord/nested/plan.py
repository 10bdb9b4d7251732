"""Plan a run of nested sampling."""

from dataclasses import dataclass

import numpy as np

from ..core.pace import USUAL, Pace
from ..core.precision import Precision, float_dtype

KIND = "nested"
"""Name of this method in a manifest."""

MOST_ROUNDS = 1000
"""Rounds of a run, in each of which the volume shrinks by about e: no likelihood is followed for ever."""


@dataclass(frozen=True)
class Plan:
    """Plan of every run; plain values, so that it can be sent to a worker.

    **Fields**: `live`, points of a run; `batch`, points that are replaced at a time; `steps`, slice moves of each
    replacement; `runs`, their number; `tolerance`, what the live points may still add to the log evidence at the end;
    `seed`; `precision`; `dim`; `pace`, how much is done at a time.
    """

    live: int
    batch: int
    steps: int
    runs: int
    tolerance: float
    seed: int
    precision: Precision
    dim: int
    pace: Pace = USUAL

    @property
    def dtype(self) -> np.dtype:
        """Type of positions."""
        return float_dtype(self.precision)

    @property
    def batches(self) -> int:
        """Batches of a round, in which about as many points are replaced as there are."""
        return -(-self.live // self.batch)

    @property
    def replaced(self) -> int:
        """Points that a round replaces."""
        return self.batches * self.batch
