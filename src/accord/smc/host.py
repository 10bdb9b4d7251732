"""Hear of populations while they run, and make the result from what their store holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.errors import SamplingError
from ..core.notice import Notice
from ..core.precision import Precision
from ..density import LogDensity
from ..executors import AbstractExecutor
from ..runs.stored.ending import lost_chains
from ..runs.units import Failure
from ..storage import AbstractRun, Manifest, Segment
from ..vi.unruled import AbstractUnruledHost
from .findings import findings
from .machine import PopulationFailedError
from .plan import MOST_STAGES, Plan
from .population import DRAW, TEMPER
from .result import SMCDraws
from .stored import Ended, ended


@dataclass
class PopulationHost(AbstractUnruledHost[SMCDraws]):
    """Host of a run of populations. **Fields**: `density`; `plan`."""

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
        return {TEMPER: TEMPER, DRAW: DRAW}

    @property
    def totals(self) -> Mapping[str, int]:
        """See `AbstractHost.totals`."""
        return {TEMPER: MOST_STAGES, DRAW: self.plan.particles}

    def reason(self, failure: Failure) -> BaseException:
        """See `AbstractHost.reason`."""
        if isinstance(failure.error, PopulationFailedError):
            return SamplingError(str(failure.error))
        return super().reason(failure)

    def tell_failure(self, failure: Failure) -> Notice:
        """See `AbstractHost.tell_failure`."""
        numbers = ", ".join(map(str, failure.numbers))
        return Notice(
            "error",
            "population_failed",
            f"population {numbers} did not come to the posterior: {self.reason(failure)}",
            "It is left out, so that the evidence is that of the other populations. Take more particles, so that none "
            "fails.",
        )

    def result(
        self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, object]]
    ) -> SMCDraws:
        """See `AbstractHost.result`."""
        left = lost_chains(lost)
        numbers = [number for number in run.manifest["chains"] if number not in left]
        self._manifest = run.manifest
        self._ended = [ended(run, number, spilled) for number in numbers]
        return SMCDraws.of(run, self._ended)

    def is_empty(self, result: SMCDraws) -> bool:
        """See `AbstractHost.is_empty`."""
        return not result.num_draws

    def judge(self, result: SMCDraws, executor: AbstractExecutor) -> list[Notice]:
        """See `AbstractHost.judge`."""
        assert self._manifest is not None
        return [*findings(self._ended, self._manifest), *self.density.notices]

    def finished(self, result: SMCDraws, notices: Sequence[Notice], timings: Mapping[str, float]) -> SMCDraws:
        """See `AbstractHost.finished`."""
        return replace(result, notices=tuple(notices), timings=dict(timings)).attached(self.density)
