"""Cache results computed from a frozen value, so that each is computed once."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = 16  # results; the oldest is dropped first


class Kept:
    """Cache of results by question. It belongs to one value and is no part of it: copies and pickles start empty.

    Thread-safe: a second thread with the same question waits for the first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[Hashable, Any] = {}

    def get(self, question: Hashable, work: Callable[[], T]) -> T:
        """Return the cached result of `work` for this question, or compute it now. Exceptions are not cached."""
        with self._lock:
            if question not in self._results:
                found = work()
                while len(self._results) >= _MOST:
                    del self._results[next(iter(self._results))]
                self._results[question] = found
            return self._results[question]

    def __reduce__(self) -> tuple[type["Kept"], tuple[()]]:
        return (Kept, ())
