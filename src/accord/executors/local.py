"""Run work in threads of this process.

A compiled JAX program releases the interpreter's lock while it runs, so threads use all cores, need nothing to be
copied, and share one compiled program.
"""

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

import equinox as eqx

from ..core.errors import OptionError
from ..core.forks import check_owner
from ..core.options import checks_fields
from .base import AbstractExecutor, AbstractPool, Surroundings

T = TypeVar("T")

_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread
_FAREWELL = 30.0  # seconds that the interpreter waits for threads at work before it leaves
_SILENCE = 1.0  # seconds of them without a word


@checks_fields
class Serial(AbstractExecutor):
    """Run one chain at a time, in a thread beside the caller's.

    **Example**

    >>> where = infer.Serial()
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> np.array_equal(again["theta"], draws["theta"])  # the same bits on any executor
    True
    """

    @property
    def shares_memory(self) -> bool:
        return True

    def open(self, num_tasks: int, surroundings: Surroundings) -> "ThreadPool":
        """See `AbstractExecutor.open`."""
        del num_tasks, surroundings
        return ThreadPool(1)


@checks_fields
class Threads(AbstractExecutor):
    """Run several chains at once, each in a thread: the default on CPU.

    **Fields**
    - `workers`: number of threads; >= 1. None takes one for each core that this process may use.

    **Example**

    >>> where = infer.Threads(workers=2)
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> np.array_equal(again["theta"], draws["theta"])  # the same bits on any executor
    True
    """

    workers: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_workers("Threads", self.workers)

    @property
    def shares_memory(self) -> bool:
        return True

    def open(self, num_tasks: int, surroundings: Surroundings) -> "ThreadPool":
        """See `AbstractExecutor.open`."""
        del surroundings
        return ThreadPool(min(self.workers or available_cores(), num_tasks))


class ThreadPool(AbstractPool):
    """Pool of threads that take calls from a queue.

    Daemons, unlike those of `concurrent.futures`: a program that is compiling cannot be stopped, and must not keep the
    interpreter from leaving for ever.
    """

    def __init__(self, num_workers: int):
        self._num_workers, self._owner = num_workers, os.getpid()
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = (
            queue.SimpleQueue()
        )
        for number in range(num_workers):
            _Worker(self._calls, number).start()

    @property
    def num_workers(self) -> int:
        return self._num_workers

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        check_owner(self._owner, "a pool of workers")
        future: Future[T] = Future()
        self._calls.put((future, function, arguments))
        return future

    def close(self) -> None:
        for _ in range(self._num_workers):
            self._calls.put(None)


class _Worker(threading.Thread):
    """A thread that takes calls from a queue until it is given None."""

    def __init__(self, calls: "queue.SimpleQueue[Any]", number: int):
        super().__init__(name=f"accord-{number}", daemon=True)
        self._calls = calls
        self.is_at_work = False

    def run(self) -> None:
        """See `threading.Thread.run`."""
        while (call := self._calls.get()) is not None:
            future, function, arguments = call
            if not future.set_running_or_notify_cancel():
                continue
            self.is_at_work = True
            try:
                future.set_result(function(*arguments))
            except BaseException as error:  # whatever it is belongs to the caller
                future.set_exception(error)
            self.is_at_work = False
            del call, future, function, arguments  # nothing of a run is kept alive by an idle thread


@atexit.register
def _see_off() -> None:
    """Wait for busy threads before the interpreter exits: a thread inside of XLA would crash the process."""
    began = time.monotonic()
    has_spoken = False
    while (passed := time.monotonic() - began) < _FAREWELL:
        if not any(each.is_at_work for each in threading.enumerate() if isinstance(each, _Worker)):
            return
        if passed > _SILENCE and not has_spoken:
            sys.stderr.write("accord: Python leaves once a program has been compiled. Ctrl-C leaves now.\n")
            has_spoken = True
        time.sleep(_POLL / 2)


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_workers(owner: str, workers: int | None) -> None:
    """Raise `OptionError` unless `workers` is None or at least 1."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise OptionError(f"{owner}: workers must be at least 1 or None, got {workers!r}.")


def gather(functions: Sequence[Callable[[], T]]) -> list[T]:
    """Call every function in its own thread; return their results in order. The calling thread only waits, so
    that Ctrl-C reaches it at once.
    """
    pool = ThreadPool(len(functions))
    try:
        futures = [pool.submit(function) for function in functions]
        while wait(futures, timeout=_POLL).not_done:
            if any(future.done() and future.exception() for future in futures):
                break
        return [future.result() for future in futures if future.done()]
    finally:
        pool.close()
