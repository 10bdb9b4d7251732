"""Hold promise P8 as far as this release goes: Ctrl-C keeps what was drawn."""

import os
import signal
import threading

import numpy as np
import pytest
from ctrl_c import is_heard, pressed_once
from models import regression
from paced import paced

from accord import infer
from accord.programs.cache import ProgramCache


@pytest.mark.parametrize("executor", [infer.Serial(), infer.Threads(2)], ids=["serial", "threads"])
def test_ctrl_c_returns_the_draws_that_were_made(executor):
    options = dict(warmup=50, chains=2, executor=executor, progress=False, quiet=True)
    begun = set()

    def is_time(piece):
        begun.update({piece.chain} if piece.phase == "sample" else ())
        return len(begun) == 2

    with pressed_once(is_time):
        draws = infer.sample(regression(), draws=2_000_000, **options)
    assert draws.num_draws and not draws.complete
    assert [notice.severity for notice in draws.notices if notice.code == "incomplete"] == ["error"]
    whole = infer.sample(regression(), draws=500, **options)
    np.testing.assert_array_equal(draws["a"][:, :500], whole["a"][:, : draws.num_draws])


def test_a_stopped_run_is_readable_from_its_folder(tmp_path):
    store = infer.RunFolder(tmp_path / "run")
    with pressed_once(lambda piece: piece.phase == "sample"):
        draws = infer.sample(
            regression(), draws=2_000_000, warmup=50, chains=2, store=store, progress=False, quiet=True
        )
    again = infer.load(tmp_path / "run")
    assert not again.complete
    np.testing.assert_equal(dict(again), dict(draws))
    assert [notice.code for notice in again.notices] == [notice.code for notice in draws.notices]


def test_a_killed_run_is_judged_when_it_is_loaded(tmp_path):
    folder = tmp_path / "run"
    infer.sample(
        regression(),
        draws=600,
        warmup=50,
        chains=2,
        executor=paced(most_rows=256),
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
    is_over, presses = threading.Event(), iter([signal.SIGINT])

    def compile_for_ever(*_, **__):
        if (press := next(presses, None)) is not None:
            os.kill(os.getpid(), press)
        if not is_over.wait(60):
            pytest.fail("the run has waited for it")

    monkeypatch.setattr("accord.mcmc.compiled.compile_lowered", compile_for_ever)
    monkeypatch.setattr("accord.mcmc.compiled.PROGRAMS", ProgramCache(1))
    with is_heard():
        draws = infer.sample(regression(), draws=10, chains=2, progress=False, quiet=True)
    is_over.set()
    assert not draws.complete
    assert draws["a"].shape == (2, 0)
    assert "incomplete" in [notice.code for notice in draws.notices]
