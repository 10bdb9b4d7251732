"""Run work in processes of this machine, through loky, which starts them anew and never forks.

Every worker is told its surroundings before JAX is imported there, and asserts them before it does any work.
"""

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import OptionError, WorkerError
from ..core.options import checks_fields
from ..core.precision import Precision
from .base import AbstractExecutor, AbstractPool, Surroundings, WorkerLostError
from .local import ThreadPool, available_cores, check_workers

T = TypeVar("T")

_IS_WORKER = "ACCORD_WORKER"
"""Environment variable of a process that is a worker of another one."""


@checks_fields
class Processes(AbstractExecutor):
    """Chains in processes of their own, which share nothing: for models that hold Python's lock, such as callbacks.

    A worker that dies is replaced, and goes on from what its chains had last handed over; the draws are the same.

    **Fields**
    - `workers`: how many processes; >= 1. None takes one for each core that this process may use.
    """

    workers: int | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        check_workers("Processes", self.workers)

    @property
    def shares_memory(self) -> bool:
        return False

    def open(self, num_tasks: int, surroundings: Surroundings) -> "ProcessPool":
        """See `AbstractExecutor.open`."""
        if os.environ.get(_IS_WORKER):
            raise OptionError(
                "executor=Processes() was asked for inside of a worker process, which would start processes of its "
                "own. Use executor=Threads() or Serial() there."
            )
        return ProcessPool(min(self.workers or available_cores(), num_tasks), surroundings)


class ProcessPool(AbstractPool):
    """One loky pool of one process for each worker, so that the death of one harms no other."""

    def __init__(self, num_workers: int, surroundings: Surroundings):
        self._threads = ThreadPool(num_workers)
        self._slots: queue.SimpleQueue[_Slot] = queue.SimpleQueue()
        self._running: dict[Future[Any], _Slot] = {}
        self._lock = threading.Lock()
        self._all = [_Slot(surroundings) for _ in range(num_workers)]
        for slot in self._all:
            self._slots.put(slot)

    @property
    def num_workers(self) -> int:
        return self._threads.num_workers

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        holder: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()

        def call() -> T:
            future, slot = holder.get(), self._slots.get()
            with self._lock:
                self._running[future] = slot
            try:
                return slot.call(function, arguments)
            finally:
                with self._lock:
                    del self._running[future]
                self._slots.put(slot)

        future = self._threads.submit(call)
        holder.put(future)
        return future

    def end(self, future: "Future[Any]") -> bool:
        with self._lock:
            slot = self._running.get(future)
        return slot.kill() if slot else future.cancel()

    def close(self) -> None:
        self._threads.close()
        for slot in self._all:
            slot.close()


class _Slot:
    """One worker process at a time, and its successor when it has died. Used by one thread at a time."""

    def __init__(self, surroundings: Surroundings):
        self._surroundings = surroundings
        self._executor: Any = None
        self._pid: int | None = None
        self._is_closed = False

    def call(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        try:
            self._start()
            return self._executor.submit(_call, self._surroundings, function, arguments).result()
        except BrokenProcessPool as error:
            pid, self._pid = self._pid, None
            raise WorkerLostError(f"worker process {pid} died") from error

    def kill(self) -> bool:
        if self._pid is None:
            return False
        try:
            os.kill(self._pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        self._is_closed = True
        if self._executor is not None:
            self._executor.shutdown(wait=False, kill_workers=True)

    def _start(self) -> None:
        if self._pid is not None:
            return
        from loky import ProcessPoolExecutor  # starts a thread when it is imported

        if self._executor is not None:
            self._executor.shutdown(wait=False, kill_workers=True)
        if self._is_closed:
            raise WorkerLostError("the pool is closed")
        # A terminal sends Ctrl-C to workers too: what it means for them is for this process to say.
        deaf = dict(initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
        self._executor = ProcessPoolExecutor(1, env=_environment(self._surroundings), **deaf)
        self._pid = self._executor.submit(os.getpid).result()


def _environment(surroundings: Surroundings) -> dict[str, str]:
    """What a worker must find before it imports JAX."""
    return {
        _IS_WORKER: "1",
        "NPROC": str(surroundings.pool_width),
        "JAX_PLATFORMS": surroundings.platform,
        # The scope of a run is its thread's alone, and callbacks of a model run in others.
        "JAX_ENABLE_X64": str(surroundings.precision == "float64"),
        "JAX_COMPILATION_CACHE_DIR": surroundings.cache or "",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _call(expected: Surroundings, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    """In a worker: call the function, if this is where it was to be called."""
    found = surroundings_here(expected.precision)
    if found != expected:
        raise WorkerError(
            f"a worker process has {found} where the run has {expected}: its draws would differ. Look for settings of "
            "JAX in sitecustomize or in the module that defines the model."
        )
    return function(*arguments)


def surroundings_here(precision: Precision) -> Surroundings:
    """Those of this process, as JAX answers in the scope of a run."""
    with precisions.scope(precision):
        real: Precision = "float64" if jax.dtypes.canonicalize_dtype(np.float64) == np.float64 else "float32"
    folder: str | None = getattr(jax.config, "jax_compilation_cache_dir", None)  # set dynamically by JAX
    width = int(os.environ.get("NPROC") or available_cores())
    return Surroundings(real, jax.default_backend(), width, folder or None)
