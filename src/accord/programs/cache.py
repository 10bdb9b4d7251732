"""Keep compiled programs, in this process and in JAX's persistent cache for the next one."""

import contextlib
import hashlib
import os
import stat
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Generic, TypeVar

import jax
from jax.experimental.compilation_cache import compilation_cache

T = TypeVar("T")

SWITCH = "ACCORD_COMPILATION_CACHE"
"""Environment variable: a folder for the persistent cache, or `off`."""


class ProgramCache(Generic[T]):
    """Bounded mapping that builds a missing entry once, however many threads ask for it at the same time."""

    def __init__(self, max_size: int):
        self._max_size = max_size
        self._lock = threading.Lock()
        self._futures: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def get(self, key: Hashable, build: Callable[[], T]) -> tuple[T, bool]:
        """Return the entry of `key`, built by `build()` if missing, and whether it was there.

        If building fails, every waiting thread gets its error, and nothing is kept.
        """
        while True:
            with self._lock:
                future = self._futures.get(key)
                is_hit = future is not None
                if future is None:
                    future = self._futures[key] = Future()
                    while len(self._futures) > self._max_size:
                        self._futures.popitem(last=False)
                self._futures.move_to_end(key)
            if not is_hit:
                self._fill(key, future, build)
            try:
                return future.result(), is_hit
            except CancelledError:
                continue  # the thread that was building was interrupted

    def _fill(self, key: Hashable, future: "Future[T]", build: Callable[[], T]) -> None:
        try:
            future.set_result(build())
        except BaseException as error:
            with self._lock:
                self._futures.pop(key, None)
            if isinstance(error, Exception):
                future.set_exception(error)
            else:  # an interrupt belongs to the thread that it reached
                future.cancel()
                raise


_unpacked: ProgramCache[Any] = ProgramCache(2)


def unpacked(packed: bytes, build: Callable[[], T]) -> T:
    """Cache of a worker process: the last two objects that it unpickled, such as a run's machine or a prediction."""
    return _unpacked.get(hashlib.sha256(packed).digest(), build)[0]


def persist() -> str | None:
    """Let JAX keep compiled programs on disk, unless the user has chosen a folder; return the folder in use.

    This is the only global setting that a run changes. The folder is private to the user, since compiled programs are
    code. JAX's threshold on compile time is lowered too: programs of small models compile in about a second, and run
    most often.
    """
    folder: str | None = getattr(jax.config, "jax_compilation_cache_dir", None)  # set dynamically by JAX
    if folder is not None:
        return folder
    path = private_folder("programs")
    if path is None:
        return None
    remove_incomplete(path)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_compilation_cache_dir", str(path))
    # JAX decides at its first compilation whether there is a cache, and would not look again.
    compilation_cache.reset_cache()
    return str(path)


def private_folder(name: str) -> Path | None:
    """Make a folder of compiled code, which is private to the user; None where that is off, or cannot be written.

    It is `name` in accord's folder of the user's cache. In the folder that `ACCORD_COMPILATION_CACHE` names, JAX's
    "programs" lie at the top, and others in a folder of their name.
    """
    choice = os.environ.get(SWITCH, "")
    if choice.lower() in ("off", "0", "false"):
        return None
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    path = Path(choice) / ("" if name == "programs" else name) if choice else home / "accord" / name
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(0o700)
    except OSError:
        return None  # a read-only home costs a compilation, not the run
    return path


_SUFFIX = "-cache"  # of JAX's files
_MARK = "checked"
_UNDERWAY = 60 * 10**9  # nanoseconds, after which nobody can still be writing a program
_FRAME = b"\x28\xb5\x2f\xfd"  # how what Zstandard has compressed begins
_STREAM = b"\x78"  # and how what zlib has


def remove_incomplete(folder: Path) -> None:
    """Remove programs whose end is missing.

    JAX writes each program once, directly to its file. After a full disk or a killed process, every later process would
    find an incomplete file, warn about it and compile the program again. So each process, before it uses the folder,
    checks the files written since the last check.

    Files of the last minute stay, since they may be unfinished, and so do files in unknown formats. It does nothing in
    a folder that cannot be read, and raises no error.
    """
    until = time.time_ns() - _UNDERWAY
    with contextlib.suppress(OSError):
        mark = folder / _MARK
        since = mark.stat().st_mtime_ns if mark.exists() else 0
        for entry in os.scandir(folder):
            if entry.name.endswith(_SUFFIX):
                with contextlib.suppress(OSError):  # another process has removed it
                    found = entry.stat(follow_symlinks=False)
                    # A pipe would be read for ever; JAX writes regular files.
                    is_new = stat.S_ISREG(found.st_mode) and since <= found.st_mtime_ns < until
                    if is_new and not is_whole(Path(entry).read_bytes()):
                        os.unlink(entry)
        mark.touch(mode=0o600)
        os.utime(mark, ns=(until, until))


def is_whole(compressed: bytes) -> bool:
    """Return whether compressed bytes are complete; bytes in neither of JAX's formats count as complete."""
    if _FRAME.startswith(compressed[: len(_FRAME)]):
        return _is_whole_frame(compressed)
    if not compressed.startswith(_STREAM):
        return True
    stream = zlib.decompressobj()
    try:
        stream.decompress(compressed)
    except zlib.error:
        return False
    return stream.eof


def _is_whole_frame(frame: bytes) -> bool:
    """Return whether a Zstandard frame is complete, by its block sizes: Python can decompress it only from 3.14 on.

    **Source**: Collet & Kucherawy (2021), "Zstandard Compression", RFC 8878, section 3.1.1.
    """
    if len(frame) <= len(_FRAME):
        return False
    flags = frame[len(_FRAME)]
    is_single = flags >> 5 & 1
    window_size, dictionary_size = 1 - is_single, (0, 1, 2, 4)[flags & 3]
    content_size, checksum_size = (is_single, 2, 4, 8)[flags >> 6], 4 * (flags >> 2 & 1)
    at, is_last = len(_FRAME) + 1 + window_size + dictionary_size + content_size, False
    while not is_last:
        if at + 3 > len(frame):
            return False
        header = int.from_bytes(frame[at : at + 3], "little")
        is_last, is_repeated, size = header & 1, header >> 1 & 3 == 1, header >> 3
        at += 3 + (1 if is_repeated else size)
    return at + checksum_size <= len(frame)
