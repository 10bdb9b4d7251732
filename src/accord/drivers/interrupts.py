"""Hear every Ctrl-C while a run goes on."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Counts Ctrl-C from `with` to its end, where it is asked for; nothing is raised elsewhere, nor when all is drawn.

    Python would raise wherever the main thread happens to be: between a result and its name, or in a callback of the
    garbage collector, of which JAX has one and where what is raised is printed and lost. Where it is not for us to say
    what Ctrl-C means, in another than the main thread or under a handler of the user's, nothing is done.
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
        """Raise `KeyboardInterrupt` as Python does, wherever that is, at the end of the block at the latest."""
        self._raises = True
        try:
            self.check()
            yield
        finally:
            self._raises = False
        self.check()

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if there was a Ctrl-C of which the run does not know."""
        if self._num_known < self._num_heard:
            self._num_known = self._num_heard
            raise KeyboardInterrupt

    def forget(self) -> None:
        """Take it that every Ctrl-C so far is known."""
        self._num_known = self._num_heard

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._num_heard += 1
        if self._raises:
            signal.default_int_handler(number, frame)
