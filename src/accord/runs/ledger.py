"""Record the results of workers: commit them, show them, and keep them in memory if the store fails."""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.errors import StorageError
from ..report import AbstractProgress
from ..storage import AbstractRun, Segment
from .constants import Constants
from .fingerprint import STORED, Fingerprint
from .method import AbstractHost
from .stopping.failed import RuleFailedError
from .stopping.watch import Watch
from .stored.ending import LOST, STOPPING, lost_chains, lost_records, stored_losses
from .target import Target
from .units import AbstractStretch, Failure, Item, News, Progress


@dataclass
class Ledger:
    """Results of a run so far; the scheduling thread writes them.

    **Fields**
    - `host`, `target`, `run` (the open store), `display`: the parts of the run.
    - `stop`: set to end the run early. `enough`: set when its stopping rule holds.
    - `timings`: seconds by phase. `began`, by `time.perf_counter`.
    - `spilled`: segments that the store could not write; `refused`: the reason.
    - `given_up`: units that the host gave up.
    - `watch`: checks the stopping rule, if there is one; `rule_failed`: what that raised, which ends the run.
    """

    host: AbstractHost[Any]
    target: Target
    run: AbstractRun
    display: AbstractProgress
    stop: threading.Event
    timings: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    spilled: list[Segment] = field(default_factory=list)
    refused: StorageError | None = None
    given_up: list[Failure] = field(default_factory=list)
    watch: Watch | None = None
    rule_failed: RuleFailedError | None = None
    enough: threading.Event = field(default_factory=threading.Event)
    _begins: dict[int, float] = field(default_factory=dict)
    _ends: dict[tuple[int, str], float] = field(default_factory=dict)
    _lost_before: set[int] | None = None  # units, when this run was taken up

    def commit(self, items: Sequence[Item]) -> None:
        """Record the results of a task.

        **Raises** `StorageError` if the target differs from the stored one, and what the host raises for news.
        """
        for item in items:
            match item:
                case Fingerprint():
                    self.target.compare(item)
                case Constants():
                    self.target.compare_constants(item)
                case News():
                    self._hear(item)
                case AbstractStretch():
                    self._store(item.segment())
                case Progress():
                    self._note_time(item)
                    self._show(item)

    def is_ending(self) -> bool:
        """Return whether no more work is needed."""
        return self.stop.is_set() or self.enough.is_set()

    def look(self, failures: Sequence[Failure]) -> None:
        """Check the stopping rule, if there is one; `failures` are failed units.

        **Raises** what the host raises for news that now belong to the run.
        """
        if self.watch is not None and self.rule_failed is None:
            with self._keeping_failure():
                if self.watch.look(self._lost(failures)):
                    self._take_verdict(self.watch)

    def settle(self, failures: Sequence[Failure]) -> None:
        """Check the stopping rule on all draws, after the last task. **Raises** as `look`."""
        if self.watch is not None:
            before = self.watch.stopping
            with self._keeping_failure():
                self.watch.settle(self._lost(failures), self.stop.is_set)
            if self.watch.stopping is not before:
                self._take_verdict(self.watch)
            self.timings["looks"] = self.watch.seconds

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of the slowest unit in each phase, from its first update to its last."""
        found, begins = {}, self._begins
        for phase, name in self.host.phases.items():
            ends = {unit: self._ends.get((unit, phase), begin) for unit, begin in begins.items()}
            found[name] = max((ends[unit] - begin for unit, begin in begins.items()), default=0.0)
            begins = ends
        return found

    def note(self, name: str, value: object) -> None:
        """Store a record beside the draws, unless the store has failed."""
        if self.refused is None:
            try:
                self.run.record(name, value)
            except StorageError as error:
                self.refused = error

    @contextlib.contextmanager
    def _keeping_failure(self) -> Iterator[None]:
        """End the run where its rule fails: what has been drawn is kept."""
        try:
            yield
        except RuleFailedError as error:
            self.rule_failed = error
            self.stop.set()

    @property
    def _num_sure(self) -> int | None:
        return None if self.watch is None else self.watch.num_sure

    def _take_verdict(self, watch: Watch) -> None:
        if not watch.stopping.is_by_clock or watch.stopping.draws is not None:
            self.note(STOPPING, watch.stopping.as_json())
        if watch.is_decided:
            self.enough.set()
        self.host.look(self._num_sure)

    def _lost(self, failures: Sequence[Failure]) -> set[int]:
        """Return the units that bring no more draws."""
        if self._lost_before is None:
            self._lost_before = lost_chains(stored_losses(self.run))
        return self._lost_before.union(*(each.numbers for each in (*failures, *self.given_up)))

    def _hear(self, news: News) -> None:
        failure = self.host.hear(news, self._num_sure)
        if failure is not None:
            self.given_up.append(failure)
            # At once: a run that is killed and resumed must know it too.
            self.note(LOST, lost_records(self.run, self.given_up))

    def _store(self, segment: Segment) -> None:
        if self.target.fingerprint is not None:
            end_state = {**segment.end_state, STORED: self.target.fingerprint}
            segment = replace(segment, end_state=end_state)
        if self.refused is None:
            try:
                self.run.append(segment)
                self._hear_stop()
                return
            except StorageError as error:
                self.refused = error
                self.stop.set()
        self.spilled.append(segment)

    def _hear_stop(self) -> None:
        """End the run where another process has asked for that, as Ctrl-C does."""
        if self.run.is_to_stop and not self.stop.is_set():
            self.stop.set()
            self.display.message("Stopping after the current block, as `accord stop` has asked.")

    def _note_time(self, item: Progress) -> None:
        then = time.perf_counter() - item.age
        self._begins.setdefault(item.unit, then)
        self._ends[item.unit, item.phase] = then

    def _show(self, item: Progress) -> None:
        seconds = time.perf_counter() - self.began
        self.display.update(
            item.unit, item.phase, item.num_done, item.num_total, seconds=seconds, **item.shown
        )
