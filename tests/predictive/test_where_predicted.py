"""Test that what is computed from draws has the same bits wherever it is, and that workers may be lost meanwhile."""

import importlib.util

import jax
import numpy as np
import pytest
from laws import each
from losing import Losing
from paced import Paced
from predicted_models import QUIET, X, Y, line

from accord import infer
from accord.core.errors import OptionError, WorkerError
from accord.core.pace import Pace
from accord.executors import ThreadPool

RUN = dict(draws=40, warmup=60, chains=3, seed=2, **QUIET)

FUNCTIONS = {
    "predict": lambda draws, where: dict(infer.predict(draws, executor=where)),
    "prior_predictive": lambda draws, where: dict(
        infer.prior_predictive(line(X), draws=70, executor=where, quiet=True)
    ),
    "log_likelihood": lambda draws, where: dict(infer.log_likelihood(draws, executor=where)),
    "log_prior": lambda draws, where: infer.log_prior(draws, executor=where),
    "log_joint": lambda draws, where: infer.log_joint(draws, executor=where),
    "returned": lambda draws, where: infer.returned(draws, executor=where),
}


def ray_or_skip():
    """Two actors of Ray, which the checks install after they have run the tests of the README."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    return infer.Ray(workers=2)


ELSEWHERE = {
    "processes": lambda: infer.Processes(workers=2),
    "Dask": lambda: infer.Dask(workers=2),
    "Ray": ray_or_skip,
}


@pytest.fixture(scope="module")
def draws():
    return infer.sample(line(X, Y), **RUN)


def assert_same(found, expected):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@each(FUNCTIONS)
def test_threads_give_the_bits_of_one(function, draws):
    alone = function(draws, infer.Serial())
    for where in (infer.Threads(workers=3), None):
        assert_same(function(draws, where), alone)


@pytest.mark.slow
@each(ELSEWHERE)
def test_other_processes_give_the_bits_of_one_thread(where, draws):
    assert_same(FUNCTIONS["predict"](draws, where), FUNCTIONS["predict"](draws, infer.Serial()))


def test_a_block_whose_worker_is_lost_is_done_by_another(draws):
    assert_same(FUNCTIONS["predict"](draws, Losing(2)), FUNCTIONS["predict"](draws, None))


def test_a_block_whose_workers_are_lost_again_and_again_is_given_up(draws):
    single = {name: draws[name][:1] for name in "abs"}
    with pytest.raises(
        WorkerError, match=r"draws 0 to 39 of a chain were lost again and again: exit code -9"
    ):
        infer.predict(single, line(X), executor=Paced(Losing(100), Pace(least_predicted=1000)))  # one block


def test_what_the_work_raises_reaches_the_caller(draws):
    class Refusing(Losing):
        def open(self, num_tasks, surroundings):
            pool = ThreadPool(1)
            submit = pool.submit
            pool.submit = lambda function, *arguments: submit(lambda: 1 / 0)
            return pool

    with pytest.raises(ZeroDivisionError):
        infer.predict(draws, executor=Refusing())


@each(
    {
        "devices": lambda: (infer.Devices(), "infer.predict: Devices is for runs.*Processes"),
        "several hosts": lambda: (
            infer.MultiHost(2, {"x": 0, "y": 0}),
            "infer.predict: MultiHost is for runs",
        ),
        "a name": lambda: ("threads", r"executor must be like infer.Threads\(\), got str"),
    }
)
def test_what_cannot_work_on_draws_is_refused(case, draws):
    where, words = case
    with pytest.raises(OptionError, match=words):
        infer.predict(draws, executor=where)
