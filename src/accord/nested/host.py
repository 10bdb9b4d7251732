"""Hear of runs of nested sampling, and make the result from what their store holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.notice import Notice
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..runs.stored.ending import lost_chains
from ..runs.units import Failure
from ..storage import AbstractRun, Manifest, Segment
from ..vi.unruled import AbstractUnruledHost
from .findings import findings
from .plan import MOST_ROUNDS, Plan
from .points import DRAW, SHRINK
from .result import NestedDraws
from .stored import Ended, ended


@dataclass
class NestedHost(AbstractUnruledHost[NestedDraws]):
    """Host of runs of nested sampling. **Fields**: `density`; `plan`."""

    density: LogDensity
    plan: Plan
    _ended: list[Ended] = field(default_factory=list, init=False)
    _manifest: Manifest | None = field(default=None, init=False)

    @property
    def precision(self) -> Precision:
        """See `AbstractUnruledHost.precision`."""
        return self.plan.precision

    @property
    def phases(self) -> Mapping[str, str]:
        """See `AbstractHost.phases`."""
        return {SHRINK: SHRINK, DRAW: DRAW}

    @property
    def totals(self) -> Mapping[str, int]:
        """See `AbstractHost.totals`."""
        return {SHRINK: MOST_ROUNDS, DRAW: 1}

    def tell_failure(self, failure: Failure) -> Notice:
        """See `AbstractHost.tell_failure`."""
        numbers = ", ".join(map(str, failure.numbers))
        return Notice(
            "error",
            "run_failed",
            f"run {numbers} of nested sampling failed: {self.reason(failure)}",
            "It is left out; the evidence is that of the other runs. Take more live points, so that none fails.",
        )

    def result(
        self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, object]]
    ) -> NestedDraws:
        """See `AbstractHost.result`."""
        left = lost_chains(lost)
        numbers = [number for number in run.manifest["chains"] if number not in left]
        self._manifest = run.manifest
        self._ended = [ended(run, number, spilled) for number in numbers]
        return NestedDraws.of(run, self._ended)

    def is_empty(self, result: NestedDraws) -> bool:
        """See `AbstractHost.is_empty`."""
        return not result.num_draws

    def judge(self, result: NestedDraws, executor: AbstractExecutor) -> list[Notice]:
        """See `AbstractHost.judge`."""
        assert self._manifest is not None
        return [*findings(self._ended, [*result.by_run.values()], self._manifest), *self.density.notices]

    def finished(
        self, result: NestedDraws, notices: Sequence[Notice], timings: Mapping[str, float]
    ) -> NestedDraws:
        """See `AbstractHost.finished`."""
        return replace(result, notices=tuple(notices), timings=dict(timings)).attached(self.density)
