"""Kill a run at random moments, and see it resumed to the draws of one that was left alone."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fault_models import (
    Child,
    assert_same,
    finish,
    is_begun,
    needs_proc,
    needs_signals,
    sample,
    sample_here,
    target,
)
from kill_cases import CASES, WHO, Toll, check_end, kill, run_by_signs, run_there

from accord import infer

pytestmark = needs_signals

OPTIONS = dict(draws=4000, warmup=500, chains=2, seed=5, progress=False, quiet=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def expected():
    return sample(target(), **OPTIONS)


@pytest.fixture(scope="module")
def seconds(cache, tmp_path_factory):
    """How long the run takes with its programs compiled."""
    for attempt in range(2):
        child = Child.start(cache, sample_here, tmp_path_factory.mktemp("whole") / "run", OPTIONS)
        began = time.monotonic()
        word, ended, result = child.hear()
        assert (word, result[0], child.end()) == ("done", True, 0), (attempt, result)
    return ended - began


def kill_and_resume(folder, cache, seconds, expected, number):
    """One run killed at a random moment, of compilation too, and resumed; whether it had begun."""
    rng = np.random.default_rng([11, number])
    is_cold = number % 4 == 3
    child = Child.start("off" if is_cold else cache, sample_here, folder, OPTIONS)
    time.sleep(rng.uniform(0, seconds + 2.0 * is_cold))
    child.kill()
    had_begun = is_begun(folder)
    assert_same(finish(folder, target(), OPTIONS), expected)
    assert_same(infer.load(folder), expected)
    return had_begun


def test_a_run_killed_at_any_moment_is_resumed_to_the_same_draws(tmp_path, cache, seconds, expected):
    for number in range(4):
        kill_and_resume(tmp_path / str(number), cache, seconds, expected, number)


@pytest.mark.slow
def test_200_of_200_killed_runs_are_resumed_to_the_same_draws(tmp_path, cache, seconds, expected):
    def one(number):
        return kill_and_resume(tmp_path / str(number), cache, seconds, expected, 1000 + number)

    with ThreadPoolExecutor(2) as pool:
        begun = sum(pool.map(one, range(200)))
    assert begun > 100  # most were killed while they ran


@pytest.mark.slow
def test_a_run_killed_again_and_again_is_resumed_to_the_same_draws(tmp_path, cache, seconds, expected):
    """The second and third time in the middle of a resumption."""
    folder = tmp_path / "run"
    for share in (0.7, 0.8, 0.9):
        child = Child.start(cache, finish_here, folder)
        time.sleep(share * seconds)
        child.kill()
    assert_same(finish(folder, target(), OPTIONS), expected)


def finish_here(folder):
    finish(folder, target(), OPTIONS)


# The parent, workers alone, and both, under every kind of executor


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """By executor: the draws of a run that was left alone."""
    found = {}

    def of(name):
        if name not in found:
            found[name] = CASES[name].run(tmp_path_factory.mktemp(name) / "run")
        return found[name]

    return of


@needs_proc
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("name", CASES)
def test_a_kill_after_a_segment_is_stored_changes_no_draw_and_leaves_no_worker(
    name, who, tmp_path, cache, whole
):
    """At a random segment, which its process stores and then waits, so that the moment is no matter of time."""
    rng, toll, folder = np.random.default_rng([13, *name.encode(), *who.encode()]), Toll(), tmp_path / "run"
    child = Child.start(cache, run_by_signs, name, folder)
    for _ in range(rng.integers(0, 5)):
        assert child.hear()[0] == "stored"
        child.pipe.send("go on")
    assert child.hear()[0] == "stored"
    killed = kill(child, who, rng, toll)
    if killed == "workers":
        child.pipe.send("go on")
    check_end(name, folder, child, killed, whole(name), toll, "by a sign")
    assert toll.counts.total() == 1


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_50_of_50_kills_at_random_moments_change_no_draw_and_leave_no_worker(name, tmp_path, cache, whole):
    """From the first moment of the run to its last; the counts are printed."""
    toll = Toll()
    child = Child.start(cache, run_there, name, tmp_path / "whole")
    began = time.monotonic()
    word, ended, result = child.hear()
    assert (word, child.end()) == ("done", 0), result
    for number in range(50):
        rng, folder = np.random.default_rng([17, number, *name.encode()]), tmp_path / str(number)
        child = Child.start(cache, run_there, name, folder)
        time.sleep(rng.uniform(0, ended - began))
        killed = kill(child, WHO[number % 3], rng, toll)
        check_end(name, folder, child, killed, whole(name), toll, str(number))
    print(f"\n{toll}")
    assert toll.counts.total() == 50
