"""Run on an executor that is not accord's: the draws have the bits of accord's own."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.pace import USUAL, Pace
from accord.executors.base import AbstractExecutor, AbstractPool, Surroundings, WorkerLostError
from accord.executors.calls import Call, opened
from accord.executors.surroundings import environment
from accord.mcmc.draws import Draws

OPTIONS: dict[str, Any] = dict(draws=200, warmup=150, chains=3, seed=4, progress=False, quiet=True)

JOB = """
import os, pickle, sys
from pathlib import Path
from accord.executors.calls import answer
folder = Path(sys.argv[1])
if folder.parent.joinpath("unlucky").exists():
    folder.parent.joinpath("unlucky").unlink()
    os._exit(7)
folder.joinpath("answer").write_bytes(answer(*pickle.loads(folder.joinpath("call").read_bytes())))
"""


class OwnThreads(AbstractExecutor):
    """Run chains in threads of the standard library."""

    @property
    def shares_memory(self) -> bool:
        return True

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        return OwnPool()


class OwnPool(AbstractPool):
    """Two threads."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)

    @property
    def num_workers(self) -> int:
        return 2

    def submit(self, function: Any, *arguments: Any) -> "Future[Any]":
        return self.threads.submit(function, *arguments)

    def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)


class Jobs(AbstractExecutor):
    """Run each task as a job of its own, two at a time, with files in a folder."""

    folder: str = eqx.field(static=True)

    @property
    def shares_memory(self) -> bool:
        return False

    @property
    def pace(self) -> Pace:
        return replace(USUAL, task_seconds=60.0)

    def open(self, num_tasks: int, surroundings: Surroundings) -> AbstractPool:
        return JobPool(self.folder, surroundings)


class JobPool(OwnPool):
    """Two jobs at a time, and a thread that waits for each."""

    def __init__(self, folder: str, surroundings: Surroundings) -> None:
        super().__init__()
        self.folder, self.surroundings = Path(folder), surroundings

    def submit(self, function: Any, *arguments: Any) -> "Future[Any]":
        return self.threads.submit(self.job, Call.of(function, arguments))

    def job(self, call: Call) -> Any:
        folder = self.folder / os.urandom(8).hex()
        folder.mkdir()
        folder.joinpath("call").write_bytes(pickle.dumps((self.surroundings, call)))
        settings = {**os.environ, **environment(self.surroundings), "PYTHONPATH": os.pathsep.join(sys.path)}
        if status := subprocess.call([sys.executable, "-c", JOB, str(folder)], env=settings):
            raise WorkerLostError(f"a job ended with status {status}")
        return opened(folder.joinpath("answer").read_bytes())


@ac.model
def level(y: Any) -> None:
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1.0), obs=y)


MODEL = level(np.array([0.3, -0.1, 0.2]))


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(MODEL, executor=infer.Serial(), **OPTIONS)


def equal(one: Draws, other: Draws) -> None:
    np.testing.assert_array_equal(one["mean"], other["mean"])
    for part in ("stats", "tuning"):
        for name, array in getattr(one, part).items():
            np.testing.assert_array_equal(array, getattr(other, part)[name], err_msg=name)


def test_threads_of_the_standard_library_draw_the_same(drawn: Draws) -> None:
    equal(infer.sample(MODEL, executor=OwnThreads(), **OPTIONS), drawn)


def test_it_is_resumed_with_and_predicts(drawn: Draws, tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(MODEL, store=store, executor=infer.Serial(), **(OPTIONS | dict(draws=50)))
    equal(infer.resume(tmp_path / "run", MODEL, executor=OwnThreads(), quiet=True).extend(150), drawn)
    predicted = infer.predict(drawn, MODEL, executor=OwnThreads(), quiet=True)
    np.testing.assert_array_equal(predicted["y"], infer.predict(drawn, MODEL, quiet=True)["y"])


@pytest.mark.slow
def test_jobs_draw_the_same_although_one_is_lost(drawn: Draws, tmp_path: Any) -> None:
    (tmp_path / "unlucky").touch()
    equal(infer.sample(MODEL, executor=Jobs(str(tmp_path)), **OPTIONS), drawn)
    assert not (tmp_path / "unlucky").exists()


@pytest.mark.slow
def test_an_error_of_the_model_is_told_from_a_job(tmp_path: Any) -> None:
    @ac.model
    def failing() -> None:
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("f", score(x))

    def score(x: Any) -> Any:
        if os.environ.get("ACCORD_WORKER"):
            raise KeyError("no such column")
        return -x

    with pytest.raises(KeyError, match="no such column") as caught:
        infer.sample(failing(), executor=Jobs(str(tmp_path)), **OPTIONS)
    assert "In the worker process" in "".join(caught.value.__notes__)
