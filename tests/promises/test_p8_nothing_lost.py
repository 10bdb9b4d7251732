"""Hold promise P8 as far as this release goes: Ctrl-C keeps what was drawn."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from models import regression

from accord import infer
from accord.drivers.cache import ProgramCache


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard():
    """As in a terminal: a process in the background of a shell is started deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer


@pytest.mark.parametrize("executor", [infer.Serial(), infer.Threads(2)], ids=["serial", "threads"])
def test_ctrl_c_returns_the_draws_that_were_made(executor):
    options = dict(warmup=50, chains=2, executor=executor, progress=False, quiet=True)
    infer.sample(regression(), draws=10, **options)
    began = time.monotonic()
    interrupt_after(2.0)
    draws = infer.sample(regression(), draws=2_000_000, **options)
    assert time.monotonic() - began < 10
    assert not draws.complete
    assert [notice.severity for notice in draws.notices if notice.code == "incomplete"] == ["error"]
    if isinstance(executor, infer.Threads):
        kept = draws.num_draws
        assert kept > 0
        whole = infer.sample(regression(), draws=min(kept, 500), **options)
        np.testing.assert_array_equal(draws["a"][:, :500], whole["a"][:, :500])


def test_a_stopped_run_is_readable_from_its_folder(tmp_path):
    infer.sample(regression(), draws=10, warmup=50, chains=2, progress=False, quiet=True)
    interrupt_after(1.5)
    store = infer.RunFolder(tmp_path / "run")
    draws = infer.sample(
        regression(), draws=2_000_000, warmup=50, chains=2, store=store, progress=False, quiet=True
    )
    again = infer.load(tmp_path / "run")
    assert not again.complete
    np.testing.assert_equal(dict(again), dict(draws))
    assert [notice.code for notice in again.notices] == [notice.code for notice in draws.notices]


def test_a_killed_run_is_judged_when_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("accord.drivers.block._MAX_ROWS", 256)
    folder = tmp_path / "run"
    infer.sample(
        regression(),
        draws=600,
        warmup=50,
        chains=2,
        store=infer.RunFolder(folder),
        progress=False,
        quiet=True,
    )
    # As if the process had died before the end of its second chain.
    for name in ("record-notices.json", "record-timings.json"):
        (folder / name).unlink()
    max((folder / "chain-0001").iterdir()).unlink()
    draws = infer.load(folder)
    assert not draws.complete
    assert 0 < draws.num_draws < 600
    assert next(notice.code for notice in draws.notices) == "incomplete"


def test_ctrl_c_while_compiling_returns_at_once_without_draws(monkeypatch):
    monkeypatch.setattr("accord.drivers.compiled.compile_lowered", lambda *_, **__: time.sleep(20))
    monkeypatch.setattr("accord.drivers.compiled.PROGRAMS", ProgramCache(1))
    interrupt_after(1.5)
    began = time.monotonic()
    draws = infer.sample(regression(), draws=10, chains=2, progress=False, quiet=True)
    assert time.monotonic() - began < 10
    assert not draws.complete
    assert draws["a"].shape == (2, 0)
    assert "incomplete" in [notice.code for notice in draws.notices]
