"""Run calls in a new process of this machine, which is never forked.

A plain subprocess and a pipe: `multiprocessing`, and what is built on it, refuses to start processes in the daemonic
ones of a cluster, and runs the user's script once more in each.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from .base import Surroundings, WorkerLostError
from .calls import Call, answer
from .parent import command
from .surroundings import environment

_IDLE = 600.0  # seconds; a run that was killed leaves children in the workers of a cluster


class Child:
    """Worker process that is replaced when it dies. Calls come from one thread at a time.

    **Fields**: `surroundings`; `path`, where it finds modules.
    """

    def __init__(self, surroundings: Surroundings, path: Sequence[str]):
        self._surroundings, self._path = surroundings, list(path)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._constants: tuple[bytes, ...] | None = None  # that the process has: megabytes of data, as a rule
        self._is_closed = False
        self._lock = threading.Lock()

    def answer(self, call: Call) -> bytes:
        """Return the packed answer; starts the process if needed. Raises `WorkerLostError` if it dies."""
        process, pipe = self._started()
        try:
            if call.constants != self._constants:
                pipe.send_bytes(pickle.dumps(call.constants))
                self._constants = call.constants
            pipe.send_bytes(pickle.dumps((self._surroundings, replace(call, constants=()))))
            return pipe.recv_bytes()
        except (EOFError, OSError) as error:
            self._process, code = None, _end_of(process)
            pipe.close()
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise WorkerLostError(f"worker process {process.pid} died {how}") from error

    def kill(self) -> bool:
        """End the process; return whether there was one."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        process.kill()
        return True

    def close(self) -> None:
        """End the process without a replacement."""
        with self._lock:
            self._is_closed = True
            process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        with self._lock:
            if self._is_closed:
                raise WorkerLostError("the pool is closed")
            if self._pipe is None or self._process is None or self._process.poll() is not None:
                self._constants = None
                self._pipe, there = Pipe()
                self._process = subprocess.Popen(
                    command(__name__, str(there.fileno()), pipe=there.fileno(), path=self._path),
                    env={**os.environ, **environment(self._surroundings)},
                    pass_fds=[there.fileno()],
                    stdin=subprocess.DEVNULL,
                    # A terminal sends Ctrl-C to every process of its group: what it means is for this one to say.
                    start_new_session=True,
                )
                there.close()
            return self._process, self._pipe


def _end_of(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process that closed its pipe, after a second to leave by itself."""
    try:
        return process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def main() -> None:
    """Answer calls through the pipe that the command line names."""
    serve(int(sys.argv[1]))


def serve(handle: int, idle: float = _IDLE) -> None:
    """Answer calls in the process until the other end closes, or has been silent for `idle` seconds."""
    pipe = Connection(handle)
    constants: tuple[bytes, ...] = ()
    while True:
        try:
            if not pipe.poll(idle):
                return
            match pickle.loads(pipe.recv_bytes()):
                case (Surroundings() as surroundings, Call() as call):
                    pipe.send_bytes(answer(surroundings, replace(call, constants=constants)))
                case others:  # of the calls that follow
                    constants = others
        except (EOFError, OSError):
            return  # nobody is there to answer
