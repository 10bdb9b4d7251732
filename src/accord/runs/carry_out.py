"""Execute a run: give its units to workers, store what they bring, and judge the result."""

import contextlib
import functools
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from ..core import precision as precisions
from ..core.errors import WorkerError
from ..core.notice import Notice, by_severity
from ..executors.pools import one_blas_thread
from ..report import tell
from ..storage import AbstractRun
from .complete import not_compared
from .interrupts import Interrupts, patiently
from .ledger import Ledger
from .method import RunRequest
from .scheduler import Scheduler
from .stopping.failed import notice_of_failure
from .stored.ending import LOST, lost_chains, lost_records, without
from .stored.notices import notice_records, repaired
from .target import Target
from .units import Failure
from .workers import Workers

R = TypeVar("R")


def carry_out(order: RunRequest[R], interrupts: Interrupts) -> R:
    """Carry all units to their end, or until Ctrl-C, and return what the store holds.

    **Raises** the first error of a unit, explained, if all have failed.
    """
    with closed_on_error(order.run):
        result, notices = _carry_out(order, interrupts)
    if not order.is_quiet:
        tell(notices)
    return result


@contextlib.contextmanager
def closed_on_error(run: AbstractRun) -> Iterator[None]:
    """Close a run that is left by an exception, so that another may write to its folder."""
    try:
        yield
    except BaseException:
        run.close()
        raise


def _carry_out(order: RunRequest[R], interrupts: Interrupts) -> tuple[R, list[Notice]]:
    host, run, display, pace = order.host, order.run, order.display, order.method.pace
    target = Target(host.density, run, dict(host.shard), pace)
    watch = host.watch(run, order.began, display.note)
    ledger = Ledger(host, target, run, display, threading.Event(), began=order.began, watch=watch)
    display.start(run.manifest.chains, host.totals)
    failures: list[Failure] = []
    if run.records.get("notices"):  # those of an earlier end say nothing of what is drawn now
        ledger.note("notices", None)
    try:
        with precisions.scope(order.method.precision), one_blas_thread():
            failures = _schedule(order, ledger, interrupts)
    except _InterruptedError:
        pass
    except WorkerError as error:
        error.args = (f"{error}{_what_is_left(run)}",)
        raise
    finally:
        display.stop()
    return patiently(lambda: _finish(order, ledger, failures), ledger.stop, interrupts)


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


class _InterruptedError(Exception):
    """Ctrl-C came before the first draw."""


def _schedule(order: RunRequest[Any], ledger: Ledger, interrupts: Interrupts) -> list[Failure]:
    workers: Workers | None = None
    try:
        try:
            with interrupts.raising():
                workers = Workers.open(
                    order.method, order.executor, len(order.units), order.host.begin_checks, ledger.is_ending
                )
        except KeyboardInterrupt:
            interrupts.forget()
            raise _InterruptedError from None
        ledger.timings |= workers.seconds
        scheduler = Scheduler(
            workers.pool,
            workers.do,
            ledger.commit,
            order.display.message,
            ledger.stop,
            workers.task_seconds,
            order.method.pace,
        )
        scheduler.enough, scheduler.look = ledger.enough, ledger.look

        def work() -> list[Failure]:
            failures = scheduler.run(order.units)
            ledger.settle(failures)
            return failures

        say = functools.partial(
            order.display.message, "Stopping after the current block. Press Ctrl-C again to abandon it."
        )
        with one_blas_thread():  # again, since compiling may have loaded a library
            return patiently(work, ledger.stop, interrupts, say)
    finally:
        if workers is not None:
            workers.pool.close()


def _finish(order: RunRequest[R], ledger: Ledger, failures: Sequence[Failure]) -> tuple[R, list[Notice]]:
    """Judge the run, and store its notices beside the draws; return them too."""
    host, run = order.host, order.run
    failures = [*failures, *ledger.given_up]
    has_lost = bool(failures)
    lost = lost_records(run, failures)
    if ledger.watch is not None:  # what befell a unit after its last draw is of no account
        lost = without(lost, ledger.watch.stopping.chains)
        left = lost_chains(lost)
        failures = [each for each in failures if not left.isdisjoint(each.numbers)]
    result = host.result(run, ledger.spilled, lost)
    if failures and len(lost_chains(lost)) == len(run.manifest.chains) and host.is_empty(result):
        run.close()
        raise host.reason(failures[0])
    if has_lost:  # known for what they are when the run is loaded
        ledger.note(LOST, lost)
    notices = by_severity(
        (
            *([] if ledger.rule_failed is None else [notice_of_failure(ledger.rule_failed)]),
            *map(host.tell_failure, failures),
            *host.judge(result, order.executor),
            *repaired(ledger.target.repaired),
            *not_compared(host.density, host.shard, order.method.pace),
        )
    )
    timings = {**ledger.timings, **ledger.seconds, "total": time.perf_counter() - order.began}
    ledger.note("notices", notice_records(notices))
    ledger.note("timings", timings)
    run.close()
    if ledger.refused is not None:
        not_stored = f"{ledger.refused}", "These draws hold everything in memory."
        notices = [Notice("error", "not_stored", *not_stored), *notices]
    return host.finished(result, notices, timings), notices
