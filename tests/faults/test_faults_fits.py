"""Kill a fit at random moments, and see it resumed to the bits of one that was left alone; so with any workers."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jax
import numpy as np
import pytest
from fault_models import Child, is_begun, needs_signals, target, voice
from paced import Paced

from accord import infer
from accord.storage.run_folder import RunFolderRun

QUIET = dict(progress=False, quiet=True)
FIT = dict(guide=infer.guides.FullRank(), steps=2500, until=None, restarts=2, seed=5, **QUIET)


def executor(workers=2):
    """Threads that hand over what they have several times a second, so that a fit of seconds has much to lose."""
    own = infer.Threads(workers)
    return Paced(own, replace(own.pace, task_seconds=0.1))


def fit_here(folder):
    """Fit to the end; in a child, too."""
    fit = infer.fit(target(), store=infer.RunFolder(folder), executor=executor(), **FIT)
    return fit.complete


def finish(folder):
    """Do what a user does after a kill."""
    if is_begun(folder):
        return infer.resume(folder, target(), executor=executor(), **QUIET)
    return infer.fit(target(), store=infer.RunFolder(folder), executor=executor(), **FIT)


def assert_same(found, expected):
    """Every number of two fits is equal, bit for bit."""
    assert found.complete and expected.complete and found.best == expected.best
    assert found.bounds == expected.bounds and found.pareto_k == expected.pareto_k
    assert jax.tree.structure(found.params) == jax.tree.structure(expected.params)
    pairs = [
        *zip(jax.tree.leaves(found.params), jax.tree.leaves(expected.params), strict=True),
        *zip(found.losses.values(), expected.losses.values(), strict=True),
        (found.fitted.frame.location, expected.fitted.frame.location),
        (found.fitted.frame.scale, expected.fitted.frame.scale),
    ]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def expected():
    return infer.fit(target(), **FIT)


@pytest.fixture(scope="module")
def seconds(cache, tmp_path_factory):
    """How long the fit takes with its programs compiled."""
    for attempt in range(2):
        child = Child.start(cache, fit_here, tmp_path_factory.mktemp("whole") / "run")
        began = time.monotonic()
        word, ended, result = child.hear()
        assert (word, result, child.end()) == ("done", True, 0), (attempt, result)
    return ended - began


def kill_and_resume(folder, cache, seconds, expected, number):
    """Kill one fit at a random moment, of its beginning too, and resume it."""
    child = Child.start(cache, fit_here, folder)
    time.sleep(np.random.default_rng([17, number]).uniform(0, seconds))
    child.kill()
    assert_same(finish(folder), expected)
    assert_same(infer.load(folder), expected)


@needs_signals
def test_a_fit_killed_at_any_moment_is_resumed_to_the_same_bits(tmp_path, cache, seconds, expected):
    for number in range(3):
        kill_and_resume(tmp_path / str(number), cache, seconds, expected, number)


@needs_signals
@pytest.mark.slow
def test_50_of_50_killed_fits_are_resumed_to_the_same_bits(tmp_path, cache, seconds, expected):
    def one(number):
        return kill_and_resume(tmp_path / str(number), cache, seconds, expected, 1000 + number)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(50)))


def fit_by_signs(folder):
    """In a child: fit, telling of each stored segment, and waiting for leave to go on."""
    append = RunFolderRun.append

    def and_tell(run, segment):
        append(run, segment)
        voice[0].send(("stored", time.monotonic(), segment.stop))
        voice[0].recv()

    RunFolderRun.append = and_tell
    return fit_here(folder)


@needs_signals
@pytest.mark.parametrize(
    "numbers", [range(2), pytest.param(range(2, 25), marks=pytest.mark.slow)], ids=["2", "23 more"]
)
def test_a_fit_killed_amid_its_steps_is_resumed_to_the_same_bits(numbers, tmp_path, cache, expected):
    """After a random one of the first ten segments, of both stages, so that the moment is no matter of time."""
    for number in numbers:
        folder = tmp_path / str(number)
        child = Child.start(cache, fit_by_signs, folder)
        for _ in range(np.random.default_rng([19, number]).integers(0, 10)):
            assert child.hear()[0] == "stored"
            child.pipe.send("go on")
        assert child.hear()[0] == "stored"
        child.kill()
        assert_same(finish(folder), expected)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_fit_is_the_same_with_any_number_of_processes(workers, expected):
    assert_same(infer.fit(target(), executor=infer.Processes(workers=workers), **FIT), expected)
