"""Limit linear algebra to one thread during a run.

The order in which a threaded BLAS adds depends on its number of threads, and with it the last bits of its results.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import LibController, ThreadpoolController


class _Shared:
    """Limit of this process, set by the first run that needs it and lifted by the last.

    The width of a BLAS pool belongs to the process, so what counts its users must too: were each run to set and restore
    it alone, the first to end would widen the pool under the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_users = 0
        # By path of a library: the library, and its former width.
        self._widths: dict[str, tuple[LibController, int]] = {}

    def enter(self) -> None:
        """Limit the libraries that are loaded by now: runs within runs call this again when more may have been."""
        with self._lock:
            for library in ThreadpoolController().select(user_api="blas").lib_controllers:
                self._widths.setdefault(library.filepath, (library, library.get_num_threads()))
                library.set_num_threads(1)
            self._num_users += 1

    def leave(self) -> None:
        with self._lock:
            self._num_users -= 1
            while self._num_users == 0 and self._widths:
                _, (library, width) = self._widths.popitem()
                library.set_num_threads(width)


_shared = _Shared()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and LAPACK to one thread; when the last run in this process leaves, the former width is restored."""
    _shared.enter()
    try:
        yield
    finally:
        _shared.leave()
