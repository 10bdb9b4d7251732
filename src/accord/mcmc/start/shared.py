"""Start several chains at one point: the superchains of nested R-hat."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...density import LogDensity
from ...kernels import AbstractKernel
from .base import AbstractPoints, AbstractStart


@dataclass(frozen=True)
class SharedPoints(AbstractPoints):
    """Candidates of every `size`-th chain, shared by it and the chains after it."""

    points: AbstractPoints
    size: int

    @property
    def origin(self) -> str:
        return self.points.origin

    def num_tries(self, chain: int) -> int:
        """Return the number of candidates of the first chain of the set."""
        return self.points.num_tries(self._first(chain))

    def is_given(self, chain: int) -> bool:
        """Return the answer for the first chain of the set."""
        return self.points.is_given(self._first(chain))

    def position(self, seed: int, chain: int, attempt: int, dim: int) -> np.ndarray:
        """Return the candidate of the first chain of the set."""
        return self.points.position(seed, self._first(chain), attempt, dim)

    def whole(self, chain: int, attempt: int) -> np.ndarray | None:
        """Return those of the first chain of the set."""
        return self.points.whole(self._first(chain), attempt)

    def _first(self, chain: int) -> int:
        return chain // self.size * self.size


def points_for(
    kernel: AbstractKernel,
    start: AbstractStart,
    density: LogDensity,
    seed: int,
    chains: Sequence[int],
    total: int,
) -> AbstractPoints:
    """Return the candidates for `chains` of a run of `total` chains; see `AbstractStart.points`."""
    superchains = getattr(kernel, "superchains", None)  # of a population
    if superchains is None:
        return start.points(density, seed, chains)
    size = total // superchains
    return SharedPoints(start.points(density, seed, range(0, total, size)), size)
