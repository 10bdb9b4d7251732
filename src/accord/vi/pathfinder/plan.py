"""Plan a search by paths."""

from dataclasses import dataclass

import numpy as np

from ...core.pace import USUAL, Pace
from ...core.precision import Precision, float_dtype
from ...mcmc.start.base import AbstractPoints

KIND = "pathfinder"
"""Name of this method in a manifest."""

MOST_POINTS = 1024
"""Points of a climb: what has no peak is not followed for ever."""


@dataclass(frozen=True)
class Plan:
    """Plan of every path; plain values, so that it can be sent to a worker.

    **Fields**: `points`, the candidates for starting points; `seed`; `num_paths`; `num_draws`, of each path and of the
    result; `precision`; `dim`; `pace`, how much is done at a time.
    """

    points: AbstractPoints
    seed: int
    num_paths: int
    num_draws: int
    precision: Precision
    dim: int
    pace: Pace = USUAL

    @property
    def dtype(self) -> np.dtype:
        """Type of positions."""
        return float_dtype(self.precision)

    @property
    def epsilon(self) -> float:
        """Relative rounding error of the log density."""
        return float(np.finfo(self.dtype).eps)
