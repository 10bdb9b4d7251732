"""Catch every Ctrl-C during a run."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Counts Ctrl-C within a `with` block; it is raised only at `check`, and not after the last draw.

    Python would raise wherever the main thread is: before a result is assigned, or in a callback of the garbage
    collector. JAX has such a callback, where exceptions are printed and lost. In other threads than the main one, or
    under a handler of the user's, this class does nothing.
    """

    def __init__(self) -> None:
        self._num_heard = self._num_known = 0
        self._raises = self._is_ours = False

    def __enter__(self) -> "Interrupts":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._hear)
            self._is_ours = True
        return self

    def __exit__(self, *_: Any) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let Python raise `KeyboardInterrupt` at once within the block, or at its end at the latest."""
        self._raises = True
        try:
            self.check()
            yield
        finally:
            self._raises = False
        self.check()

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if there was a Ctrl-C that the run has not handled."""
        if self._num_known < self._num_heard:
            self._num_known = self._num_heard
            raise KeyboardInterrupt

    def forget(self) -> None:
        """Mark every Ctrl-C so far as handled."""
        self._num_known = self._num_heard

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._num_heard += 1
        if self._raises:
            signal.default_int_handler(number, frame)
