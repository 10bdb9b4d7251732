"""Track the worker of each running call of a pool."""

import threading
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Underway(Generic[T]):
    """Map from running futures to their workers; thread-safe."""

    def __init__(self) -> None:
        self._with: dict[Future[Any], T] = {}
        self._lock = threading.Lock()

    def put(self, future: "Future[Any]", who: T) -> None:
        """Set the worker of a future, until it is done."""
        with self._lock:
            self._with[future] = who
        future.add_done_callback(self._forget)

    def who(self, future: "Future[Any]") -> T | None:
        """Return the worker of a future; None if it is done."""
        with self._lock:
            return self._with.get(future)

    def all(self) -> dict["Future[Any]", T]:
        """Return every running future."""
        with self._lock:
            return dict(self._with)

    def _forget(self, future: "Future[Any]") -> None:
        with self._lock:
            self._with.pop(future, None)
