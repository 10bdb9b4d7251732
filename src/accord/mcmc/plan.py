"""Define the plan of a run."""

import functools
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from ..adaptation.base import AbstractAdaptation
from ..core.pace import USUAL, Pace
from ..core.position import Position
from ..core.precision import Precision, float_dtype
from ..density.control import Reference
from ..kernels.base import AbstractKernel
from ..runs.stopping.base import AbstractRule
from ..runs.stopping.looks import FIRST, looks
from .block import num_places
from .limits import check_length
from .start.base import AbstractPoints
from .start.uniform import UniformPoints
from .tuning import Column, columns_of

OnNonFinite = Literal["notice", "raise"]

KIND = "mcmc"
"""Name of this method in a manifest."""

ON_NONFINITE: tuple[OnNonFinite, ...] = get_args(OnNonFinite)


@dataclass(frozen=True)
class Plan:
    """Plan of every chain of a run; plain values, so that it can be sent to a worker.

    **Fields**: `kernel`; `num_warmup`, draws per chain, and `max_warmup`, the maximum of a chain that has not settled
    by then; `num_kept`, draws per chain after thinning; `thinning`; `seed`; `lanes`; `precision`; `dim`, the number of
    free numbers of a position; `segment`, the count of draws after which a segment ends; `shard`, arguments whose rows
    are cut into blocks, with the axis of the rows; `start`, the candidates for starting points; `until`, the rule that
    may end the run early, or None; `on_nonfinite`, how to treat a log density or gradient that is not finite: a notice
    at the end, or an error at once; `first_look`, kept draws per chain at which the rule is first checked; `pace`, how
    much is done at a time; `rows_at_once`, the most draws whose sites are computed in one batch; `whole`, whole numbers
    at the fixed points that identify the target, a tuple for each, of which a position has as many; `reference`, around
    which the log density of parts of the data is expanded, if the kernel needs one.
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
    whole: tuple[tuple[int, ...], ...] = ()
    reference: Reference | None = None

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

    @functools.cached_property
    def tuning_columns(self) -> tuple[Column, ...]:
        """Return the columns of `draws.tuning`, in the order in which the adaptation describes them."""
        return columns_of(self.adaptation, self.dim, self.dtype)

    @property
    def num_whole(self) -> int:
        """Number of whole numbers in a position."""
        return len(self.whole[0]) if self.whole else 0

    @property
    def num_places(self) -> int:
        """Number of positions that one call evaluates for a chain without a starting point."""
        return num_places(self.dim, self.lanes, self.segment)

    @property
    def nowhere(self) -> Position:
        """A position at which no chain stands yet; NumPy zeros."""
        return self.no_places()

    def no_places(self, *leading: int) -> Position:
        """Return zeros in the place of positions, with these axes in front; NumPy."""
        free: Any = np.zeros((*leading, self.dim), self.dtype)
        whole: Any = np.zeros((*leading, self.num_whole), np.int32) if self.num_whole else None
        return Position(free, whole)

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
