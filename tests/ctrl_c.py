"""Press Ctrl-C when a run has got to some point, whatever the clock says."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from accord.mcmc.stretch import Stretch
from accord.runs.ledger import Ledger
from accord.runs.units import AbstractStretch


@contextlib.contextmanager
def is_heard() -> Iterator[None]:
    """As in a terminal: a process in the background of a shell is started deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def pressed_once(
    is_time: Callable[[Any], bool], *, to_group: bool = False, kind: type[AbstractStretch] = Stretch
) -> Iterator[list[Any]]:
    """Send this process a Ctrl-C once such a stretch is committed, and commit no more until the run has heard it.

    `to_group` sends it to the processes of its group too, as a terminal does. `kind` of stretch: of chains, or another.

    The list holds the piece, once it has been pressed. Runs for which this comes early have short blocks.
    """
    commit, pieces = Ledger.commit, []

    def and_press(ledger, items):
        commit(ledger, items)
        found = [item for item in items if isinstance(item, kind) and is_time(item)]
        if found and not pieces:
            pieces.append(found[0])
            os.kill(0 if to_group else os.getpid(), signal.SIGINT)  # 0 is the group
            assert ledger.stop.wait(60), "nobody has heard it"

    with is_heard(), mock.patch.object(Ledger, "commit", and_press):
        yield pieces
