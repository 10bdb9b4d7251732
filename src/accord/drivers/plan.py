"""Say what the chains of a run are to do, and what they hand back."""

from dataclasses import dataclass, field

import numpy as np

from ..core.precision import Precision, float_dtype
from ..kernels.base import AbstractKernel
from ..kernels.metric import Metric
from ..storage import Phase
from .program import ChainState
from .starting.base import AbstractPoints
from .starting.uniform import UniformPoints
from .tally import Tally


@dataclass(frozen=True)
class Plan:
    """What every chain of a run is to do; plain values, so that it can be sent to a worker.

    **Fields**: `kernel`; `num_warmup`; `num_kept`, draws per chain after thinning; `thinning`; `seed`; `lanes`;
    `precision`; `dim`, length of a position; `segment`, the count of draws after which a segment ends; `shard`,
    arguments whose rows are cut into blocks, with the axis of the rows; `start`, the places where chains may begin.
    """

    kernel: AbstractKernel
    num_warmup: int
    num_kept: int
    thinning: int
    seed: int
    lanes: int
    precision: Precision
    dim: int
    segment: int
    shard: tuple[tuple[str, int], ...] = ()
    start: AbstractPoints = field(default_factory=UniformPoints)

    @property
    def num_draws(self) -> int:
        """Draws per chain before thinning; the last one is kept."""
        return (self.num_kept - 1) * self.thinning + 1

    @property
    def last(self) -> int:
        """Draws per chain, warm-up included, before thinning."""
        return self.num_warmup + self.num_draws

    @property
    def dtype(self) -> np.dtype:
        """Of positions."""
        return float_dtype(self.precision)


@dataclass(frozen=True)
class Progress:
    """What a chain has done so far: draws of the current phase, gradients since it began, divergences after warm-up."""

    chain: int
    phase: Phase
    num_draws: int
    num_divergent: int
    num_gradients: int
    step_size: float


@dataclass(frozen=True)
class Piece:
    """Consecutive draws of one phase of one chain, before thinning, and the state after them; NumPy arrays.

    **Fields**: `num_gradients`, of these draws; `total_gradients` and `tally`, of the chain so far.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    metric: Metric
    num_gradients: int
    total_gradients: int
    tally: Tally


@dataclass(frozen=True)
class Stuck:
    """A chain that is given up, since it has not moved for `MAX_UNMOVED` draws; `draw` counts those of warm-up too."""

    chain: int
    draw: int
    tally: Tally
