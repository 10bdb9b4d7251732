"""Run jobs in threads of this process.

A compiled JAX program releases the interpreter's lock while it runs, so threads use all cores, need nothing to be
copied, and share one compiled program.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import equinox as eqx

from ..core.errors import OptionError
from ..core.options import checks_fields
from .base import AbstractExecutor, Job

T = TypeVar("T")

_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread


class Serial(AbstractExecutor):
    """One job after another, in one thread beside the caller's."""

    def stream(self, jobs: Sequence[Job[T]]) -> Iterator[T]:
        """See `AbstractExecutor.stream`."""
        return _stream(jobs, 1)


@checks_fields
class Threads(AbstractExecutor):
    """Several jobs at once, each in a thread: the default on CPU.

    **Fields**
    - `workers`: how many threads; >= 1. None takes one for each core that this process may use.
    """

    workers: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        if self.workers is not None and (isinstance(self.workers, bool) or self.workers < 1):
            raise OptionError(f"Threads: workers must be at least 1 or None, got {self.workers!r}.")

    def stream(self, jobs: Sequence[Job[T]]) -> Iterator[T]:
        """See `AbstractExecutor.stream`."""
        return _stream(jobs, min(self.workers or available_cores(), len(jobs)))


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gather(functions: Sequence[Callable[[], T]]) -> list[T]:
    """Call every function in a thread of its own; return their results in order. Interruptible, as `stream` is."""

    def job(index: int, function: Callable[[], T]) -> Job[tuple[int, T]]:
        def run() -> Iterator[tuple[int, T]]:
            yield index, function()

        return run

    results = dict(_stream([job(i, f) for i, f in enumerate(functions)], len(functions)))
    return [results[index] for index in range(len(functions))]


def _stream(jobs: Sequence[Job[T]], num_workers: int) -> Iterator[T]:
    waiting: queue.SimpleQueue[Job[T]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    results: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    is_abandoned = threading.Event()

    def work() -> None:
        try:
            while not is_abandoned.is_set():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    break
                for item in job():
                    results.put(("item", item))
                    if is_abandoned.is_set():
                        break
        except BaseException as error:  # whatever it is belongs to the caller
            results.put(("error", error))
        finally:
            results.put(("end", None))

    # Daemons: a program that is compiling cannot be stopped, and must not keep the interpreter from leaving.
    threads = [threading.Thread(target=work, name=f"accord-{i}", daemon=True) for i in range(num_workers)]
    for thread in threads:
        thread.start()
    return _receive(results, is_abandoned, num_workers)


class _receive(Iterator[T]):  # noqa: N801 - a generator could not be resumed after KeyboardInterrupt
    """Wait for the items of the workers; goes on where it was when an interrupted wait is taken up again."""

    def __init__(
        self, results: "queue.SimpleQueue[tuple[str, Any]]", abandoned: threading.Event, working: int
    ):
        self._results, self._is_abandoned, self._num_working = results, abandoned, working

    def __next__(self) -> T:
        while self._num_working:
            try:
                kind, value = self._results.get(timeout=_POLL)
            except queue.Empty:
                continue
            if kind == "item":
                return value
            if kind == "error":
                self.close()
                raise value
            self._num_working -= 1
        raise StopIteration

    def close(self) -> None:
        """Let every worker leave at its next item."""
        self._is_abandoned.set()
