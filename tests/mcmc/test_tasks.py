"""Have a task go on for as long as it is meant to, and tell from what it brings when its draws were made."""

import numpy as np
import pytest
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.runs import worker

RUN = dict(draws=60, warmup=60, chains=2, progress=False, quiet=True)


@ac.model
def normal(y):
    mean = ac.sample("mean", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(mean, 1), obs=y)


@pytest.fixture
def tasks(monkeypatch):
    """The numbers of chains of each task, in order."""
    found, do = [], worker.do_on_any

    def counted(machines, task, is_stopped):
        found.append(task.units.numbers)
        return do(machines, task, is_stopped)

    monkeypatch.setattr(worker, "do_on_any", counted)
    return found


def test_a_task_goes_on_until_its_seconds_are_over(tasks):
    draws = infer.sample(normal(np.array(0.5)), executor=paced(infer.Serial(), task_seconds=3600.0), **RUN)
    assert tasks == [(0,), (1,)]
    assert draws.timings["warmup"] > 0 and draws.timings["sampling"] > 0  # though one task brings both


def test_draws_do_not_depend_on_how_long_tasks_are(tasks):
    whole = infer.sample(normal(np.array(0.5)), executor=infer.Serial(), **RUN)
    tasks.clear()
    cut = infer.sample(normal(np.array(0.5)), executor=paced(infer.Serial(), task_seconds=0.0), **RUN)
    assert len(tasks) > 10  # one for each block
    for name in ("mean", "lp", "step_size"):
        one, other = (d[name] if name == "mean" else d.stats[name] for d in (whole, cut))
        np.testing.assert_array_equal(one, other)
