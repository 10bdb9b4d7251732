"""Run one member of a gang on this machine, or on another one by its host agent."""

import abc
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from typing import IO

from ..parent import command
from .channel import Channel
from .messages import KEY, End, Ended, Launch, Leave
from .session import ForgedError

_GRACE = 1.0  # seconds from SIGTERM to SIGKILL
_NUM_LINES = 15  # of what a member said before it died


class AbstractMemberProcess(abc.ABC):
    """Process of a member; its successor is started in its stead."""

    @abc.abstractmethod
    def launch(self, ticket: str, rank: int, environment: Mapping[str, str]) -> None:
        """Start a member. Raises `OSError` if that is no longer possible."""

    @abc.abstractmethod
    def complaint(self) -> str | None:
        """Describe how the member ended; None while it runs."""

    @abc.abstractmethod
    def end(self) -> None:
        """End the member, whatever it is doing. Ending twice is harmless."""


class LocalMemberProcess(AbstractMemberProcess):
    """Process of a member that is a child of this process.

    **Arguments**: `address`, `HOST:PORT` of the supervisor; `key`; `is_heard`, whether what it prints is shown.
    """

    def __init__(self, address: str, key: bytes, is_heard: bool):
        self._address, self._key, self._is_heard = address, key, is_heard
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._lock = threading.Lock()

    def launch(self, ticket: str, rank: int, environment: Mapping[str, str]) -> None:
        with self._lock:
            self._said = None if self._is_heard else tempfile.TemporaryFile()  # noqa: SIM115 - the child has it
            self._process = subprocess.Popen(
                command("accord.executors.gangs.member", self._address, ticket, str(rank)),
                env={**os.environ, **environment, KEY: os.fsdecode(self._key)},
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                # A terminal sends Ctrl-C to a whole session: what it means for members is for the supervisor to say.
                start_new_session=True,
            )

    def complaint(self) -> str | None:
        with self._lock:
            status = None if self._process is None else self._process.poll()
            if status is None:
                return None
            if status < 0:
                return f"was ended by {signal.Signals(-status).name}"
            return f"left with status {status}{self._last_words()}"

    def end(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_GRACE)
                self._process.kill()
                self._process.wait()
            if self._said is not None:
                self._said.close()
            self._process = self._said = None

    def _last_words(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return "; its last words: " + "\n".join(lines[-_NUM_LINES:]) if lines else ""


class RemoteMemberProcess(AbstractMemberProcess):
    """Process of a member on a machine where `accord member` runs, which starts and ends it on request."""

    def __init__(self, channel: Channel):
        self._channel = channel
        self._ticket = ""
        self._complaint: str | None = None
        self._lock = threading.Lock()  # one thread listens at a time

    def launch(self, ticket: str, rank: int, environment: Mapping[str, str]) -> None:
        self._ticket, self._complaint = ticket, None
        self._channel.send(Launch(ticket, rank, environment))

    def complaint(self) -> str | None:
        with self._lock:
            try:
                while self._channel.poll(0.0):
                    ended: Ended = self._channel.receive()
                    if ended.ticket == self._ticket:  # and not of the gang before
                        self._complaint = ended.how
            except ForgedError as error:
                self._complaint = f"is on a machine whose connection was given up: {error}"
            except (EOFError, OSError):
                self._complaint = self._complaint or "is on a machine that cannot be reached any more"
                self._channel.close()
            return self._complaint

    @property
    def is_there(self) -> bool:
        """Return whether the host agent can still be reached."""
        self.complaint()
        return not self._channel.is_closed

    def leave(self) -> None:
        """Tell the host agent that the run is over."""
        with contextlib.suppress(OSError):
            self._channel.send(Leave())
            self._channel.close()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._channel.send(End())
