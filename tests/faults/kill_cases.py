"""Give tests of kills the executors, the model, and what is killed."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fault_models import (
    Child,
    assert_same,
    is_alive,
    is_begun,
    resume,
    sample,
    until,
    voice,
    worker_pids,
)

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.executors import AbstractExecutor
from accord.storage.run_folder import RunFolderRun

QUIET = dict(progress=False, quiet=True)
SHARD = {"y": 0}
WHO = ("parent", "workers", "both")


@ac.model
def level(y):
    """A level and a spread, of rows that may be split."""
    mu = ac.sample("mu", dist.Normal(0, 3))
    tau = ac.sample("tau", dist.HalfNormal(3))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(mu, tau), obs=y)


def target():
    return level(np.linspace(-1, 2, 32))


@dataclass(frozen=True)
class Case:
    """A way to run, and how its draws are made without a kill. **Fields**: `executor`, `elsewhere`, `options`."""

    executor: Callable[[], AbstractExecutor]
    elsewhere: Callable[[], AbstractExecutor]
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, folder: Path, *, is_there: bool = False):
        """Do what a user does after a kill: resume the run, or begin it."""
        executor = self.executor() if is_there else self.elsewhere()
        if is_begun(folder):
            return resume(folder, target(), executor=executor, **QUIET)
        return sample(target(), store=infer.RunFolder(folder), executor=executor, **self.options)


LONG = dict(draws=4000, warmup=500, chains=2, seed=5, **QUIET)
SHORT = dict(
    draws=600, warmup=300, chains=2, seed=5, **QUIET
)  # each gradient of a gang takes a third of a millisecond
CASES = {
    "threads": Case(lambda: infer.Threads(2), infer.Serial, LONG),
    "processes": Case(lambda: infer.Processes(2), infer.Serial, LONG),
    "dask": Case(lambda: infer.Dask(workers=2), infer.Serial, LONG),
    "gang": Case(
        lambda: infer.MultiHost(processes=2, shard=SHARD), lambda: infer.Devices(data=1, shard=SHARD), SHORT
    ),
}


@dataclass
class Toll:
    """What was killed, and what came of it.

    **Fields**: `counts`, by kind; `longest`, seconds that a worker outlived its parent.
    """

    counts: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0

    def __str__(self) -> str:
        found = "\n".join(f"{count:4} {kind}" for kind, count in sorted(self.counts.items()))
        total = self.counts.total()
        return f"{found}\n{total} kills; workers outlived their parent by {self.longest:.1f} s at most"


def run_there(name, folder):
    """In a child: run to the end."""
    draws = CASES[name].run(folder, is_there=True)
    return draws.complete, draws.num_draws


def run_by_signs(name, folder):
    """In a child: the same, telling of each stored segment, and waiting for leave to go on."""
    append = RunFolderRun.append

    def and_tell(run, segment):
        append(run, segment)
        voice[0].send(("stored", time.monotonic(), segment.stop))
        voice[0].recv()

    RunFolderRun.append = and_tell
    return run_there(name, folder)


def kill(child: Child, who: str, rng: np.random.Generator, toll: Toll) -> str:
    """Kill the parent, some of its workers, or all; return whom."""
    workers = worker_pids(child.process.pid)
    if who == "workers" and not workers:
        who = "parent"
    if who == "workers":
        end(list(rng.permutation(workers)[: rng.integers(1, len(workers) + 1)]))
        return who
    if who == "both":
        end([child.process.pid, *workers])
    child.kill()
    began = time.monotonic()
    until(lambda: not any(map(is_alive, workers)))
    toll.longest = max(toll.longest, time.monotonic() - began)
    return who


def end(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def check_end(
    name: str, folder: Path, child: Child, who: str, expected: Any, toll: Toll, number: str
) -> None:
    """See that a run ends by itself where only workers died, and is resumed to the same draws otherwise."""
    if who == "workers":
        word, _, result = child.hear()
        while word == "stored":
            child.pipe.send("go on")
            word, _, result = child.hear()
        assert (word, result) == ("done", (True, CASES[name].options["draws"])), (name, number, result)
        assert child.end() == 0
        kind = "went on to the same draws"
    else:
        kind = "resumed to the same draws" if is_begun(folder) else "nothing stored yet"
        assert_same(CASES[name].run(folder), expected)
    assert_same(infer.load(folder), expected)
    toll.counts[f"{name}, {who} killed: {kind}"] += 1
