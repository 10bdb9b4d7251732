"""Say what the chains of a run are to do, and what they hand back."""

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ..adaptation import pooled, schedule
from ..adaptation.metric import Choice, rank_for
from ..adaptation.schedule import MetricUpdate
from ..core.pace import USUAL, Pace
from ..core.precision import Precision, float_dtype
from ..kernels.base import AbstractKernel
from ..kernels.metric import Metric
from ..storage import Phase
from .block import ChainState
from .starting.base import AbstractPoints
from .starting.uniform import UniformPoints
from .stopping.base import AbstractRule
from .stopping.looks import FIRST, looks
from .tally import Tally

OnNonFinite = Literal["notice", "raise"]

ON_NONFINITE: tuple[OnNonFinite, ...] = get_args(OnNonFinite)


@dataclass(frozen=True)
class Plan:
    """What every chain of a run is to do; plain values, so that it can be sent to a worker.

    **Fields**: `kernel`; `num_warmup`, draws per chain, and `max_warmup`, the most of one that has not settled by then;
    `num_kept`, draws per chain after thinning; `thinning`; `seed`; `lanes`;
    `precision`; `dim`, length of a position; `segment`, the count of draws after which a segment ends; `shard`,
    arguments whose rows are cut into blocks, with the axis of the rows; `start`, the places where chains may begin;
    `until`, the rule that may end the run before, or None; `on_nonfinite`, what becomes of a log density or gradient
    that is not finite: a notice at the end, or an error there and then; `first_look`, kept draws per chain at which
    the rule is first looked at; `pace`, how much is done at a time.
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
    max_warmup: int = 0
    until: AbstractRule | None = None
    on_nonfinite: OnNonFinite = "notice"
    first_look: int = FIRST
    pace: Pace = USUAL

    @property
    def is_ensemble(self) -> bool:
        """Whether its chains are one group that learns and moves together."""
        return self.kernel.is_ensemble

    def metric_updates(self, num_warmup: int) -> tuple[MetricUpdate, ...]:
        """The draws at which the metric is learnt in a warm-up of `num_warmup` draws."""
        return (pooled if self.is_ensemble else schedule).metric_updates(num_warmup)

    @property
    def num_draws(self) -> int:
        """Draws per chain before thinning; the last one is kept."""
        return (self.num_kept - 1) * self.thinning + 1

    @property
    def metric_rank(self) -> int:
        """How many directions beside the axes a metric of this run has room for."""
        return rank_for(self.dim, self.kernel.metric)

    def made_for(self, kept: int) -> int:
        """Draws after warm-up, before thinning, that it takes to keep so many."""
        return (kept - 1) * self.thinning + 1

    @property
    def looks(self) -> tuple[int, ...]:
        """Draws after warm-up, before thinning, at which the rule is looked at; a segment ends at each."""
        return () if self.until is None else tuple(map(self.made_for, looks(self.num_kept, self.first_look)))

    @property
    def dtype(self) -> np.dtype:
        """Of positions."""
        return float_dtype(self.precision)


@dataclass(frozen=True)
class Progress:
    """What a chain has done so far: draws of the current phase, gradients since it began, divergences after warm-up.

    `num_warmup` is how many draws of warm-up it has, as far as is known; `age`, for how many seconds this was so when
    its task ended.
    """

    chain: int
    phase: Phase
    num_draws: int
    num_divergent: int
    num_gradients: int
    step_size: float
    num_warmup: int
    age: float = 0.0


@dataclass(frozen=True)
class Piece:
    """Consecutive draws of one phase of one chain, and the state after them; NumPy arrays.

    **Fields**: `start` and `stop` count draws before thinning, of which `arrays` hold those that are kept; `choice`,
    why `metric` has its form; `num_gradients`, of these draws; `total_gradients`, `tally`, `num_warmup` and
    `is_settled`, of the chain so far.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    metric: Metric
    choice: Choice
    num_gradients: int
    total_gradients: int
    tally: Tally
    num_warmup: int
    is_settled: bool


@dataclass(frozen=True)
class Stuck:
    """A chain that is given up, since it has not moved for `MAX_UNMOVED` draws; `draw` counts those of warm-up too."""

    chain: int
    draw: int
    tally: Tally
