"""Execute a calibration: run the simulations that are missing, store them, and judge all."""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..core.errors import WorkerError
from ..core.notice import Notice, by_severity
from ..executors import AbstractExecutor, WorkerLostError
from ..executors.pools import one_blas_thread
from ..report import AbstractProgress, tell
from ..runs.carry_out import closed_on_error
from ..runs.interrupts import Interrupts, patiently
from ..runs.scheduler import Scheduler
from ..runs.stored.notices import repaired
from ..runs.units import Failure, Item
from ..runs.workers import Workers
from .book import Book
from .calibration import Calibration, Trial
from .simulations import Numbered, Simulating, simulation_seed
from .stored import result


@dataclass(frozen=True)
class CalibrationRequest:
    """A calibration to execute.

    **Fields**: `method`; `executor`, whose workers run simulations; `book`, with the open store and the simulations
    that are done; `numbers` of those to run; `display`; `is_quiet`.
    """

    method: Simulating
    executor: AbstractExecutor
    book: Book
    numbers: Sequence[int]
    display: AbstractProgress
    is_quiet: bool


def carry_out(request: CalibrationRequest, interrupts: Interrupts) -> Calibration:
    """Run all simulations, or those that Ctrl-C leaves time for, and return what there is.

    **Raises** the error of the first simulation, if none could be run.
    """
    book, shown = request.book, request.display
    run, count = book.run, len(book.run.manifest.chains)
    with closed_on_error(run):
        shown.start([0], {"simulation": count})
        show = functools.partial(_show, shown, count, time.perf_counter())
        try:
            trials = _run_all(request, show, interrupts)
        finally:
            shown.stop()
        found = concluded(book, trials)
    if not request.is_quiet:
        tell(found.notices)
    return found


def concluded(book: Book, trials: Sequence[Trial]) -> Calibration:
    """Close the store, and return the calibration of its simulations. **Raises** as `carry_out`."""
    found = result(book.run, trials)
    book.close(trials)
    if trials and not found.simulations and trials[0].error is not None:
        raise trials[0].error
    notices = [*found.notices, *repaired(book.target.repaired)]
    if book.refused is not None:
        words = f"{book.refused}", "This calibration holds everything in memory."
        notices.append(Notice("error", "not_stored", *words))
    return replace(found, notices=tuple(by_severity(notices)))


def _run_all(
    request: CalibrationRequest, show: Callable[[Sequence[Trial]], None], interrupts: Interrupts
) -> list[Trial]:
    """Run the simulations, or as many as are finished by Ctrl-C; return all that there are, in order.

    `show` is called with them whenever there are more. It ends early if the store refuses one, or if another
    process asks for that.

    **Raises** the first error that is not of the data of one simulation.
    """
    method, numbers, book, say = request.method, request.numbers, request.book, request.display.message
    stop = threading.Event()

    def commit(items: Iterable[Item]) -> None:
        book.commit(items)
        if book.refused is not None or book.run.is_to_stop:
            stop.set()
        show(book.trials)

    def look(failures: Sequence[Failure]) -> None:
        if any(not isinstance(each.error, WorkerLostError) for each in failures):
            stop.set()

    failures: list[Failure] = []
    heard = functools.partial(say, "Stopping: the finished simulations are returned.")
    show(book.trials)
    with one_blas_thread():
        try:
            with interrupts.raising():
                workers = Workers.open(method, request.executor, len(numbers), lambda: None, stop.is_set)
        except KeyboardInterrupt:
            interrupts.forget()
            return _in_order(book.trials)
        try:
            scheduler = Scheduler(
                workers.pool, workers.do, commit, say, stop, workers.task_seconds, method.pace
            )
            scheduler.look = look
            failures = patiently(lambda: scheduler.run(map(Numbered, numbers)), stop, interrupts, heard)
        except KeyboardInterrupt:
            interrupts.forget()  # pressed again: what is done is returned
        finally:
            workers.pool.close()
    done = list(book.trials)  # of a thread that was abandoned, more may come
    for failure in failures:
        if not isinstance(failure.error, WorkerLostError):
            raise failure.error
        (number,) = failure.numbers
        lost = WorkerError(f"its worker was lost again and again: {failure.error}")
        done.append(Trial(number, simulation_seed(method.seed, number), (), {}, {}, lost))
    return _in_order(done)


def _in_order(trials: Iterable[Trial]) -> list[Trial]:
    return sorted(trials, key=lambda trial: trial.number)


def _show(shown: AbstractProgress, count: int, began: float, trials: Sequence[Trial]) -> None:
    """Show all simulations as one chain of the progress display."""
    seconds, divergences = time.perf_counter() - began, sum(trial.num_divergent for trial in trials)
    shown.update(0, "simulation", len(trials), count, divergences=divergences, seconds=seconds)
