"""Run chains in new processes of this machine, which are never forked.

Every worker is told its surroundings before JAX is imported there, and asserts them before it does any work.
"""

import queue
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import equinox as eqx

from ..core.options import checks_fields
from .base import AbstractExecutor, AbstractPool, Surroundings
from .calls import Call, opened
from .child import Child
from .local import ThreadPool, available_cores, check_workers
from .surroundings import refuse_inside_worker

T = TypeVar("T")


@checks_fields
class Processes(AbstractExecutor):
    """Run chains in separate processes: for models that hold Python's lock, such as callbacks.

    A worker that dies is replaced, and continues from the last results of its chains; the draws are the same.

    **Fields**
    - `workers`: number of processes; >= 1. None takes one for each core that this process may use.

    **Example**

    >>> where = infer.Processes(workers=1)
    >>> again = infer.sample(eight_schools(sigma, y), draws=200, chains=2, executor=where, quiet=True)
    >>> np.array_equal(again["theta"], draws["theta"])  # the same bits on any executor
    True
    """

    workers: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_workers("Processes", self.workers)

    @property
    def shares_memory(self) -> bool:
        return False

    def open(self, num_tasks: int, surroundings: Surroundings) -> "ProcessPool":
        """See `AbstractExecutor.open`."""
        refuse_inside_worker("Processes")
        return ProcessPool(min(self.workers or available_cores(), num_tasks), surroundings, sys.path)


class ProcessPool(AbstractPool):
    """Pool with a child process per worker, started when first needed."""

    def __init__(self, num_workers: int, surroundings: Surroundings, path: Sequence[str]):
        self._threads = ThreadPool(num_workers)
        self._free: queue.SimpleQueue[Child] = queue.SimpleQueue()
        self._running: dict[Future[Any], Child] = {}
        self._lock = threading.Lock()
        self._all = [Child(surroundings, path) for _ in range(num_workers)]
        for child in self._all:
            self._free.put(child)

    @property
    def num_workers(self) -> int:
        return self._threads.num_workers

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        return self._have(lambda child: opened(child.answer(Call.of(function, arguments))))

    def forward(self, call: Call) -> "Future[bytes]":
        """Have a call answered that was packed elsewhere, and is to be opened there."""
        return self._have(lambda child: child.answer(call))

    def end(self, future: "Future[Any]") -> bool:
        with self._lock:
            child = self._running.get(future)
        return child.kill() if child else future.cancel()

    def close(self) -> None:
        self._threads.close()
        for child in self._all:
            child.close()

    def _have(self, use: Callable[[Child], T]) -> "Future[T]":
        holder: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()

        def call() -> T:
            future, child = holder.get(), self._free.get()
            with self._lock:
                self._running[future] = child
            try:
                return use(child)
            finally:
                with self._lock:
                    del self._running[future]
                self._free.put(child)

        future = self._threads.submit(call)
        holder.put(future)
        return future
