"""Press Ctrl-C in calibrations and predictions, and run simulations on shared rows, in every kind of executor."""

import os
import signal
import time

import numpy as np
import pytest
from ctrl_c import is_heard
from fault_models import needs_proc, needs_signals, worker_pids
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.calibration import carry_out
from accord.calibration.book import Book
from accord.runs.scheduler import Scheduler

pytestmark = needs_signals

OPTIONS = dict(simulations=40, draws=10, warmup=50, thinning=1, seed=2, progress=False, quiet=True)
SHARD = {"x": 0, "y": 0}


@ac.model
def line(x, y):
    slope = ac.sample("slope", dist.Normal(0.0, 2.0))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(slope * x, 1.0), obs=y)


MODEL = line(np.linspace(-1, 1, 64), np.zeros(64))

WORKERS = {"threads": lambda: infer.Threads(2), "processes": lambda: infer.Processes(2)}


@pytest.mark.slow
@each(WORKERS)
def test_ctrl_c_in_a_calibration_returns_what_is_done(executor, tmp_path, monkeypatch):
    commit, pressed = Book.commit, []
    patiently, stops = carry_out.patiently, []

    def and_show(call, stop, *rest):
        stops.append(stop)
        return patiently(call, stop, *rest)

    def and_press(book, items):
        commit(book, items)
        if len(book.trials) >= 3 and not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
            assert stops[0].wait(60), "nobody has heard it"

    options = OPTIONS | dict(executor=executor, store=infer.RunFolder(tmp_path / "run"))
    with monkeypatch.context() as patch, is_heard():
        patch.setattr(Book, "commit", and_press)
        patch.setattr(carry_out, "patiently", and_show)
        found = infer.calibrate(MODEL, **options)
    assert pressed and 3 <= len(found.simulations) < 40 and found.notices[0].code == "incomplete"
    assert list(infer.load(tmp_path / "run").seeds) == list(found.seeds)
    again = infer.resume(tmp_path / "run", MODEL, executor=infer.Threads(2), quiet=True)
    assert again.complete
    for name, ranks in found.ranks.items():
        places = [again.simulations.index(number) for number in found.simulations]
        np.testing.assert_array_equal(again.ranks[name][places], ranks)


@pytest.mark.slow
@needs_proc
@each(WORKERS)
def test_ctrl_c_in_predictions_is_raised_and_ends_the_workers(executor, monkeypatch):
    draws = infer.sample(MODEL, draws=2000, warmup=50, chains=2, quiet=True)
    run, before = Scheduler.run, set(worker_pids())

    def and_press(scheduler, blocks):
        def pressed():
            for number, block in enumerate(blocks):
                if number == 2:
                    os.kill(os.getpid(), signal.SIGINT)
                yield block

        return run(scheduler, pressed())

    monkeypatch.setattr(Scheduler, "run", and_press)
    with is_heard(), pytest.raises(KeyboardInterrupt):
        infer.predict(draws, MODEL, executor=executor)
    until = time.monotonic() + 30
    while set(worker_pids()) - before:
        assert time.monotonic() < until, "workers are left"
        time.sleep(0.1)


@pytest.mark.slow
def test_simulations_on_shared_rows_have_the_same_ranks_in_several_processes():
    few = OPTIONS | dict(simulations=3)
    one, several = (
        infer.calibrate(MODEL, executor=executor, **few)
        for executor in (infer.Devices(data=1, shard=SHARD), infer.MultiHost(processes=2, shard=SHARD))
    )
    assert one.simulations == several.simulations == (0, 1, 2)
    for name, ranks in one.ranks.items():
        np.testing.assert_array_equal(several.ranks[name], ranks)
