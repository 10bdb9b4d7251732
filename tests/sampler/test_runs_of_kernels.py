"""Run each kernel that is no trajectory as users do: in any way with the same bits, stored, and resumed by its name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.kernels import AbstractKernel

KERNELS: dict[str, Callable[[], AbstractKernel]] = {
    "MALA": lambda: infer.MALA(target_accept=0.6),
    "Barker": lambda: infer.Barker(metric="diagonal"),
    "RandomWalk": lambda: infer.RandomWalk(),
    "robust RandomWalk": lambda: infer.RandomWalk(metric="robust"),
    "EllipticalSlice": lambda: infer.EllipticalSlice(mean=[0.5, -1.0], covariance=[[2.0, 0.1], [0.1, 1.0]]),
    "Slice": lambda: infer.Slice(),
    "Ensemble": lambda: infer.Ensemble({"stretch": 0.4, "differential": 0.3, "slice": 0.3}, walkers=6),
}
OPTIONS: dict[str, Any] = dict(draws=120, warmup=90, chains=2, seed=4, progress=False, quiet=True)


@ac.model
def line(y: Any) -> None:
    a = ac.sample("a", dist.Normal(0, 3))
    scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(a, scale), obs=y)


MODEL = line(np.array([0.1, 0.4, 1.2, 1.1, 2.0]))


@each(KERNELS)
def test_a_run_is_the_same_in_threads_and_in_two_parts(kernel: AbstractKernel, tmp_path: Path) -> None:
    whole = infer.sample(MODEL, kernel, executor=infer.Serial(), **OPTIONS)
    threads = infer.sample(MODEL, kernel, executor=infer.Threads(2), **OPTIONS)
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(MODEL, kernel, store=store, **(OPTIONS | dict(draws=50)))
    resumed = infer.resume(tmp_path / "run", MODEL, quiet=True).extend(70)
    for other in (threads, resumed):
        for name in whole:
            np.testing.assert_array_equal(other[name], whole[name])
        for name in whole.stats:
            np.testing.assert_array_equal(other.stats[name], whole.stats[name])
        for name in whole.tuning:
            np.testing.assert_array_equal(other.tuning[name], whole.tuning[name])


@each(KERNELS)
def test_its_statistics_are_those_that_it_declares(kernel: AbstractKernel) -> None:
    found = infer.sample(MODEL, kernel, **(OPTIONS | dict(draws=20, lanes=2)))
    declared = ["lp", "diverging", "non_finite", *(stat.name for stat in kernel.stats)]
    assert [name for name in found.stats if name not in ("log_prior", "log_likelihood")] == declared
    for stat in kernel.stats:
        assert found.stats[stat.name].dtype == stat.dtype
        assert np.isfinite(found.stats[stat.name]).all()
