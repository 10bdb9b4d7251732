"""Tune a kernel by an adaptation that is not accord's: its runs have the same bits however they are made."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.base import AbstractChainAdaptation
from accord.adaptation.metric import Metric
from accord.adaptation.schedule import metric_updates
from accord.adaptation.tuning import Tuning
from accord.core.errors import OptionError, SamplingError
from accord.core.tree import node
from accord.kernels import AbstractKernel, RandomWalk
from accord.mcmc.draws import Draws

OPTIONS: dict[str, Any] = dict(draws=300, warmup=200, chains=3, seed=4, progress=False, quiet=True)


@node
class Steps:
    """The step size, and for how many draws it has been learnt."""

    step_size: Any
    count: Any


class RobbinsMonro(AbstractChainAdaptation):
    """Step size by stochastic approximation, scales by root mean squares of gradients; the fitted is the metric."""

    def begin(self, dim: int, dtype: Any) -> Steps:
        return Steps(np.ones((), dtype), np.zeros((), dtype))

    def at_start(self, gradient: Any) -> Metric:
        return Metric.diagonal(np.ones_like(gradient), rank=0)

    def tuning(self, learnt: Steps, given: Metric, item: Any) -> Tuning:
        return Tuning(learnt.step_size, given, is_probe=~item.is_draw)

    def update(self, learnt: Steps, given: Metric, item: Any, info: Any) -> Any:
        is_learning = item.is_draw & (item.draw < item.num_warmup)
        gain = jnp.where(is_learning, (learnt.count + 1) ** -0.6, 0)
        step_size = learnt.step_size * jnp.exp(gain * (info.acceptance - 0.3))
        return Steps(step_size, learnt.count + is_learning), True

    def due(self, num_warmup: int) -> Any:
        return metric_updates(num_warmup)

    def learn(self, window: Any, learnt: Steps, fitted: Metric, update: Any) -> Any:
        scale = 1 / np.sqrt(np.mean(window.gradients**2, axis=0))
        return Steps(learnt.step_size, np.zeros_like(learnt.count)), Metric.diagonal(scale, rank=0), False

    def described(self, learnt: Steps, fitted: Metric) -> dict[str, Any]:
        return {"step_size": learnt.step_size, "scale": fitted.scale}

    def shown(self, learnt: Steps, fitted: Metric) -> Any:
        return (("step", float(learnt.step_size)),)


def own_kernel(adaptation: type[RobbinsMonro] = RobbinsMonro) -> AbstractKernel:
    """A random walk with an adaptation of a class that no module holds: workers get it by value."""

    class Own(adaptation):
        pass

    class Walker(RandomWalk):
        @property
        def adaptation(self) -> Any:
            return Own()

    return Walker()


@ac.model
def wide() -> None:
    ac.sample("x", dist.Normal(np.array([1.0, -2.0]), np.array([0.1, 30.0])).to_event(1))


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(wide(), own_kernel(), executor=infer.Serial(), **OPTIONS)


def equal(one: Draws, other: Draws) -> None:
    np.testing.assert_array_equal(one["x"], other["x"])
    for part in ("stats", "tuning"):
        assert getattr(one, part).keys() == getattr(other, part).keys()
        for name, array in getattr(one, part).items():
            np.testing.assert_array_equal(array, getattr(other, part)[name], err_msg=name)


def test_it_learns_the_scales_and_reaches_its_acceptance(drawn: Draws) -> None:
    """The mean square of a normal's slope is 1 / variance; at this seed no scale is wrong by a factor of 1.7."""
    assert np.abs(np.log(drawn.tuning["scale"] / [0.1, 30.0])).max() < np.log(2)
    assert abs(drawn.stats["acceptance_rate"].mean() - 0.3) < 0.07
    assert list(drawn.tuning) == ["step_size", "scale", "num_warmup", "is_settled"]
    assert drawn.tuning["step_size"].shape == (3,) and np.isfinite(drawn.tuning["step_size"]).all()


def test_it_draws_from_the_posterior(drawn: Draws) -> None:
    """Means are within five of their errors: two of them, a false alarm of 6e-7 each."""
    found = drawn.summary("x")
    assert (np.abs(drawn["x"].mean((0, 1)) - [1.0, -2.0]) < 5 * found["mcse_mean"]).all()


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(drawn: Draws, executor: Any) -> None:
    equal(infer.sample(wide(), own_kernel(), executor=executor, **OPTIONS), drawn)


def test_a_chain_alone_adapts_as_among_others(drawn: Draws) -> None:
    alone = infer.sample(wide(), own_kernel(), **(OPTIONS | dict(chains=[1])))
    np.testing.assert_array_equal(alone["x"][0], drawn["x"][1])


def test_a_stored_run_is_resumed(drawn: Draws, tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(wide(), own_kernel(), store=store, **(OPTIONS | dict(draws=100)))
    resumed = infer.resume(tmp_path / "run", wide(), sampler=own_kernel(), quiet=True)
    equal(resumed.extend(200), drawn)


class Named(RobbinsMonro):
    def described(self, learnt: Any, fitted: Any) -> dict[str, Any]:
        return {"num_warmup": 3}


class Odd(RobbinsMonro):
    def described(self, learnt: Any, fitted: Any) -> dict[str, Any]:
        return {"scale": ["wide", "narrow"]}


class Growing(RobbinsMonro):
    def described(self, learnt: Any, fitted: Any) -> dict[str, Any]:
        return {"steps": np.zeros(1 + int(learnt.count > 0))}


class Rounded(RobbinsMonro):
    def described(self, learnt: Any, fitted: Any) -> dict[str, Any]:
        return {"steps": 0.37 if learnt.count > 0 else 1}


@pytest.mark.parametrize(
    ("adaptation", "error", "words"),
    [
        (Named, OptionError, r"Own\.described returns 'num_warmup'.*which every run has"),
        (Odd, OptionError, r"Own\.described returns 'scale' of dtype <U6 and shape \(2,\)"),
        (
            Rounded,
            SamplingError,
            r"Own\.described returns 'steps' of dtype float64, and at first of dtype int64",
        ),
        (Growing, SamplingError, r"Own\.described returns arrays of shapes.*at first \{'steps': \(1,\)\}"),
    ],
)
def test_what_cannot_be_shown_is_an_error(adaptation: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        infer.sample(wide(), own_kernel(adaptation), **OPTIONS)
