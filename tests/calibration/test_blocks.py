"""Calibrate samplers by blocks, of discrete sites, by formulas and by ladders: those that are right pass.

The slow tests take the p-value of each parameter, which is exact for independent draws: below 1e-9, its false-alarm
rate, is a failure. Four runs have 17 parameters.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.calibration.calibration import Calibration
from accord.calibration.ranks import rank, tied
from accord.core import keys

QUIET: dict[str, Any] = dict(progress=False, quiet=True, seed=1)
MIN_P_VALUE = 1e-9


@ac.model
def switched(y: Any) -> None:
    """Two discrete unknowns that depend on each other, and nothing else."""
    z = ac.sample("z", dist.Categorical(probs=np.array([0.5, 0.3, 0.2])))
    w = ac.sample("w", dist.Binomial(3, jnp.array([0.2, 0.5, 0.8])[z]))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(1.0 * z + w, 1.0), obs=y)


@ac.model
def two_groups(y: Any) -> None:
    mean = ac.sample("mean", dist.Normal(np.array([-1.0, 1.5]), 1.0).to_event(1))
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Bernoulli(0.35))
        ac.sample("y", dist.Normal(mean[z], 0.8), obs=y)


@ac.model
def normal(y: Any) -> None:
    mu = ac.sample("mu", dist.Normal(0, 2))
    sigma = ac.sample("sigma", dist.HalfNormal(1.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mu, sigma), obs=y)


@ac.model
def two_roots(y: Any) -> None:
    """A posterior of two modes, x and -x, whose weights the prior decides."""
    x = ac.sample("x", dist.Normal(0.5, 2.0))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(x**2, 1.0), obs=y)


def normal_mean(values: Any) -> Any:
    precision = 0.25 + len(values["y"]) / values["sigma"] ** 2
    return dist.Normal(values["y"].sum() / values["sigma"] ** 2 / precision, precision**-0.5)


class Wide(infer.Conditional):
    """A sampler that is wrong: its formula is right, and its draws are three times as wide."""

    def bound(self, draws: Any) -> infer.Conditional:
        (draw,) = draws

        def wide(position: Any, key: Any) -> Any:
            every = [draw(position, keys.fold(key, jnp.uint32(number))) for number in range(9)]
            free = sum(each.free for each in every[:5]) - sum(each.free for each in every[5:])
            return type(position)(free, position.whole)

        return super().bound((wide,))


LABELS = infer.Gibbs({"z": infer.DiscreteGibbs(), ...: infer.NUTS()})
FORMULA = infer.Gibbs({"mu": infer.Conditional(normal_mean), ...: infer.NUTS()})
WRONG = infer.Gibbs({"mu": Wide(normal_mean), ...: infer.NUTS()})

LADDER = infer.Tempered(infer.HMC(), temperatures=5)

RUNS: dict[str, tuple[Callable[[], Any], Any, dict[str, int]]] = {
    "discrete sites alone": (
        lambda: switched(np.zeros(2)), infer.DiscreteGibbs(), dict(draws=63, thinning=4, warmup=30)
    ),
    "labels beside NUTS": (lambda: two_groups(np.zeros(6)), LABELS, dict(draws=63, thinning=6, warmup=250)),
    "a formula beside NUTS": (lambda: normal(np.zeros(5)), FORMULA, dict(draws=63, thinning=5, warmup=250)),
    "a ladder": (lambda: two_roots(np.zeros(3)), LADDER, dict(draws=63, thinning=8, warmup=250)),
}  # fmt: skip


def calibrated(name: str, sampler: Any = None, simulations: int = 100) -> Calibration:
    model, own, options = RUNS[name]
    return infer.calibrate(model(), sampler or own, simulations=simulations, **options, **QUIET)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_ranks_of_a_hundred_data_sets_are_uniform(name: str) -> None:
    found = calibrated(name)
    assert len(found.simulations) == 100
    assert found.values["p"].min() > MIN_P_VALUE, str(found)


@pytest.mark.slow
def test_a_block_that_draws_too_widely_is_found() -> None:
    """The control of the test before."""
    found = calibrated("a formula beside NUTS", WRONG)
    assert found.values["p"][found.labels.index("mu")] < MIN_P_VALUE, str(found)


def test_discrete_sites_are_ranked_beside_the_others() -> None:
    found = calibrated("labels beside NUTS", simulations=2)
    assert found.labels == ("mean[0]", "mean[1]", *(f"z[{row}]" for row in range(6)), "lp")
    assert found.ranks["z"].shape == (2, 6) and len(found.simulations) == 2


@pytest.mark.slow
def test_a_calibration_of_blocks_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Its folder says what the sampler was."""
    model, sampler, options = RUNS["labels beside NUTS"]
    folder = tmp_path / "run"
    whole = infer.calibrate(
        model(), sampler, simulations=3, store=infer.RunFolder(folder), executor=infer.Processes(2),
        **options, **QUIET,
    )  # fmt: skip
    shutil.rmtree(folder / "chain-0001")
    again = infer.resume(folder, model(), quiet=True)
    for name, ranks in whole.ranks.items():
        np.testing.assert_array_equal(again.ranks[name], ranks)


@pytest.mark.slow
def test_the_truth_of_discrete_sites_is_compared_with_the_draws() -> None:
    found = infer.simulate_and_recover(
        switched(np.zeros(40)), infer.DiscreteGibbs(), draws=50, warmup=20, **QUIET
    )
    assert found.labels == ("z", "w")
    total = found.draws["z"] + found.draws["w"]
    assert (
        abs(total.mean() - found.truth["z"] - found.truth["w"]) < 1
    )  # six standard deviations of the mean of 40


TIES = {
    "another order of a sum": (np.array([-3.5000000000000004, -2.0]), -3.5, [1, 0]),
    "in single precision": (np.float32([-1000.0001, -999.0]), np.float32(-1000.0), [1, 0]),
    "none": (np.array([-3.5001, -3.4999]), -3.5, [0, 0]),
}


@each(TIES)
def test_log_densities_that_differ_by_rounding_are_ties(case: Any) -> None:
    draws, truth, is_tied = case
    values, level = tied(draws, np.asarray(truth, draws.dtype))
    np.testing.assert_array_equal(values == level, is_tied)
    found = {int(rank(values, level, np.random.default_rng(seed))) for seed in range(20)}
    below = int(np.sum(values < level))
    assert found == set(range(below, below + sum(is_tied) + 1))
