"""Kill a fit at random moments, and see it resumed to the bits of one that was left alone; so with any workers."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jax
import numpy as np
import pytest
from fault_models import Child, is_begun, needs_signals, target
from paced import Paced

from accord import infer

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
    """Kill one fit at a random moment, and resume it; return how many steps were stored."""
    child = Child.start(cache, fit_here, folder)
    time.sleep(np.random.default_rng([17, number]).uniform(0, seconds))
    child.kill()
    num_stored = sum(map(len, infer.load(folder).losses.values())) if is_begun(folder) else 0
    assert_same(finish(folder), expected)
    assert_same(infer.load(folder), expected)
    return num_stored


@needs_signals
def test_a_fit_killed_at_any_moment_is_resumed_to_the_same_bits(tmp_path, cache, seconds, expected):
    for number in range(5):
        kill_and_resume(tmp_path / str(number), cache, seconds, expected, number)


@needs_signals
@pytest.mark.slow
def test_50_of_50_killed_fits_are_resumed_to_the_same_bits(tmp_path, cache, seconds, expected):
    def one(number):
        return kill_and_resume(tmp_path / str(number), cache, seconds, expected, 1000 + number)

    with ThreadPoolExecutor(2) as pool:
        stored = list(pool.map(one, range(50)))
    total = 2 * FIT["steps"]
    assert sum(0 < count < total for count in stored) >= 10, stored  # some were killed amid their steps


@pytest.mark.parametrize(
    "workers", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(4, marks=pytest.mark.slow)]
)
def test_a_fit_is_the_same_with_any_number_of_workers(workers, expected):
    assert_same(infer.fit(target(), executor=executor(workers), **FIT), expected)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_fit_is_the_same_with_any_number_of_processes(workers, expected):
    assert_same(infer.fit(target(), executor=infer.Processes(workers=workers), **FIT), expected)
