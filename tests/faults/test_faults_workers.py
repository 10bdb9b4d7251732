"""Kill, stop and misconfigure worker processes: a run goes on with the same draws, or says why it cannot."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest
from fault_models import (
    QUIET,
    assert_same,
    give_orders,
    needs_proc,
    needs_signals,
    sample,
    taken,
    target,
    watched_target,
    worker_pids,
)
from paced import IMPATIENT, Paced, paced

from accord import infer
from accord.core.errors import OptionError, WorkerError
from accord.executors import Surroundings, child, surroundings_here
from accord.mcmc import compiled
from accord.report import AbstractProgress

RUN = dict(draws=400, warmup=200, chains=2, seed=6, **QUIET)


@pytest.fixture(scope="module")
def expected():
    return sample(watched_target(), **RUN)


# Losses


@needs_signals
@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_run_whose_workers_die_draws_the_same(orders, expected, tmp_path, count):
    give_orders(orders, *["die"] * count)
    draws = sample(
        watched_target(), executor=infer.Processes(1), store=infer.RunFolder(tmp_path / "run"), **RUN
    )
    assert taken(orders) == count
    assert_same(draws, expected)
    assert not [notice for notice in draws.notices if notice.code == "chain_failed"]


@needs_signals
@pytest.mark.slow
def test_a_chain_whose_worker_dies_four_times_fails_by_name_and_harms_no_other(orders, expected):
    give_orders(orders, *["die"] * 4)
    draws = sample(watched_target(), executor=infer.Processes(1), **RUN)
    assert taken(orders) == 4
    (failure,) = draws.lost_chains
    (notice,) = [notice for notice in draws.notices if notice.code == "chain_failed"]
    (failed,) = failure["chains"]
    assert f"chain {failed} " in notice.message and "died" in notice.message
    assert draws.chains == (1 - failed,)
    np.testing.assert_array_equal(draws["x"][0], expected["x"][1 - failed])


@needs_signals
@needs_proc
@pytest.mark.slow
def test_workers_killed_at_random_moments_change_no_draw(tmp_path):
    """Two of them in each of five runs, whatever they are at: start, compilation, or a draw."""
    options = RUN | dict(draws=20_000)
    whole = sample(target(), **options)
    killed = 0
    for number in range(5):
        done = threading.Event()
        with ThreadPoolExecutor(1) as beside:
            count = beside.submit(kill_two, np.random.default_rng([9, number]), done)
            draws = sample(target(), executor=infer.Processes(2), **options)
            done.set()
            killed += count.result()
        assert_same(draws, whole)
    assert killed >= 5


def kill_two(rng, done):
    """Kill one of the workers of this process soon after it starts, and then another; how many there were to kill."""
    count = 0
    for pause in rng.uniform(0.0, 1.5, 2):
        while not (pids := worker_pids()) and not done.wait(0.01):
            pass
        if not done.wait(pause) and (pids := worker_pids()):
            os.kill(int(rng.choice(pids)), signal.SIGKILL)
            count += 1
    return count


# The stuck


@needs_signals
@pytest.mark.parametrize("order", ["sleep", pytest.param("stop", marks=pytest.mark.slow)])
def test_a_worker_that_hangs_is_found_and_replaced(orders, expected, order):
    """It sleeps for an hour in a callback, or is stopped by a signal."""
    give_orders(orders, order)
    draws = sample(watched_target(), executor=Paced(infer.Processes(1), IMPATIENT), **RUN)
    assert taken(orders) == 1
    assert_same(draws, expected)


def test_a_thread_that_hangs_is_named(monkeypatch):
    """It cannot be ended: the user is told, once, and may."""
    from fault_models import watcher

    said: list[str] = []
    hung = threading.Event()

    class Display(AbstractProgress):
        def start(self, chains, totals):
            pass

        def update(self, *args, **kwargs):
            pass

        def note(self, text):
            pass

        def message(self, text):
            said.append(text)
            hung.set()

        def stop(self):
            pass

    monkeypatch.setattr("accord.mcmc.prepare.display", lambda progress, quiet: Display())
    where = paced(task_seconds=0.1, patience=3.0, patience_at_first=3.0)
    fatal = iter([True])
    watcher[0] = lambda position: hung.wait(60) if next(fatal, False) else None
    try:
        draws = sample(watched_target(), executor=where, **(RUN | dict(chains=1)))
    finally:
        watcher[0] = lambda position: None
    assert draws.complete
    (text,) = said
    assert "chain 0" in text and "infer.Processes()" in text


# Configuration


@pytest.fixture(scope="module")
def pool():
    """Workers of a run in float32 with a pool of 3 threads, which is none of the settings here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPROC", "3")
        found = surroundings_here("float32")
    pool = infer.Processes(1).open(1, Surroundings("float32", found.platform, found.pool_width, None))
    yield pool
    pool.close()


def describe_here(precision):
    with_x64 = bool(jax.config.read("jax_enable_x64"))
    width, blas = (
        os.environ["NPROC"],
        {os.environ[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL")},
    )
    return surroundings_here(precision), with_x64, width, blas


def nest():
    try:
        sample(target(), executor=infer.Processes(2), **RUN)
    except OptionError as error:
        return str(error)


secret = "as imported"


def read_secret():
    return secret, os.getpid(), os.getppid()


def test_a_worker_is_configured_by_the_run_alone(pool):
    found, with_x64, width, blas = pool.submit(describe_here, "float32").result()
    assert found == Surroundings("float32", jax.default_backend(), 3, None)
    assert jax.config.read("jax_enable_x64") and not with_x64  # the setting here does not reach it
    assert (width, blas) == ("3", {"1"})


def test_a_worker_is_not_forked(pool, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "secret", "as it is now")
    found, pid, parent = pool.submit(read_secret).result()
    assert found == "as imported"
    assert pid != os.getpid() and parent == os.getpid()


@needs_signals
def test_a_worker_that_has_died_while_it_had_nothing_to_do_is_no_loss(pool):
    pid = pool.submit(os.getpid).result()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until it is dead, and nobody has noticed
    assert pool.submit(os.getpid).result() != pid


def test_a_worker_that_nobody_asks_for_long_leaves():
    _here, there = multiprocessing.Pipe()
    child.serve(os.dup(there.fileno()), idle=0.01)


def test_processes_inside_of_a_worker_are_refused_at_once(pool):
    message = pool.submit(nest).result()
    assert "inside of a worker process" in message and "Threads()" in message


def test_processes_inside_of_a_worker_are_refused_before_anything_is_compiled(monkeypatch):
    monkeypatch.setenv("ACCORD_WORKER", "1")
    monkeypatch.setattr(compiled, "compile_lowered", lambda *_, **__: pytest.fail("it compiled"))
    with pytest.raises(OptionError, match="inside of a worker process"):
        sample(target(), executor=infer.Processes(), **RUN)


@pytest.mark.parametrize("precision", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_processes_draw_in_the_precision_of_the_run_whatever_jax_is_set_to(precision):
    options = RUN | dict(precision=precision)
    expected = sample(target(), **options)
    with jax.enable_x64(precision == "float32"):
        draws = sample(target(), executor=infer.Processes(2), **options)
    assert draws["x"].dtype == precision
    assert_same(draws, expected)


def test_a_worker_in_other_surroundings_is_refused(monkeypatch):
    environment = child.environment
    monkeypatch.setattr(child, "environment", lambda surroundings: environment(surroundings) | {"NPROC": "7"})
    with pytest.raises(WorkerError, match=r"pool_width=7.*where the run has"):
        sample(target(), executor=infer.Processes(1), **RUN)


# A user's own workers


def sample_with_seed(seed):
    return sample(target(), **(RUN | dict(seed=seed)))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib_around_a_run_changes_no_draw(backend):
    joblib = pytest.importorskip("joblib")
    direct = [sample_with_seed(seed) for seed in (1, 2)]
    through = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_arrays)(seed) for seed in (1, 2))
    for (sites, stats), draws in zip(through, direct, strict=True):
        for found, wanted in ((sites, draws.sites), (stats, draws.stats)):
            for name, array in wanted.items():
                np.testing.assert_array_equal(found[name], array, strict=True)


def _arrays(seed):
    draws = sample_with_seed(seed)
    return draws.sites, draws.stats


@needs_signals
@pytest.mark.slow
def test_pools_are_started_time_and_again_without_a_hang():
    """JAX is live in this process: a forked worker would hang in one of some hundred."""
    here = surroundings_here("float64")
    for _ in range(20):
        pool = infer.Processes(1).open(1, here)
        assert pool.submit(os.getpid).result(timeout=60) != os.getpid()
        pool.close()
