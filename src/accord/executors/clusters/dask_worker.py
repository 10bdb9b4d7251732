"""Run the calls of a run in child processes of a Dask worker.

A worker may have been started in any surroundings, and may be at work for others; so it is told nothing, never imports
a model and never starts JAX.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

from ..base import Surroundings, WorkerLostError
from ..calls import Call
from ..processes import ProcessPool


class Courier(WorkerPlugin):
    """Plugin of a run on every worker, also on later ones: Dask sends it once to each.

    **Fields**: `name`; `surroundings`; `path`, where the run finds its modules; `constants`, arguments that are the
    same in all calls.
    """

    def __init__(
        self, name: str, surroundings: Surroundings, path: Sequence[str], constants: tuple[bytes, ...]
    ):
        self.name, self._surroundings, self._path, self._constants = name, surroundings, list(path), constants
        self._running: dict[str, Future[bytes]] = {}

    def setup(self, worker: Worker) -> None:
        """Prepare for as many calls as the worker has threads; children start when needed."""
        path = [*sys.path, *(each for each in self._path if each not in sys.path)]
        self._pool = ProcessPool(worker.state.nthreads, _with_cache(self._surroundings), path)

    def teardown(self, worker: Worker) -> None:
        """Clean up when the run or the worker ends."""
        self._pool.close()

    def answer(self, key: str, rest: bytes) -> bytes:
        """Run the call in a child, and return its answer."""
        future = self._pool.forward(Call(self._constants, rest))
        self._running[key] = future
        try:
            return future.result()
        finally:
            del self._running[key]

    def end(self, key: str) -> None:
        """End the child that runs a call; the call raises `WorkerLostError`."""
        if key in self._running:
            self._pool.end(self._running[key])


def answer_here(name: str, key: str, rest: bytes) -> bytes:
    """Answer a call, as a task of Dask, by the courier of its run."""
    courier: Any = get_worker().plugins.get(name)
    if courier is None:
        raise WorkerLostError("a Dask worker has been restarted")
    return courier.answer(key, rest)


def end_here(key: str, dask_worker: Worker) -> None:
    """End the child of a call, on its worker."""
    for each in dask_worker.plugins.values():
        if isinstance(each, Courier):
            each.end(key)


def _with_cache(surroundings: Surroundings) -> Surroundings:
    """Drop the folder of compiled programs if this machine cannot have it."""
    if surroundings.cache is not None:
        try:
            os.makedirs(surroundings.cache, mode=0o700, exist_ok=True)
        except OSError:
            return replace(surroundings, cache=None)
    return surroundings
