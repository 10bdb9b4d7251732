"""Carry out a run that has a store: give its chains to workers, commit what they draw, and judge the result."""

import functools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..core import precision as precisions
from ..core.errors import StorageError
from ..core.notice import Notice
from ..density import LogDensity
from ..executors import AbstractExecutor, AbstractPool, Surroundings, ThreadPool, surroundings_here
from ..executors.pools import one_blas_thread
from ..report import AbstractProgress, tell
from ..storage import AbstractRun, Segment
from . import cache, worker
from .complete import check_complete, not_compared
from .draws import Draws
from .fingerprint import Fingerprint, check_fingerprint
from .group import Group, Item, StartFailedError
from .interrupts import Interrupts
from .plan import Piece, Plan, Progress
from .record import assemble, judge, notice_records, to_segment
from .scheduler import Failure, Scheduler
from .starts import explain_start

T = TypeVar("T")

_TASK_SECONDS = {True: 0.0, False: 1.0}  # by whether memory is shared: a block, or what is worth a journey
_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread


@dataclass(frozen=True)
class Order:
    """A run that is to be carried out.

    **Fields**: `density`; `plan`; `groups`, of chains that have begun, or of the numbers of chains to begin;
    `executor`; `run`, the open store; `display`; `is_quiet`; `began`, by `time.perf_counter`.
    """

    density: LogDensity
    plan: Plan
    groups: Sequence[Group | Sequence[int]]
    executor: AbstractExecutor
    run: AbstractRun
    display: AbstractProgress
    is_quiet: bool
    began: float


def carry_out(order: Order) -> Draws:
    """Run every group to its end, or until Ctrl-C, and return what the store holds.

    **Raises** `InitializationError` where no chain could begin; what the only chains raised, where all have failed.
    """
    with Interrupts() as interrupts:
        draws = _carry_out(order, interrupts)
        if not order.is_quiet:
            tell(draws.notices)
    return draws


def _carry_out(order: Order, interrupts: Interrupts) -> Draws:
    plan, run, display = order.plan, order.run, order.display
    ledger = _Ledger(order, threading.Event())
    display.start(run.manifest.chains, {"warmup": plan.num_warmup, "sample": plan.num_kept})
    failures: list[Failure] = []
    if run.records.get("notices"):  # those of an earlier end say nothing of what is drawn now
        ledger.note("notices", None)
    try:
        with precisions.scope(plan.precision), one_blas_thread():
            failures = _schedule(order, ledger, interrupts)
    except _InterruptedError:
        pass
    except BaseException:
        run.close()
        raise
    finally:
        display.stop()
    return _patiently(lambda: _finish(order, ledger, failures), ledger.stop, interrupts)


class _InterruptedError(Exception):
    """Ctrl-C came before the first draw."""


def _schedule(order: Order, ledger: "_Ledger", interrupts: Interrupts) -> list[Failure]:
    pool: AbstractPool | None = None
    try:
        try:
            with interrupts.raising():
                do, surroundings = _prepare(order, ledger)
                pool = order.executor.open(len(order.groups), surroundings)
        except KeyboardInterrupt:
            interrupts.forget()
            raise _InterruptedError from None
        seconds = _TASK_SECONDS[order.executor.shares_memory]
        scheduler = Scheduler(pool, do, ledger.commit, order.display.message, ledger.stop, seconds)
        say = functools.partial(
            order.display.message, "Stopping after the current block; Ctrl-C again to abandon it."
        )
        with one_blas_thread():  # again, since compiling may have loaded a library
            return _patiently(lambda: scheduler.run(order.groups), ledger.stop, interrupts, say)
    finally:
        if pool is not None:
            pool.close()


def _prepare(
    order: Order, ledger: "_Ledger"
) -> tuple[tuple[Callable[..., worker.Outcome], Any], Surroundings]:
    """What each task calls, with what it is given beside its group; and what workers are to find around them."""
    cache_folder = cache.persist()
    do: tuple[Callable[..., worker.Outcome], Any]
    if order.executor.shares_memory:
        groups = order.executor.device_groups()
        machines, seconds = worker.build_all(order.density, order.plan, groups, len(order.groups))
        ledger.timings |= seconds
        do = (functools.partial(worker.do_on_any, is_stopped=ledger.stop.is_set), machines)
    else:
        do_there = worker.do_together if order.executor.is_gang else worker.do_packed
        do = (do_there, worker.pack(order.density, order.plan))
    here = surroundings_here(order.plan.precision)
    return do, Surroundings(here.precision, here.platform, here.pool_width, cache_folder)


def _patiently(
    call: Callable[[], T],
    stop: threading.Event,
    interrupts: Interrupts,
    say: Callable[[], None] = lambda: None,
) -> T:
    """Wait for a call whose result must not be lost: the first Ctrl-C sets `stop`, a second one raises.

    The call has a thread of its own: an interrupt reaches the calling thread alone, which only waits, so that it cannot
    fall between receiving draws and committing them.
    """
    pool = ThreadPool(1)
    try:
        result = pool.submit(call)
        while True:
            try:
                while not result.done():
                    wait([result], timeout=_POLL)
                    interrupts.check()
                return result.result()
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                stop.set()
                say()
    finally:
        pool.close()


@dataclass
class _Ledger:
    """What has come back from workers: commits it, shows it, and keeps it where the store no longer can."""

    order: Order
    stop: threading.Event
    timings: dict[str, float] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    spilled: list[Segment] = field(default_factory=list)
    refused: StorageError | None = None
    _is_complete: bool = False
    _begins: dict[int, float] = field(default_factory=dict)
    _ends: dict[tuple[int, str], float] = field(default_factory=dict)

    def commit(self, items: Sequence[Item]) -> None:
        """Take what a task completed. Raises `StorageError` for a target that is not the one of the store."""
        for item in items:
            if isinstance(item, Fingerprint):
                check_fingerprint(self.order.run, item, self.order.plan.precision)
                if self.order.plan.shard and not self._is_complete:
                    check_complete(self.order.density, self.order.plan, item)
                    self._is_complete = True
                continue
            self._note_time(item)
            if isinstance(item, Piece):
                self._store(to_segment(item, self.order.plan.thinning))
            else:
                self._show(item)

    @property
    def seconds(self) -> dict[str, float]:
        """Spent by the slowest chain in each phase, from its first news to its last."""
        warm = {chain: self._ends.get((chain, "warmup"), begin) for chain, begin in self._begins.items()}
        warmup = [warm[chain] - begin for chain, begin in self._begins.items()]
        sampling = [self._ends.get((chain, "sample"), end) - end for chain, end in warm.items()]
        return {"warmup": max(warmup, default=0.0), "sampling": max(sampling, default=0.0)}

    def note(self, name: str, value: object) -> None:
        """Keep a record beside the draws, unless the store takes nothing any more."""
        if self.refused is None:
            try:
                self.order.run.record(name, value)
            except StorageError as error:
                self.refused = error

    def _store(self, segment: Segment) -> None:
        if self.refused is None:
            try:
                self.order.run.append(segment)
                return
            except StorageError as error:
                self.refused = error
                self.stop.set()
        self.spilled.append(segment)

    def _note_time(self, item: Progress | Piece) -> None:
        now = time.perf_counter()
        self._begins.setdefault(item.chain, now)
        self._ends[item.chain, item.phase] = now

    def _show(self, item: Progress) -> None:
        plan = self.order.plan
        drawn = item.num_draws + (plan.num_warmup if item.phase == "sample" else 0)
        step, count = (1, plan.num_warmup) if item.phase == "warmup" else (plan.thinning, plan.num_draws)
        self.order.display.update(
            item.chain,
            item.phase,
            -(-item.num_draws // step),
            -(-count // step),
            step_size=item.step_size,
            divergences=item.num_divergent,
            steps_per_draw=item.num_gradients / max(drawn, 1),
            seconds=time.perf_counter() - self.began,
        )


def _finish(order: Order, ledger: _Ledger, failures: Sequence[Failure]) -> Draws:
    """Judge the run, write what was found beside the draws, and say it."""
    run, density = order.run, order.density
    earlier: Any = run.records.get("failures", [])
    noted: list[dict[str, Any]] = [
        *earlier,
        *(dict(chains=list(each.chains), draw=each.draw, error=each.text) for each in failures),
    ]
    draws = assemble(run, density.data, ledger.spilled, noted)
    failed = {chain for failure in noted for chain in failure["chains"]}
    if failures and failed == set(run.manifest.chains) and not draws.num_draws:
        run.close()
        raise _reason(order, failures[0])
    if failures:  # known for what they are when the run is loaded
        ledger.note("failures", noted)
    notices = (
        *(_failed(order, failure) for failure in failures),
        *judge(draws),
        *density.notices,
        *not_compared(density, order.plan),
    )
    timings = {**ledger.timings, **ledger.seconds, "total": time.perf_counter() - order.began}
    ledger.note("notices", notice_records(notices))
    ledger.note("timings", timings)
    run.close()
    if ledger.refused is not None:
        not_stored = f"{ledger.refused}", "What was drawn is in these draws, in memory."
        notices = (Notice("error", "not_stored", *not_stored), *notices)
    return replace(draws, notices=notices, timings=timings)


def _failed(order: Order, failure: Failure) -> Notice:
    """What ended chains before their time."""
    numbers = ", ".join(map(str, failure.chains))
    return Notice(
        "error",
        "chain_failed",
        f"chain {numbers} ended after {failure.draw} draws, warm-up included: {_reason(order, failure)}",
        f"It is left out; the others are as they would have been. `chains=[{failure.chains[0]}]` runs it alone.",
    )


def _reason(order: Order, failure: Failure) -> BaseException:
    if isinstance(failure.error, StartFailedError):
        with precisions.scope(order.plan.precision):
            return explain_start(order.density, failure.error)
    return failure.error
