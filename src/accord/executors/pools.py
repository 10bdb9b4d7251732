"""Limit linear algebra to one thread during a run.

The order in which a threaded BLAS adds depends on its number of threads, and with it the last bits of its results.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits


class _Shared:
    """Limit of this process, set by the first run that needs it and lifted by the last.

    The width of a BLAS pool belongs to the process, so what counts its users must too: were each run to set and restore
    it alone, the first to end would widen the pool under the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_users = 0
        self._limits: list[Any] = []

    def enter(self) -> None:
        with self._lock:
            self.limit()
            self._num_users += 1

    def leave(self) -> None:
        with self._lock:
            self._num_users -= 1
            while self._num_users == 0 and self._limits:
                self._limits.pop().restore_original_limits()

    def limit(self) -> None:
        """Limit what is loaded by now; called again when more may have been."""
        self._limits.append(threadpool_limits(limits=1, user_api="blas"))


_shared = _Shared()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and LAPACK to one thread; when the last run in this process leaves, the former width is restored."""
    _shared.enter()
    try:
        yield
    finally:
        _shared.leave()
