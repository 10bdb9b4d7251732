"""Execute a run: give its chains to workers, store their draws, and judge the result."""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..centring.forms import forms_by_scale
from ..core import precision as precisions
from ..core.errors import WorkerError
from ..core.notice import Notice, by_severity
from ..density import LogDensity
from ..diagnose.background_checks import BackgroundChecks
from ..diagnose.explain import blamed
from ..diagnose.explained_starts import explain_start
from ..executors import AbstractExecutor, AbstractPool, Surroundings, ThreadPool
from ..executors.pools import one_blas_thread
from ..mcmc.draws import Draws
from ..mcmc.group import Group
from ..mcmc.idle_devices import idle_devices
from ..mcmc.plan import Plan
from ..mcmc.start.search import StartFailedError
from ..report import AbstractProgress, tell
from ..storage import AbstractRun
from . import worker
from .complete import not_compared
from .interrupts import Interrupts
from .ledger import Ledger
from .scheduler import Failure, Scheduler
from .stopping.watch import Watch
from .stored.damage import repaired
from .stored.ending import LOST, lost_chains, stopping_of, without
from .stored.record import assemble, judge, lost_records, notice_records

T = TypeVar("T")

# Seconds of a task, by whether memory is shared: some blocks, or what is worth a journey.
_TASK_SECONDS = {True: 0.05, False: 1.0}
_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread


@dataclass(frozen=True)
class RunRequest:
    """A run to execute.

    **Fields**: `density`; `plan`; `groups` of started chains, or of numbers of chains to start;
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


def carry_out(order: RunRequest, interrupts: Interrupts) -> Draws:
    """Run every group to its end, or until Ctrl-C, and return what the store holds.

    **Raises** `InitializationError` if no chain found a starting point; the first error of a chain, if all have failed.
    """
    with closed_on_error(order.run):
        draws = _carry_out(order, interrupts)
    if not order.is_quiet:
        tell(draws.notices)
    return draws


@contextlib.contextmanager
def closed_on_error(run: AbstractRun) -> Iterator[None]:
    """Close a run that is left by an exception, so that another may write to its folder."""
    try:
        yield
    except BaseException:
        run.close()
        raise


def _carry_out(order: RunRequest, interrupts: Interrupts) -> Draws:
    plan, run, display = order.plan, order.run, order.display
    ledger = Ledger(
        order.density,
        order.plan,
        run,
        display,
        threading.Event(),
        began=order.began,
        watch=_watch(order),
    )
    display.start(run.manifest.chains, {"warmup": plan.num_warmup, "sample": plan.num_kept})
    failures: list[Failure] = []
    if run.records.get("notices"):  # those of an earlier end say nothing of what is drawn now
        ledger.note("notices", None)
    background = BackgroundChecks(order.density)
    try:
        with precisions.scope(plan.precision), one_blas_thread():
            failures = _schedule(order, ledger, interrupts, background)
    except _InterruptedError:
        pass
    except WorkerError as error:
        error.args = (f"{error}{_what_is_left(run)}",)
        raise
    finally:
        display.stop()
    return _patiently(lambda: _finish(order, ledger, failures, background), ledger.stop, interrupts)


def _what_is_left(run: AbstractRun) -> str:
    """Say what is left of a run whose workers are lost, with a leading space; empty if it had no draws."""
    if all(run.last(chain) is None for chain in run.manifest.chains):
        return ""
    if run.location is None:
        return (
            " Its draws were in memory alone and are lost with it. With store=infer.RunFolder(path) they are kept, and "
            "infer.resume goes on with them."
        )
    return f" What was stored in {run.location} is intact: infer.resume goes on with it, under any executor."


def _watch(order: RunRequest) -> Watch | None:
    plan, run = order.plan, order.run
    if plan.until is None:
        return None
    return Watch(plan.until, run, plan.num_kept, stopping_of(run), order.began, order.display.note, plan.pace)


class _InterruptedError(Exception):
    """Ctrl-C came before the first draw."""


def _schedule(
    order: RunRequest, ledger: Ledger, interrupts: Interrupts, background: BackgroundChecks
) -> list[Failure]:
    pool: AbstractPool | None = None
    try:
        try:
            with interrupts.raising():
                do, surroundings = _prepare(order, ledger, background)
                pool = order.executor.open(len(order.groups), surroundings)
        except KeyboardInterrupt:
            interrupts.forget()
            raise _InterruptedError from None
        pace = order.plan.pace
        seconds = pace.task_seconds
        if seconds is None:
            seconds = _TASK_SECONDS[order.executor.shares_memory]
        scheduler = Scheduler(pool, do, ledger.commit, order.display.message, ledger.stop, seconds, pace)
        scheduler.enough, scheduler.look = ledger.enough, ledger.look

        def draw() -> list[Failure]:
            failures = scheduler.run(order.groups)
            ledger.settle(failures)
            return failures

        say = functools.partial(
            order.display.message, "Stopping after the current block. Press Ctrl-C again to abandon it."
        )
        with one_blas_thread():  # again, since compiling may have loaded a library
            return _patiently(draw, ledger.stop, interrupts, say)
    finally:
        if pool is not None:
            pool.close()


def _prepare(
    order: RunRequest, ledger: Ledger, background: BackgroundChecks
) -> tuple[tuple[Callable[..., worker.Outcome], Any], Surroundings]:
    """Return the function of a task with its arguments besides the group, and the surroundings of workers."""
    do: tuple[Callable[..., worker.Outcome], Any]
    if order.executor.shares_memory:
        groups = order.executor.device_groups()
        machines, seconds = worker.build_all(
            order.density, order.plan, groups, len(order.groups), background.begin
        )
        ledger.timings |= seconds
        do = (functools.partial(worker.do_on_any, is_stopped=ledger.is_ending), machines)
    else:
        do_there = worker.do_together if order.executor.is_gang else worker.do_packed
        do = (do_there, worker.pack(order.density, order.plan))
        background.begin()
    return do, worker.surroundings_of(order.plan.precision)


def _patiently(
    call: Callable[[], T],
    stop: threading.Event,
    interrupts: Interrupts,
    say: Callable[[], None] = lambda: None,
) -> T:
    """Wait for a call whose result must not be lost: the first Ctrl-C sets `stop`, a second one raises.

    The call runs in a separate thread. An interrupt reaches only the waiting thread, so it cannot fall between
    receiving draws and storing them.
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


def _finish(
    order: RunRequest, ledger: Ledger, failures: Sequence[Failure], background: BackgroundChecks
) -> Draws:
    """Judge the run, store its notices beside the draws, and show them."""
    run, density = order.run, order.density
    failures = [*failures, *ledger.given_up]
    has_lost = bool(failures)
    lost = lost_records(run, failures)
    if ledger.watch is not None:  # what befell a chain after its last draw is of no account
        lost = without(lost, ledger.watch.stopping.chains)
        left = lost_chains(lost)
        failures = [each for each in failures if not left.isdisjoint(each.chains)]
    draws = assemble(run, density.data, ledger.spilled, lost)
    if failures and len(lost_chains(lost)) == len(run.manifest.chains) and not draws.num_draws:
        run.close()
        raise _reason(order, failures[0])
    if has_lost:  # known for what they are when the run is loaded
        ledger.note(LOST, lost)
    forms, unknown = forms_by_scale(density, draws)
    notices = by_severity(
        (
            *(_lost(order, failure) for failure in failures),
            *judge(draws, blamed(density, draws, order.plan.pace.explain_seconds), forms),
            *unknown,
            *density.notices,
            *repaired(ledger.repaired),
            *background.notices(is_interrupted=not draws.complete),
            *not_compared(density, order.plan),
            *idle_devices(order.executor, order.plan, len(run.manifest.chains)),
        )
    )
    timings = {**ledger.timings, **ledger.seconds, "total": time.perf_counter() - order.began}
    ledger.note("notices", notice_records(notices))
    ledger.note("timings", timings)
    run.close()
    if ledger.refused is not None:
        not_stored = f"{ledger.refused}", "These draws hold everything in memory."
        notices = [Notice("error", "not_stored", *not_stored), *notices]
    return replace(draws, notices=tuple(notices), timings=timings, density=density)


def _lost(order: RunRequest, failure: Failure) -> Notice:
    """Make a notice of chains that failed."""
    numbers = ", ".join(map(str, failure.chains))
    return Notice(
        "error",
        "chain_failed",
        f"chain {numbers} ended after {failure.draw} draws, warm-up included: {_reason(order, failure)}",
        f"It is left out; the other chains are unaffected. `chains=[{failure.chains[0]}]` runs it alone.",
    )


def _reason(order: RunRequest, failure: Failure) -> BaseException:
    if isinstance(failure.error, StartFailedError):
        with precisions.scope(order.plan.precision):
            return explain_start(order.density, failure.error)
    return failure.error
