"""Let one writer at a time into a run folder, by a lock that the system releases when its process ends.

The lock is on the file `writer.lock`, which says who holds it and is removed when the writer is done. What is left of a
writer that was killed is taken over. Readers need no lock, since nothing in a folder is changed in place.

It is a lock of the whole file (`flock`), which threads and processes hold alike; record locks (`lockf`) do not part
threads, and end when anything in the process closes the file. NFS passes it on to its server, so that it holds between
machines too. Where a file system has no such locks, or on Windows, a folder is still created by one run alone and a
segment never overwritten (`files.commit`), but a second writer is told so only at its next segment.
"""

import contextlib
import datetime
import errno
import json
import os
import platform
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StorageError
from .reading import read_regular

NAME = "writer.lock"

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL}
_TRIES = 100
_PAUSE = 0.01  # seconds, while another writer comes or goes
_MAX_WORDS = 4096  # bytes of what a lock says of its holder


class WriteLock:
    """The lock of a run folder, held from `take` to `release`, or to the end of the process.

    **Arguments**: `path` and `descriptor` of its file, which this process has opened.
    """

    def __init__(self, path: Path, descriptor: int):
        self._path = path
        self._descriptor: int | None = descriptor
        self._process = os.getpid()

    @staticmethod
    def take(folder: Path) -> "WriteLock":
        """Become the writer of a folder.

        **Raises** `StorageError` that says who is, or that the folder cannot be written; `FileNotFoundError` without a
        folder.
        """
        path = folder / NAME
        for _ in range(_TRIES):
            descriptor = _opened(path)
            try:
                if _is_taken(descriptor):
                    os.lseek(descriptor, 0, os.SEEK_SET)
                    holder = os.read(descriptor, _MAX_WORDS)
                    if holder:
                        raise StorageError(f"{folder} is being written {_words(holder)}. {_ADVICE}")
                elif _is_there_still(path, descriptor):
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, _of_here())
                    lock, descriptor = WriteLock(path, descriptor), None
                    return lock
            except OSError as error:
                raise _cannot_write(path, error) from error
            finally:
                if descriptor is not None:
                    os.close(descriptor)
            time.sleep(_PAUSE)  # its holder has not written its name yet, or has just removed it
        raise StorageError(f"{folder} is being written by another process. {_ADVICE}")

    def release(self) -> None:
        """Let the next writer in. Releasing twice is harmless, and so is doing it in a forked child."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        if os.getpid() == self._process:
            # While it is held, so that nobody's else is removed.
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        os.close(descriptor)

    def __del__(self) -> None:
        self.release()


@dataclass(frozen=True)
class Writer:
    """Process that writes to a run folder, as it wrote down itself: its number, its machine, and since when."""

    process: int
    machine: str
    since: str

    @property
    def is_here(self) -> bool:
        """Return whether it is a process of this machine."""
        return self.machine == platform.node()

    def __str__(self) -> str:
        return f"process {self.process} on {self.machine!r}, since {self.since}"


def writer_of(folder: Path) -> Writer | None:
    """Return who writes to a folder; None if nobody does, as far as this machine can tell.

    The lock itself is not tried, since that would keep out a writer that begins at the same moment. A process of
    another machine counts as alive.
    """
    try:
        writer = _writer(read_regular(folder / NAME, _MAX_WORDS))
    except StorageError:
        return None
    return writer if writer is not None and not (writer.is_here and _has_ended(writer.process)) else None


def _has_ended(process: int) -> bool:
    if sys.platform == "win32":  # where signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # of another user
        return False
    return False


_ADVICE = (
    "Let it finish, or stop it, and then continue by infer.resume; infer.load reads the draws so far. A new run needs "
    "another folder."
)


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"{path} is no regular file, and is not from accord. Remove it.")
    return descriptor


def _cannot_write(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"cannot write {path} ({error.strerror or error}). Make the folder writable, or give another path."
    )


def _is_taken(descriptor: int) -> bool:
    """Lock a file unless another has; return whether another has."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return True
        raise
    return False


def _is_there_still(path: Path, descriptor: int) -> bool:
    """Return whether a file has its name yet: its last holder may have removed it before it was locked here."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _of_here() -> bytes:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return json.dumps({"process": os.getpid(), "machine": platform.node(), "since": now}).encode()


def _words(holder: bytes) -> str:
    """Who holds a lock, by what is written in it; anyone may have written it."""
    writer = _writer(holder)
    if writer is None:
        return "by another process"
    if writer.process == os.getpid() and writer.is_here:
        return f"by this process (another run or resume, since {writer.since})"
    return f"by {writer}"


def _writer(holder: bytes) -> Writer | None:
    try:
        found = json.loads(holder)
        return Writer(int(found["process"]), str(found["machine"])[:80], str(found["since"])[:40])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
