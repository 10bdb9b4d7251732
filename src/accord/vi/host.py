"""Hear of restarts while they run, and make the fit from what its store holds."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import precision as precisions
from ..core.errors import StorageError
from ..core.notice import Notice
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..runs.stored.ending import lost_chains
from ..runs.units import Failure
from ..storage import AbstractRun, Segment
from .evaluate import Fitted, Judgement, judging
from .findings import findings
from .plan import Plan
from .points import judging_points
from .result import Fit
from .stored import JUDGED, Ended, ended
from .unruled import AbstractUnruledHost
from .written.guide import Written
from .written.start import NoBoundError, explain_bound


@dataclass
class FitHost(AbstractUnruledHost[Fit]):
    """Host of a fit. **Fields**: `density`; `plan`."""

    density: LogDensity
    plan: Plan
    _run: AbstractRun | None = field(default=None, init=False)
    _ended: list[Ended] = field(default_factory=list, init=False)
    _judged: dict[int, Judgement] = field(default_factory=dict, init=False)

    @property
    def precision(self) -> Precision:
        """See `AbstractUnruledHost.precision`."""
        return self.plan.precision

    @property
    def phases(self) -> Mapping[str, str]:
        """See `AbstractHost.phases`."""
        return {phase: phase for phase in self.plan.phases}

    @property
    def totals(self) -> Mapping[str, int]:
        """See `AbstractHost.totals`."""
        return {stage.phase: stage.num_steps for stage in self.plan.stages}

    def tell_failure(self, failure: Failure) -> Notice:
        """See `AbstractHost.tell_failure`."""
        numbers = ", ".join(map(str, failure.numbers))
        return Notice(
            "error",
            "restart_failed",
            f"restart {numbers} ended after {failure.num_done} steps: {self.reason(failure)}",
            "It is left out; the other restarts are unaffected.",
        )

    def reason(self, failure: Failure) -> BaseException:
        """See `AbstractHost.reason`."""
        guide = self.plan.stages[0].guide
        if isinstance(failure.error, NoBoundError) and isinstance(guide, Written):
            with precisions.scope(self.precision):
                return explain_bound(self.density, guide, failure.error)
        return super().reason(failure)

    def result(self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, Any]]) -> Fit:
        """See `AbstractHost.result`."""
        self._run = run
        left = lost_chains(lost)
        numbers = [number for number in run.manifest["chains"] if number not in left]
        guide = self.plan.stages[-1].guide
        self._ended = [ended(run, guide, number, spilled) for number in numbers or run.manifest["chains"]]
        return self._made(run, {})

    def is_empty(self, result: Fit) -> bool:
        """See `AbstractHost.is_empty`."""
        return not any(len(each.losses) for each in self._ended)

    def judge(self, result: Fit, executor: AbstractExecutor) -> list[Notice]:
        """See `AbstractHost.judge`: by new draws from each restart."""
        with precisions.scope(self.plan.precision):
            judge = self._judging()
            self._judged = {
                each.number: judge(each.fitted, self.plan.seed, each.number)
                for each in self._ended
                if each.fitted is not None
            }
        if self._run is not None:
            # A store that takes nothing more is told of by the notices, which it does not take either.
            with contextlib.suppress(StorageError):
                self._run.record(
                    JUDGED, {str(number): each.as_json() for number, each in self._judged.items()}
                )
        return [*findings(self._ended, self._judged, self.plan.stages[-1]), *self.density.notices]

    def _judging(self) -> Callable[[Fitted, int, int], Judgement]:
        if not self.plan.stages[-1].guide.num_points:
            return judging(self.density)
        judge = judging_points(self.density)
        return lambda fitted, seed, number: judge(fitted)

    def finished(self, result: Fit, notices: Sequence[Notice], timings: Mapping[str, float]) -> Fit:
        """See `AbstractHost.finished`."""
        assert self._run is not None
        made = self._made(self._run, self._judged)
        return replace(made, notices=tuple(notices), timings=dict(timings), density=self.density)

    def _made(self, run: AbstractRun, judged: Mapping[int, Judgement]) -> Fit:
        last = self.plan.stages[-1]
        return Fit.of(run, self._ended, judged, objective=last.objective, guide=last.guide)
