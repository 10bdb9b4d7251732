"""Define the plan of a run, and the stretches and progress that its chains return."""

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ..adaptation.base import AbstractAdaptation, Fitted
from ..core.pace import USUAL, Pace
from ..core.precision import Precision, float_dtype
from ..kernels.base import AbstractKernel
from ..runs.stopping.base import AbstractRule
from ..runs.stopping.looks import FIRST, looks
from ..storage import Phase
from .block import ChainState
from .endings import Tally
from .limits import check_length
from .start.base import AbstractPoints
from .start.uniform import UniformPoints

OnNonFinite = Literal["notice", "raise"]

ON_NONFINITE: tuple[OnNonFinite, ...] = get_args(OnNonFinite)


@dataclass(frozen=True)
class Plan:
    """Plan of every chain of a run; plain values, so that it can be sent to a worker.

    **Fields**: `kernel`; `num_warmup`, draws per chain, and `max_warmup`, the maximum of a chain that has not settled
    by then; `num_kept`, draws per chain after thinning; `thinning`; `seed`; `lanes`; `precision`; `dim`, length of a
    position; `segment`, the count of draws after which a segment ends; `shard`, arguments whose rows are cut into
    blocks, with the axis of the rows; `start`, the candidates for starting points; `until`, the rule that may end the
    run early, or None; `on_nonfinite`, how to treat a log density or gradient that is not finite: a notice at the end,
    or an error at once; `first_look`, kept draws per chain at which the rule is first checked; `pace`, how much is done
    at a time; `rows_at_once`, the most draws whose sites are computed in one batch.
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
    rows_at_once: int = 1

    def __post_init__(self) -> None:
        check_length(self.num_kept, self.thinning, max(self.num_warmup, self.max_warmup))

    @property
    def is_ensemble(self) -> bool:
        """Return whether all chains form one group that learns and moves together."""
        return self.kernel.is_ensemble

    @property
    def adaptation(self) -> AbstractAdaptation:
        """What warm-up learns."""
        return self.kernel.adaptation

    @property
    def num_draws(self) -> int:
        """Number of draws per chain before thinning; the last one is kept."""
        return (self.num_kept - 1) * self.thinning + 1

    def made_for(self, kept: int) -> int:
        """Return the draws after warm-up, before thinning, that give this many kept draws."""
        return (kept - 1) * self.thinning + 1

    @property
    def looks(self) -> tuple[int, ...]:
        """Return the draws after warm-up, before thinning, at which the rule is checked; a segment ends at each."""
        return () if self.until is None else tuple(map(self.made_for, looks(self.num_kept, self.first_look)))

    @property
    def dtype(self) -> np.dtype:
        """Dtype of positions."""
        return float_dtype(self.precision)


@dataclass(frozen=True)
class Progress:
    """Progress of a chain: draws of the current phase, all gradients, divergences after warm-up.

    `num_warmup`: its draws of warm-up, as known now; `age`: seconds between this state and the end of its task.
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
class Stretch:
    """Consecutive draws of one phase of one chain, and the state after them; NumPy arrays.

    **Fields**: `start` and `stop` count draws before thinning, of which `arrays` hold those that are kept; `fitted`,
    what the host has learnt; `num_gradients`, of these draws; `total_gradients`, `tally`, `num_warmup` and
    `is_settled`, of the chain so far.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    fitted: Fitted
    num_gradients: int
    total_gradients: int
    tally: Tally
    num_warmup: int
    is_settled: bool


@dataclass(frozen=True)
class Stuck:
    """A chain that is given up after `MAX_UNMOVED` draws without a move; `draw` counts warm-up too."""

    chain: int
    draw: int
    tally: Tally
