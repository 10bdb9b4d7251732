"""Hear of paths while they run, and make the result from what their store holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import SamplingError
from ...core.notice import Notice
from ...core.precision import Precision
from ...density import LogDensity
from ...executors import AbstractExecutor
from ...executors.pools import one_blas_thread
from ...runs.stored.ending import lost_chains
from ...runs.units import Failure
from ...storage import AbstractRun, Segment
from ..unruled import AbstractUnruledHost
from .findings import findings
from .machine import PathFailedError
from .path import CLIMB, DRAW
from .plan import MOST_POINTS, Plan
from .pooled import Pool
from .result import Paths
from .stored import Ended, ended


@dataclass
class PathHost(AbstractUnruledHost[Paths]):
    """Host of a search by paths. **Fields**: `density`; `plan`."""

    density: LogDensity
    plan: Plan
    _ended: list[Ended] = field(default_factory=list, init=False)
    _pool: Pool | None = field(default=None, init=False)

    @property
    def precision(self) -> Precision:
        """See `AbstractUnruledHost.precision`."""
        return self.plan.precision

    @property
    def phases(self) -> Mapping[str, str]:
        """See `AbstractHost.phases`."""
        return {CLIMB: CLIMB, DRAW: DRAW}

    @property
    def totals(self) -> Mapping[str, int]:
        """See `AbstractHost.totals`."""
        return {CLIMB: MOST_POINTS, DRAW: self.plan.num_draws}

    def reason(self, failure: Failure) -> BaseException:
        """See `AbstractHost.reason`."""
        if isinstance(failure.error, PathFailedError):
            return SamplingError(str(failure.error))
        return super().reason(failure)

    def tell_failure(self, failure: Failure) -> Notice:
        """See `AbstractHost.tell_failure`."""
        numbers = ", ".join(map(str, failure.numbers))
        return Notice(
            "error",
            "path_failed",
            f"path {numbers} ended without draws: {self.reason(failure)}",
            "It is left out; the other paths are unaffected.",
        )

    def result(
        self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, Any]]
    ) -> Paths:
        """See `AbstractHost.result`."""
        left = lost_chains(lost)
        numbers = [number for number in run.manifest["chains"] if number not in left]
        with one_blas_thread():
            self._ended = [ended(run, number, spilled) for number in numbers]
            paths, self._pool = Paths.of(run, self._ended)
        return paths

    def is_empty(self, result: Paths) -> bool:
        """See `AbstractHost.is_empty`."""
        return not result.num_draws

    def judge(self, result: Paths, executor: AbstractExecutor) -> list[Notice]:
        """See `AbstractHost.judge`."""
        assert self._pool is not None
        return [*findings(self._ended, self._pool, self.plan.num_draws), *self.density.notices]

    def finished(self, result: Paths, notices: Sequence[Notice], timings: Mapping[str, float]) -> Paths:
        """See `AbstractHost.finished`."""
        return result.judged(notices, timings).attached(self.density)
