"""Hear each Ctrl-C once: where it would be lost it is raised a little later, and never after its block."""

import gc
import importlib
import signal
import sys
import threading
import time

import pytest
from ctrl_c import is_heard

from accord.runs.interrupts import Interrupts


def press(*_):
    signal.raise_signal(signal.SIGINT)


def press_in_the_collector():
    def once(phase, _):
        if phase == "start":
            press()
        else:
            gc.callbacks.remove(once)

    gc.callbacks.append(once)
    gc.collect()


class Finalised:
    def __del__(self):
        press()


def press_in_a_finaliser():
    Finalised()


def wait():
    """Wait for what is to be raised here."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.001)


def within(*acts):
    """Act within a block that raises."""
    with Interrupts() as interrupts, interrupts.raising():
        for act in acts:
            act()


PRESSES = {
    "at once": press,
    "in the collector": press_in_the_collector,
    "in a finaliser": press_in_a_finaliser,
}


@pytest.mark.parametrize("how", PRESSES.values(), ids=PRESSES)
def test_ctrl_c_is_raised_within_the_block_and_not_lost(how):
    began = time.monotonic()
    with is_heard(), pytest.raises(KeyboardInterrupt):
        within(how, wait)
    assert time.monotonic() - began < 60


def test_a_module_is_imported_whole_before_ctrl_c_is_raised(tmp_path, monkeypatch):
    (tmp_path / "halves.py").write_text(
        "import signal\n\nsignal.raise_signal(signal.SIGINT)\nIS_WHOLE = True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with is_heard(), pytest.raises(KeyboardInterrupt):
        within(lambda: importlib.import_module("halves"), wait)
    assert sys.modules.pop("halves").IS_WHOLE


def test_the_third_press_is_raised_even_while_a_module_is_imported(tmp_path, monkeypatch):
    lines = ["import signal", *["signal.raise_signal(signal.SIGINT)"] * 3, "raise AssertionError"]
    (tmp_path / "endless.py").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with is_heard(), pytest.raises(KeyboardInterrupt):
        within(lambda: importlib.import_module("endless"))


@pytest.mark.parametrize("how", PRESSES.values(), ids=PRESSES)
def test_ctrl_c_is_raised_once(how):
    """What is repeated inside does not come to the handler outside, where it would be another one."""
    outside = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(4):
            with pytest.raises(KeyboardInterrupt):
                within(how)
            signal.signal(signal.SIGINT, lambda *_: outside.append(1))
            time.sleep(0.002)
            signal.signal(signal.SIGINT, signal.default_int_handler)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not outside


def test_the_handler_of_the_user_and_other_threads_are_left_alone():
    def users(*_):
        raise AssertionError

    before = signal.signal(signal.SIGINT, users)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) is users
        signal.signal(signal.SIGINT, signal.default_int_handler)
        found = []

        def enter():
            with Interrupts():
                found.append(signal.getsignal(signal.SIGINT))

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        assert found == [signal.default_int_handler]
    finally:
        signal.signal(signal.SIGINT, before)
