"""Catch every Ctrl-C during a run, and wait for what must not be lost to one."""

import _thread
import gc
import inspect
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from ..executors import ThreadPool

T = TypeVar("T")

_LATER = 0.01  # seconds after which an interrupt that would have been lost is repeated
_POLL = 0.1  # seconds; between polls a signal reaches the waiting thread
_ENOUGH = 3  # presses after which it is raised wherever the thread is

# Files whose functions finalise objects, or import modules.
_UNSAFE = ("<frozen importlib", str(weakref.__file__), str(inspect.getfile(weakref.WeakSet)))


class Interrupts:
    """Counts Ctrl-C within a `with` block; it is raised only at `check`, and not after the last draw.

    Python would raise wherever the main thread is: before a result is assigned, or in a callback of the garbage
    collector. JAX has such a callback, where exceptions are printed and lost. In other threads than the main one, or
    under a handler of the user's, this class does nothing.
    """

    def __init__(self) -> None:
        self._num_heard = self._num_known = self._num_repeats = 0
        self._raises = self._is_ours = False
        self._before: Any = None
        self._outside: FrameType | None = None
        self._ending = threading.Lock()

    def __enter__(self) -> "Interrupts":
        is_main = threading.current_thread() is threading.main_thread()
        self._before = signal.getsignal(signal.SIGINT)
        if is_main and _is_to_be_replaced(self._before):
            here = inspect.currentframe()
            self._outside = here.f_back if here is not None else None
            self._is_ours = True
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._is_ours:
            with self._ending:
                self._is_ours = False
            self._outside = None
            # Python first calls the present handler for signals that have come, so no repetition reaches the other one.
            signal.signal(signal.SIGINT, self._before)

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
        del number
        if self._num_repeats:
            self._num_repeats = 0
        else:
            self._num_heard += 1
        num_new = self._num_heard - self._num_known
        if not (self._raises and num_new):
            return
        if num_new < _ENOUGH and self._would_be_lost(frame):
            _thread.start_new_thread(self._repeat, ())  # `threading.Thread` may wait for a lock held here
        else:
            raise KeyboardInterrupt

    def _repeat(self) -> None:
        """Interrupt the main thread again, unless the block has ended."""
        time.sleep(_LATER)
        with self._ending:
            if self._is_ours and self._num_known < self._num_heard:
                self._num_repeats = 1
                _thread.interrupt_main()

    def _would_be_lost(self, frame: FrameType | None) -> bool:
        """Return whether the thread is in a callback or finaliser, which lose exceptions, or imports a module.

        Modules with machine code end the process or stay half made if their import is broken off.
        """
        callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
        while frame is not None and frame is not self._outside:
            code = frame.f_code
            if code in callbacks or code.co_name == "__del__" or code.co_filename.startswith(_UNSAFE):
                return True
            frame = frame.f_back
        return False


def _is_to_be_replaced(handler: Any) -> bool:
    """Return whether a handler of SIGINT is Python's own, or that of the command line."""
    of_command = getattr(handler, "__module__", None) == "accord_command"
    return handler is signal.default_int_handler or of_command


def patiently(
    call: Callable[[], T],
    stop: threading.Event,
    interrupts: Interrupts,
    say: Callable[[], None] = lambda: None,
) -> T:
    """Wait for a call whose result must not be lost: the first Ctrl-C sets `stop`, a second one raises.

    The call runs in a separate thread. An interrupt reaches only the waiting thread, so it cannot fall between
    receiving draws and storing them.
    """
    pool = ThreadPool(1)
    try:
        result = pool.submit(call)
        while True:
            try:
                while not result.done():
                    wait([result], timeout=_POLL)
                    interrupts.check()
                return result.result()
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                stop.set()
                say()
    finally:
        pool.close()
