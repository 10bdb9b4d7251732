"""Hear every Ctrl-C while a run goes on."""

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """Counts Ctrl-C from `with` to its end, beside raising `KeyboardInterrupt` as Python does.

    Python raises wherever the main thread happens to be. In a callback of the garbage collector, of which JAX has one,
    what is raised is printed and lost, so that the count is to be asked too. Where it is not for us to say what Ctrl-C
    means, in another than the main thread or under a handler of the user's, nothing is done.

    **Fields**: `is_waiting`, whether the main thread only waits and asks `check`: nothing is raised elsewhere then.
    """

    def __init__(self) -> None:
        self.is_waiting = False
        self._num_heard = self._num_known = 0
        self._is_ours = False

    def __enter__(self) -> "Interrupts":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._hear)
            self._is_ours = True
        return self

    def __exit__(self, *_: Any) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

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
        if not self.is_waiting:
            signal.default_int_handler(number, frame)
