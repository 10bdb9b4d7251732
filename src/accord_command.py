"""Start the command line, and hear Ctrl-C from the first line on.

This module lies beside the package: whatever is imported from `accord` imports JAX first, for a second or more. Python
would raise Ctrl-C there in callbacks, where it is lost, and in modules that cannot be imported by halves.
"""

import atexit
import contextlib
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells report it."""


def main() -> None:
    """Run `accord`. Ctrl-C ends the process at once, with status 130.

    It is an exception where something is to be done first: runs keep their draws, and workers are ended.
    """
    # A process in the background of a shell is deaf to Ctrl-C, and stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
        # The last thing before Python takes its handlers away: all is done, and Ctrl-C would only spoil the status.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    from accord.cli import main as run

    run()


def end(number: int, frame: FrameType | None) -> None:
    """End the process without an exception, which could be lost. `accord.runs.interrupts` replaces it in runs."""
    del number, frame
    with contextlib.suppress(Exception):  # what is being written just now cannot be flushed
        sys.stdout.flush()
    os._exit(INTERRUPTED)
