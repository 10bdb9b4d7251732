"""Send calls to actors of Ray, and return their answers."""

import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...core.errors import OptionError, WorkerError
from ..base import AbstractPool, Surroundings, WorkerLostError
from ..calls import Call, answer, opened
from ..local import ThreadPool, available_cores
from ..surroundings import environment
from ..underway import Underway
from .ray_head import RayHead, check_loopback, on_loopback

T = TypeVar("T")

ray: Any = importlib.import_module("ray")

_POLL = 0.2  # seconds
_GRACE = 5.0  # seconds for calls to be given up


class RayPool(AbstractPool):
    """Pool of actors that answer one call at a time. A dead one is replaced."""

    def __init__(self, address: str | None, limit: int, surroundings: Surroundings):
        self._surroundings = surroundings
        self._has_joined = not ray.is_initialized()
        if not self._has_joined and address not in (None, "auto"):
            raise OptionError(
                f"Ray({address!r}): this process is in a Ray cluster already. Ray() runs there; ray.shutdown() leaves "
                "it."
            )
        self._head = _join(address, min(limit, available_cores())) if self._has_joined else None
        self._threads = ThreadPool(min(limit, _num_cpus()))
        self._lock = threading.Lock()
        self._free: list[_Seat] = []
        self._taken = Underway[_Seat]()
        self._constants: dict[bytes, Any] = {}
        self._is_closed = False

    @property
    def num_workers(self) -> int:
        return self._threads.num_workers

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        seat = self._seat()

        def ask() -> T:
            try:
                call = Call.of(function, arguments)
                return opened(seat.answer(call.rest, [self._shipped(each) for each in call.constants]))
            finally:
                if seat.is_lost or seat.is_ended:
                    seat.leave()
                else:
                    self._free.append(seat)

        future = self._threads.submit(ask)
        self._taken.put(future, seat)
        return future

    def end(self, future: "Future[Any]") -> bool:
        seat = self._taken.who(future)
        if seat is None:
            return future.cancel()
        seat.is_ended = True
        return True

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._threads.close()
        taken = self._taken.all()
        for seat in taken.values():
            seat.is_ended = True
        wait(taken, timeout=_GRACE)  # whoever asks Ray after its end would have it start anew
        for seat in self._free:
            seat.leave()
        if self._has_joined:
            ray.shutdown()
        if self._head is not None:
            self._head.close()

    def _seat(self) -> "_Seat":
        with suppress(IndexError):
            return self._free.pop()
        return _Seat(self._surroundings)

    def _shipped(self, constant: bytes) -> Any:
        """Store a constant once where every actor finds it."""
        with self._lock:
            if constant not in self._constants:
                try:
                    self._constants[constant] = ray.put(constant)
                except Exception as error:  # a cluster that is gone may raise anything
                    raise _failed(error) from error
            return self._constants[constant]


class Actor:
    """Actor in a separate process with the environment of the run."""

    def __init__(self, surroundings: Surroundings, path: Sequence[str]):
        self._surroundings = surroundings
        sys.path.extend(each for each in path if each not in sys.path)

    def place(self) -> tuple[str, int]:
        """Return the node and the process."""
        return ray.get_runtime_context().get_node_id(), os.getpid()

    def answer(self, rest: bytes, *constants: bytes) -> bytes:
        """Return the packed answer."""
        return answer(self._surroundings, Call(constants, rest))


@dataclass
class _Seat:
    """Seat of an actor, from its first call to its end."""

    surroundings: Surroundings
    is_ended: bool = False
    is_lost: bool = False
    _actor: Any = None
    _place: tuple[str, int] = field(default=("", 0))

    def answer(self, rest: bytes, constants: Sequence[Any]) -> bytes:
        """Run a call in the actor. Raises `WorkerLostError` if it dies, or is ended."""
        try:
            self._check()
            if self._actor is None:
                self._actor = _actor_in(self.surroundings)
                self._place = self._wait(self._actor.place.remote())
            return self._wait(self._actor.answer.remote(rest, *constants))
        except ray.exceptions.RayActorError as error:
            self.is_lost = True
            raise WorkerLostError(f"an actor of Ray died: {error}") from error
        except ray.exceptions.RayError as error:
            raise _failed(error) from error

    def leave(self) -> None:
        """End the actor; a stuck one may ignore messages, and is killed if it runs on this machine."""
        if self._actor is None:
            return
        with suppress(Exception):  # a cluster that is gone has taken the actor with it
            ray.kill(self._actor)
            node, pid = self._place
            if self.is_ended and node == ray.get_runtime_context().get_node_id():
                os.kill(pid, signal.SIGKILL)

    def _wait(self, reference: Any) -> Any:
        answer = reference.future()  # `ray.get(timeout=...)` would break off what is on its way here
        while not wait([answer], timeout=_POLL).done:
            self._check()
        return answer.result()

    def _check(self) -> None:
        if self.is_ended:
            self.is_lost = True
            raise WorkerLostError("an actor of Ray was stuck, and was ended")


def _num_cpus() -> int:
    """Return the CPUs of the cluster, at least one."""
    try:
        return max(int(ray.cluster_resources().get("CPU", 1)), 1)
    except Exception as error:  # as above
        raise _failed(error) from error


def _failed(error: Exception) -> WorkerError:
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return WorkerError(
        f"the Ray cluster failed ({what}). `ray status` says whether it is there; ray.shutdown() and ray.init(...) "
        "join it anew."
    )


def _actor_in(surroundings: Surroundings) -> Any:
    options: dict[str, Any] = dict(
        num_cpus=1,
        num_gpus=0 if surroundings.platform == "cpu" else 1,
        max_restarts=0,
        max_task_retries=0,
        runtime_env={"env_vars": environment(surroundings)},
    )
    return ray.remote(**options)(Actor).remote(surroundings, list(sys.path))


def _join(address: str | None, num_cpus: int) -> RayHead | None:
    """Join a cluster; starts one first if needed, and returns it."""
    if address is not None:
        _init(address)
        return None
    check_loopback(ray.util.get_node_ip_address())
    head = RayHead(num_cpus)
    try:
        with on_loopback():
            _init(head.address)
    except BaseException:
        head.close()
        raise
    return head


def _init(address: str) -> None:
    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise WorkerError(f"no Ray cluster could be joined at {address}: {error}") from error
