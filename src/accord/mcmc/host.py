"""Hear of chains while they run, and make the draws of a run from what its store holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import precision as precisions
from ..core.errors import SamplingError
from ..core.notice import Notice
from ..density import LogDensity
from ..diagnose.background_checks import BackgroundChecks
from ..diagnose.forms import forms_by_scale
from ..executors import AbstractExecutor
from ..report.rules.movement import has_low_e_bfmi
from ..runs.method import AbstractHost
from ..runs.stopping.watch import Watch
from ..runs.stored.ending import stopping_of
from ..runs.units import Failure, News
from ..storage import AbstractRun, Segment
from .blamed import blamed, sentence
from .draws import Draws
from .endings import KINDS, MAX_UNMOVED, BadEnd
from .idle_devices import idle_devices
from .nonfinite import is_not_finite, refuse
from .plan import Plan
from .start.explained import explain_start
from .start.search import StartFailedError
from .stored.record import assemble, judge
from .stretch import Stuck


@dataclass
class ChainHost(AbstractHost[Draws]):
    """Host of a run of chains.

    **Fields**: `density`; `plan`; `background`, checks of the model; `not_finite`, values of sampling that were not
    finite, some perhaps of no account.
    """

    density: LogDensity
    plan: Plan
    background: BackgroundChecks
    not_finite: list[BadEnd] = field(default_factory=list)

    @property
    def shard(self) -> Mapping[str, int]:
        """See `AbstractHost.shard`."""
        return dict(self.plan.shard)

    @property
    def phases(self) -> Mapping[str, str]:
        """See `AbstractHost.phases`."""
        return {"warmup": "warmup", "sample": "sampling"}

    @property
    def totals(self) -> Mapping[str, int]:
        """See `AbstractHost.totals`."""
        return {"warmup": self.plan.num_warmup, "sample": self.plan.num_kept}

    def begin_checks(self) -> None:
        """See `AbstractHost.begin_checks`."""
        self.background.begin()

    def watch(self, run: AbstractRun, began: float, show: Callable[[str], None]) -> Watch | None:
        """See `AbstractHost.watch`."""
        plan = self.plan
        if plan.until is None:
            return None
        return Watch(plan.until, run, plan.num_kept, stopping_of(run), began, show, plan.pace)

    def hear(self, news: News, num_sure: int | None) -> Failure | None:
        """See `AbstractHost.hear`.

        **Raises** `SamplingError` for the first value that is not finite with `on_nonfinite="raise"`.
        """
        match news:
            case BadEnd() if self.plan.on_nonfinite == "raise" and is_not_finite(news):
                self.not_finite.append(news)
                self.look(num_sure)
            case Stuck():
                return self._give_up(news)
        return None

    def look(self, num_sure: int | None) -> None:
        """See `AbstractHost.look`."""
        refuse(self.density, self.plan, self.not_finite, self.plan.num_kept if num_sure is None else num_sure)

    def reason(self, failure: Failure) -> BaseException:
        """See `AbstractHost.reason`."""
        if isinstance(failure.error, StartFailedError):
            with precisions.scope(self.plan.precision):
                return explain_start(self.density, failure.error)
        return failure.error

    def tell_failure(self, failure: Failure) -> Notice:
        """See `AbstractHost.tell_failure`."""
        numbers = ", ".join(map(str, failure.numbers))
        return Notice(
            "error",
            "chain_failed",
            f"chain {numbers} ended after {failure.num_done} draws, warm-up included: {self.reason(failure)}",
            f"It is left out; the other chains are unaffected. `chains=[{failure.numbers[0]}]` runs it alone.",
        )

    def result(
        self, run: AbstractRun, spilled: Sequence[Segment], lost: Sequence[Mapping[str, Any]]
    ) -> Draws:
        """See `AbstractHost.result`."""
        draws = assemble(run, self.density.data, spilled, lost)
        if draws.stopping is None or self.plan.until is None:
            return draws
        # A rule of a user's own is not built from a store.
        return replace(draws, stopping=replace(draws.stopping, rule=self.plan.until))

    def is_empty(self, result: Draws) -> bool:
        """See `AbstractHost.is_empty`."""
        return not result.num_draws

    def judge(self, result: Draws, executor: AbstractExecutor) -> list[Notice]:
        """See `AbstractHost.judge`."""
        density, plan = self.density, self.plan
        # A sound run does not pay for the forms.
        is_doubtful = result.counts["divergence"]["sample"].any() or has_low_e_bfmi(result.stats)
        forms, unknown = forms_by_scale(density) if is_doubtful else ({}, ())
        return [
            *judge(result, blamed(density, result, plan.pace.explain_seconds), forms),
            *unknown,
            *density.notices,
            *self.background.notices(is_interrupted=not result.complete),
            *idle_devices(executor, plan, len(result.manifest["chains"])),
        ]

    def finished(self, result: Draws, notices: Sequence[Notice], timings: Mapping[str, float]) -> Draws:
        """See `AbstractHost.finished`."""
        return replace(result, notices=tuple(notices), timings=dict(timings), density=self.density)

    def _give_up(self, stuck: Stuck) -> Failure:
        error = SamplingError(
            f"chain {stuck.chain} has not moved for {MAX_UNMOVED} draws in a row. "
            f"{_how_it_ended(stuck)}{self._where(stuck)}"
        )
        return Failure((stuck.chain,), stuck.draw, error, f"SamplingError: {error}")

    def _where(self, stuck: Stuck) -> str:
        """Explain the worst kind of failure of a stuck chain, if a position was kept."""
        worst = sorted(stuck.tally.kept, key=lambda each: -KINDS.index(each.kind))
        return sentence(self.density, worst[0], self.plan.pace.explain_seconds) if worst else ""


def _how_it_ended(stuck: Stuck) -> str:
    """Describe how often the trajectories of a stuck chain failed."""
    counts = dict(zip(KINDS, stuck.tally.counts.sum(axis=0).tolist(), strict=True))
    return (
        f"Of {stuck.draw} trajectories, {counts['divergence']} diverged, {counts['log_density']} met a log density and "
        f"{counts['gradient']} a gradient that is not finite."
    )
