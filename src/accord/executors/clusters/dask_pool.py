"""Send calls to the workers of a Dask cluster, and return their answers."""

import asyncio
import itertools
import logging
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from distributed import Client, KilledWorker, LocalCluster

from ...core.errors import AccordError, WorkerError
from ..base import AbstractPool, Surroundings, WorkerLostError
from ..calls import Call, opened
from ..local import ThreadPool, available_cores
from ..underway import Underway
from .dask_worker import Courier, answer_here, end_here

T = TypeVar("T")

_ANY_PORT = "127.0.0.1:0"

_POLL = 0.2  # seconds
_PATIENCE = 60.0  # seconds without any worker
_GRACE = 5.0  # seconds for a worker to end a child, and for a cluster to let go of a run


class DaskPool(AbstractPool):
    """Pool of the workers of a cluster, or of one in this process.

    Each call is one task of Dask without Dask's retries: the scheduler of the run repeats lost calls, and counts them.
    """

    def __init__(self, cluster: Any, limit: int, surroundings: Surroundings):
        self._surroundings = surroundings
        self._own: list[Any] = []  # to be closed
        self._address = str(cluster)
        with self._in_words():
            self._client = self._connected(cluster, limit)
        try:
            with self._in_words():
                self._threads = ThreadPool(min(limit, self._num_threads()))
        except BaseException:
            self._let_go()
            raise
        self._numbers = itertools.count()
        self._name = f"accord-{uuid.uuid4().hex}"
        self._hiring = threading.Lock()
        self._couriers: dict[tuple[bytes, ...], str] = {}
        self._keys = Underway[str]()
        self._ended: set[str] = set()
        self._deaf: set[str] = set()
        self._is_closed = False

    @property
    def num_workers(self) -> int:
        return self._threads.num_workers

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        key = f"{self._name}-{next(self._numbers)}"

        def ask() -> T:
            call = Call.of(function, arguments)
            with self._in_words():
                courier = self._courier(call.constants)
                task = self._client.submit(
                    answer_here,
                    courier,
                    key,
                    call.rest,
                    key=key,
                    pure=False,
                    retries=0,
                    workers=self._heedful(),
                )
            try:
                return opened(self._answer(task, key))
            finally:
                task.release()

        future = self._threads.submit(ask)
        self._keys.put(future, key)
        return future

    def end(self, future: "Future[Any]") -> bool:
        key = self._keys.who(future)
        if key is None:
            return future.cancel()
        _aside(lambda: self._end(key))
        return True

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._threads.close()
        for courier in self._couriers.values() if self._client.status == "running" else ():
            _within(_GRACE, lambda name=courier: self._client.unregister_worker_plugin(name))
        self._let_go()

    def _let_go(self) -> None:
        for each in self._own:
            _within(_GRACE, each.close)

    def _connected(self, cluster: Any, limit: int) -> Any:
        """Return the client; untyped, since its methods may also return coroutines."""
        if isinstance(cluster, Client):
            if cluster.status in ("closing", "closed"):
                raise WorkerError(
                    "the Dask client that was given is closed. Make a new one by distributed.Client(...), or give the "
                    "address of its scheduler."
                )
            self._address = getattr(cluster.scheduler, "address", self._address)
            return cluster
        if cluster is None:
            cluster = _cluster_here(min(limit, available_cores()))
            self._own.append(cluster)
        try:
            client = Client(cluster, set_as_default=False)
        except OSError as error:
            raise WorkerError(f"no Dask scheduler answers at {cluster}: {error}") from error
        self._address = getattr(client.scheduler, "address", self._address)
        self._own.insert(0, client)
        return client

    def _num_threads(self) -> int:
        """Return the number of threads of all workers, at least one."""
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        if not (threads := self._client.nthreads()):
            raise WorkerError(f"the Dask cluster at {self._address} has had no worker for {_PATIENCE:.0f} s.")
        return sum(threads.values())

    def _courier(self, constants: tuple[bytes, ...]) -> str:
        """Return the name of the courier that has these constants on every worker."""
        with self._hiring:
            if constants not in self._couriers:
                name = f"{self._name}-courier-{len(self._couriers)}"
                courier = Courier(name, self._surroundings, sys.path, constants)
                hired = _within(_PATIENCE, lambda: self._client.register_plugin(courier))
                if not hired.done() or hired.exception():
                    found = hired.exception() if hired.done() else f"no answer for {_PATIENCE:.0f} s"
                    raise WorkerError(
                        f"a worker of the Dask cluster at {self._address} cannot take part: {found}. "
                        "Each must have accord and the packages of the run, in the same versions."
                    )
                self._couriers[constants] = name
            return self._couriers[constants]

    def _answer(self, task: Any, key: str) -> bytes:
        # One request with no deadline: `task.result(timeout=...)` would break off what is on its way here, its own
        # answer for ever where that takes longer, and those of others that Dask has put into the same message.
        with self._in_words():
            answer = asyncio.run_coroutine_threadsafe(
                self._client.gather(task, asynchronous=True), self._client.loop.asyncio_loop
            )
        seen = time.monotonic()
        while not wait([answer], timeout=_POLL).done:
            if key in self._ended:
                raise WorkerLostError("a Dask worker was stuck, and was given up")
            if time.monotonic() - seen > _GRACE:
                seen = self._last_seen(seen)
        try:
            return answer.result()
        except KilledWorker as error:
            raise WorkerLostError(f"a Dask worker died: {error}") from error
        except CancelledError as error:
            if self._client.status == "running":
                raise WorkerLostError(f"Dask dropped a task: {error}") from error
            raise self._lost_scheduler() from error
        except Exception as error:
            if self._client.status == "running" or isinstance(error, WorkerLostError):
                raise
            raise self._lost_scheduler() from error

    def _last_seen(self, before: float) -> float:
        """Return when there was last a worker. Raises `WorkerError` if that is long ago."""
        if self._client.status != "running":
            raise self._lost_scheduler()
        with self._in_words():
            if self._client.nthreads():
                return time.monotonic()
        if time.monotonic() - before > _PATIENCE:
            raise WorkerError(f"the Dask cluster at {self._address} has had no worker for {_PATIENCE:.0f} s.")
        return before

    def _lost_scheduler(self) -> WorkerError:
        return WorkerError(f"the connection to the Dask scheduler at {self._address} was lost.")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what a damaged cluster or client raises, which may be anything, into `WorkerError`."""
        try:
            yield
        except (AccordError, WorkerLostError):
            raise
        except Exception as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise WorkerError(
                f"the Dask cluster at {self._address} does not answer ({what}). Start it again, and give its address "
                "or a new distributed.Client."
            ) from error

    def _end(self, key: str) -> None:
        """End the child of a call; if its worker does not answer, restart the worker."""
        with suppress(Exception):  # whatever a cluster in trouble raises: the call is given up below
            workers = [address for address, keys in self._client.processing().items() if key in keys]
            if workers:
                asked = _within(_GRACE, lambda: self._client.run(end_here, key, workers=workers))
                # One that answers is not deaf, though what it has ended may still be on its way here.
                if not asked.done() or asked.exception():
                    self._deaf.update(workers)
                    _within(2 * _GRACE, lambda: self._client.restart_workers(workers, timeout=_GRACE))
        self._ended.add(key)

    def _heedful(self) -> list[str] | None:
        """Return the responsive workers; None is all. Dask waits minutes for a silent one."""
        if not self._deaf:
            return None
        return [address for address in self._client.nthreads() if address not in self._deaf] or None


def _cluster_here(num_threads: int) -> Any:
    """Start a cluster in threads of this process, without an open port."""
    cluster: Any = LocalCluster(
        n_workers=1,
        threads_per_worker=num_threads,
        processes=False,
        dashboard_address=_ANY_PORT,
        worker_dashboard_address=_ANY_PORT,
        scheduler_kwargs={"dashboard": False},
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )

    async def fall_silent() -> None:
        for each in (cluster.scheduler, *cluster.workers.values()):
            each.http_server.stop()  # Dask has no way to begin without

    cluster.sync(fall_silent)
    return cluster


def _aside(function: Callable[[], T]) -> "Future[T]":
    """Call a function that may never return; Python does not wait for it when it leaves."""
    future: Future[T] = Future()

    def call() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # whatever it is belongs to the caller
            future.set_exception(error)

    threading.Thread(target=call, name="accord-aside", daemon=True).start()
    return future


def _within(seconds: float, function: Callable[[], T]) -> "Future[T]":
    """Call a function that may hang if a cluster is damaged, with a limit of time."""
    future = _aside(function)
    wait([future], timeout=seconds)
    return future
