"""Run the calls of a run in a gang, and restart it when it is lost."""

import contextlib
import operator
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from ...core.errors import OptionError
from ..base import AbstractPool, Surroundings, WorkerLostError
from ..calls import Call, opened
from ..local import ThreadPool
from ..surroundings import environment
from .gang import Gang
from .member_process import AbstractMemberProcess, LocalMemberProcess, RemoteMemberProcess
from .rendezvous import Rendezvous

T = TypeVar("T")

_POLL = 0.2  # seconds
_WAIT = 1500.0  # seconds in which `accord member` has to be started on every machine


class GangPool(AbstractPool):
    """Pool with one worker, a gang.

    **Arguments**: `num_members`; `surroundings`, of each; `address`, at which to listen; `key`, their secret;
    `is_remote`, whether they are started elsewhere by host agents that come in.
    """

    def __init__(
        self,
        num_members: int,
        surroundings: Surroundings,
        address: tuple[str, int],
        key: bytes,
        is_remote: bool,
    ):
        try:
            self._rendezvous = Rendezvous(address, key)
        except OSError as error:
            raise OptionError(
                f"MultiHost: cannot listen at {address[0]}:{address[1]} ({error.strerror or error}). Give an address "
                "of this machine, with a port that is free."
            ) from error
        self._surroundings = replace(surroundings, flags=_for_one_device(surroundings.flags))
        self._num_members = num_members
        self._is_remote = is_remote
        host, port = self._rendezvous.address
        self._member_processes: list[AbstractMemberProcess] = (
            []
            if is_remote
            else [LocalMemberProcess(f"{host}:{port}", key, False) for _ in range(num_members)]
        )
        self._host_agents: list[tuple[int, RemoteMemberProcess]] = []
        self._gang: Gang | None = None
        self._thread = ThreadPool(1)
        self._running: Future[Any] | None = None
        self._lock = threading.Lock()
        self._is_ended = threading.Event()
        self._is_closed = False

    @property
    def num_workers(self) -> int:
        return 1

    def submit(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        holder: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()

        def call() -> T:
            with self._lock:
                self._running = holder.get()
                self._is_ended.clear()
            try:
                return opened(self._answer(Call.of(function, arguments)))
            finally:
                with self._lock:
                    self._running = None

        future = self._thread.submit(call)
        holder.put(future)
        return future

    def end(self, future: "Future[Any]") -> bool:
        with self._lock:
            if self._running is not future:
                return future.cancel()
            self._is_ended.set()
            gang = self._gang
        if gang is not None:
            gang.end()
        return True

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._is_ended.set()
            gang = self._gang
        self._thread.close()
        self._rendezvous.close()
        if gang is not None:
            gang.close()
        self._take_host_agents()  # those in reserve
        for _, member_process in self._host_agents:
            member_process.leave()

    def _answer(self, call: Call) -> bytes:
        gang = self._gang
        if gang is None or not gang.is_there:
            gang = Gang(self._taken_processes())
            with self._lock:
                if self._is_closed:
                    raise WorkerLostError("the pool is closed")
                self._gang = gang
            gang.gather(self._rendezvous, _environment(self._surroundings))
        return gang.answer(self._surroundings, call)

    def _take_host_agents(self) -> None:
        """Update the connected host agents, in the order of their launcher."""
        with contextlib.suppress(queue.Empty):
            while True:
                peer = self._rendezvous.host_agents.get_nowait()
                rank = self._num_members if peer.hello.rank is None else peer.hello.rank
                self._host_agents.append((rank, RemoteMemberProcess(peer.channel)))
        self._host_agents = sorted(
            ((rank, member_process) for rank, member_process in self._host_agents if member_process.is_there),
            key=operator.itemgetter(0),
        )

    def _taken_processes(self) -> list[AbstractMemberProcess]:
        """Return the member processes of this machine, or of the connected host agents."""
        if not self._is_remote:
            return self._member_processes
        until = time.monotonic() + _WAIT
        while not self._is_ended.is_set():
            self._take_host_agents()
            if len(self._host_agents) >= self._num_members:
                return [member_process for _, member_process in self._host_agents[: self._num_members]]
            if time.monotonic() > until:
                break
            time.sleep(_POLL)
        host, port = self._rendezvous.address
        raise WorkerLostError(
            f"{len(self._host_agents)} of {self._num_members} members have come in; start "
            f"`accord member {host}:{port}` "
            f"for each of them{self._rendezvous.told()}"
        )


def _environment(surroundings: Surroundings) -> dict[str, str]:
    """Return the environment that a member needs before it imports JAX, with this process's module path."""
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**environment(surroundings), "JAX_NUM_CPU_DEVICES": "1", "PYTHONPATH": path}


def _for_one_device(flags: str) -> str:
    """Remove the number of devices: with several in one process, collectives over gloo were seen to hang."""
    return re.sub(r"--xla_force_host_platform_device_count=\S*", "", flags).strip()
