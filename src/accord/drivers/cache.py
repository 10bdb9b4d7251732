"""Keep compiled programs, in this process and in JAX's persistent cache for the next one."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Generic, TypeVar

import jax
from jax.experimental.compilation_cache import compilation_cache

from .torn import remove_torn

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
    choice = os.environ.get(SWITCH, "")
    if folder is not None or choice.lower() in ("off", "0", "false"):
        return folder
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    path = Path(choice) if choice else home / "accord" / "programs"
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(0o700)
    except OSError:
        return None  # a read-only home costs a compilation, not the run
    remove_torn(path)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_compilation_cache_dir", str(path))
    # JAX decides at its first compilation whether there is a cache, and would not look again.
    compilation_cache.reset_cache()
    return str(path)
