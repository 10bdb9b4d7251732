"""Know what each call of a pool is with, for as long as it is not done."""

import threading
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Underway(Generic[T]):
    """By future that is not done, whatever does its work; for any number of threads."""

    def __init__(self) -> None:
        self._with: dict[Future[Any], T] = {}
        self._lock = threading.Lock()

    def put(self, future: "Future[Any]", who: T) -> None:
        """Say who works on a future, until it is done."""
        with self._lock:
            self._with[future] = who
        future.add_done_callback(self._forget)

    def who(self, future: "Future[Any]") -> T | None:
        """Who works on a future; None where it is done."""
        with self._lock:
            return self._with.get(future)

    def all(self) -> dict["Future[Any]", T]:
        """Every future that is not done."""
        with self._lock:
            return dict(self._with)

    def _forget(self, future: "Future[Any]") -> None:
        with self._lock:
            self._with.pop(future, None)
