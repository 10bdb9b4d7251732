"""Record the results of workers: commit them, show them, and keep them in memory if the store fails."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core.errors import SamplingError, StorageError
from ..density import LogDensity
from ..diagnose.explain import sentence
from ..mcmc.endings import KINDS, MAX_UNMOVED, BadEnd
from ..mcmc.group import Item
from ..mcmc.nonfinite import held_back, is_not_finite, refuse
from ..mcmc.plan import Plan, Progress, Stretch, Stuck
from ..report import AbstractProgress
from ..storage import AbstractRun, Segment
from .complete import check_complete
from .constants import RECORD, Constants, check_constants, check_repeats
from .fingerprint import Fingerprint, check_fingerprint, keep_fingerprint, stored_fingerprint
from .scheduler import Failure
from .stopping.watch import Watch
from .stored.ending import LOST, STOPPING, lost_chains, stored_losses
from .stored.record import lost_records, to_segment


@dataclass
class Ledger:
    """Results of a run so far; the scheduling thread writes them.

    **Fields**
    - `density`, `plan`, `run` (the open store), `display`: the parts of the run.
    - `stop`: set to end the run early. `enough`: set when its stopping rule holds.
    - `timings`: seconds by phase. `began`, by `time.perf_counter`.
    - `spilled`: segments that the store could not write; `refused`: the reason.
    - `given_up`: chains that stopped moving.
    - `watch`: checks the stopping rule, if there is one.
    - `repaired`: sentences about damaged files that were set aside.
    """

    density: LogDensity
    plan: Plan
    run: AbstractRun
    display: AbstractProgress
    stop: threading.Event
    timings: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    spilled: list[Segment] = field(default_factory=list)
    refused: StorageError | None = None
    given_up: list[Failure] = field(default_factory=list)
    watch: Watch | None = None
    enough: threading.Event = field(default_factory=threading.Event)
    repaired: list[str] = field(default_factory=list)
    _is_complete: bool = False
    _target: np.ndarray | None = None  # fingerprint of the run's target, once it was compared
    _is_of_now: bool = False  # it was taken since this run was taken up
    _constants: Constants | None = None  # in the target's code, since this run was taken up
    _begins: dict[int, float] = field(default_factory=dict)
    _ends: dict[tuple[int, str], float] = field(default_factory=dict)
    _not_finite: list[BadEnd] = field(default_factory=list)  # of sampling, some perhaps of no account
    _lost_before: set[int] | None = None  # chains, when this run was taken up

    def __post_init__(self) -> None:
        if self._raises:
            self._not_finite = held_back(self.run)

    def commit(self, items: Sequence[Item]) -> None:
        """Record the results of a task.

        **Raises** `StorageError` if the target differs from the stored one, and `SamplingError` for the first value
        that is not finite with `on_nonfinite="raise"`.
        """
        for item in items:
            match item:
                case Fingerprint():
                    self._compare(item)
                case Constants():
                    self._compare_constants(item)
                case BadEnd():
                    if self._raises and is_not_finite(item):
                        self._not_finite.append(item)
                        self._refuse()
                case Stuck():
                    self._give_up(item)
                case Stretch():
                    self._store(to_segment(item, self.plan.thinning, self._target))
                case Progress():
                    self._note_time(item)
                    self._show(item)

    def is_ending(self) -> bool:
        """Return whether no more draws are needed."""
        return self.stop.is_set() or self.enough.is_set()

    def look(self, failures: Sequence[Failure]) -> None:
        """Check the stopping rule, if there is one; `failures` are failed chains.

        **Raises** as `commit`, for values that now belong to the run.
        """
        if self.watch is not None and self.watch.look(self._lost(failures)):
            self._take_verdict(self.watch)

    def settle(self, failures: Sequence[Failure]) -> None:
        """Check the stopping rule on all draws, after the last task. **Raises** as `look`."""
        if self.watch is not None:
            before = self.watch.stopping
            self.watch.settle(self._lost(failures), self.stop.is_set)
            if self.watch.stopping is not before:
                self._take_verdict(self.watch)
            self.timings["looks"] = self.watch.seconds

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of the slowest chain in each phase, from its first update to its last."""
        warm = {chain: self._ends.get((chain, "warmup"), begin) for chain, begin in self._begins.items()}
        warmup = [warm[chain] - begin for chain, begin in self._begins.items()]
        sampling = [self._ends.get((chain, "sample"), end) - end for chain, end in warm.items()]
        return {"warmup": max(warmup, default=0.0), "sampling": max(sampling, default=0.0)}

    def note(self, name: str, value: object) -> None:
        """Store a record beside the draws, unless the store has failed."""
        if self.refused is None:
            try:
                self.run.record(name, value)
            except StorageError as error:
                self.refused = error

    @property
    def _raises(self) -> bool:
        """Return whether the first value that is not finite is an error."""
        return self.plan.on_nonfinite == "raise"

    def _take_verdict(self, watch: Watch) -> None:
        if not watch.stopping.is_by_clock or watch.stopping.draws is not None:
            self.note(STOPPING, watch.stopping.as_json())
        if watch.is_decided:
            self.enough.set()
        self._refuse()

    def _lost(self, failures: Sequence[Failure]) -> set[int]:
        """Return the chains that make no more draws."""
        if self._lost_before is None:
            self._lost_before = lost_chains(stored_losses(self.run))
        return self._lost_before.union(*(each.chains for each in (*failures, *self.given_up)))

    def _refuse(self) -> None:
        """Raise `SamplingError` for a value that was not finite, unless the stopping rule may end the run before it."""
        num_sure = self.plan.num_kept if self.watch is None else self.watch.num_sure
        refuse(self.density, self.plan, self._not_finite, num_sure)

    def _compare(self, found: Fingerprint) -> None:
        """Compare the target with the one of the run, and mend the run once they are known to be the same."""
        if self._target is None:
            stored = stored_fingerprint(self.run)
            self._is_of_now = stored is None
            target = found.values if stored is None else stored
            self._check(target, found)
            self.repaired += self.run.mend()
            keep_fingerprint(self.run, target)
            self._target = target
            self._keep_constants()
        else:
            self._check(self._target, found)

    def _check(self, target: np.ndarray, found: Fingerprint) -> None:
        check_fingerprint(target, found, self.density, self.run.manifest, is_of_now=self._is_of_now)
        if self.plan.shard and not self._is_complete:
            check_complete(self.density, self.plan, found)
            self._is_complete = True

    def _compare_constants(self, found: Constants) -> None:
        if self._constants is not None:
            check_repeats(self._constants, found)
            return
        stored = self.run.records.get(RECORD)
        if stored is not None:
            check_constants(Constants.from_json(stored), found, self.run.manifest, self.density)
        self._constants = found
        self._keep_constants()

    def _keep_constants(self) -> None:
        """Store the numbers in the code of a new run, or of one from before they were kept.

        Only once its log density has shown that it is the target of the run. Raises where nothing can be stored.
        """
        if self._target is not None and self._constants is not None and self.run.records.get(RECORD) is None:
            self.run.record(RECORD, self._constants.as_json())

    def _give_up(self, stuck: Stuck) -> None:
        error = SamplingError(
            f"chain {stuck.chain} has not moved for {MAX_UNMOVED} draws in a row. "
            f"{_how_it_ended(stuck)}{_where(self.density, stuck, self.plan.pace.explain_seconds)}"
        )
        self.given_up.append(Failure((stuck.chain,), stuck.draw, error, f"SamplingError: {error}"))
        # At once: a run that is killed and resumed must know it too.
        self.note(LOST, lost_records(self.run, self.given_up))

    def _store(self, segment: Segment) -> None:
        if self.refused is None:
            try:
                self.run.append(segment)
                return
            except StorageError as error:
                self.refused = error
                self.stop.set()
        self.spilled.append(segment)

    def _note_time(self, item: Progress) -> None:
        then = time.perf_counter() - item.age
        self._begins.setdefault(item.chain, then)
        self._ends[item.chain, item.phase] = then

    def _show(self, item: Progress) -> None:
        plan = self.plan
        drawn = item.num_draws + (item.num_warmup if item.phase == "sample" else 0)
        step, count = (1, item.num_warmup) if item.phase == "warmup" else (plan.thinning, plan.num_draws)
        self.display.update(
            item.chain,
            item.phase,
            -(-item.num_draws // step),
            -(-count // step),
            step_size=item.step_size,
            divergences=item.num_divergent,
            steps_per_draw=item.num_gradients / max(drawn, 1),
            seconds=time.perf_counter() - self.began,
        )


def _how_it_ended(stuck: Stuck) -> str:
    """Describe how often the trajectories of a stuck chain failed."""
    counts = dict(zip(KINDS, stuck.tally.counts.sum(axis=0).tolist(), strict=True))
    return (
        f"Of {stuck.draw} trajectories, {counts['divergence']} diverged, {counts['log_density']} met a log density and "
        f"{counts['gradient']} a gradient that is not finite."
    )


def _where(density: LogDensity, stuck: Stuck, seconds: float) -> str:
    """Explain the worst kind of failure of a stuck chain, if a position was kept."""
    worst = sorted(stuck.tally.kept, key=lambda each: -KINDS.index(each.kind))
    return sentence(density, worst[0], seconds) if worst else ""
