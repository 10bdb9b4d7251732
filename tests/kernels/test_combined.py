"""Draw by mixtures and repetitions of kernels: known answers, adaptation, the same bits however run, and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ctrl_c import pressed_once
from equal_draws import equal
from paced import paced
from test_whole_numbers import MODEL as LABELLED
from test_whole_numbers import exact_labels

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError
from accord.mcmc.draws import Draws

OPTIONS: dict[str, Any] = dict(draws=300, warmup=200, chains=2, seed=4, progress=False, quiet=True)
LOCS, WIDTHS = np.array([1.0, -2.0]), np.array([0.1, 30.0])


@ac.model
def wide() -> None:
    ac.sample("x", dist.Normal(LOCS, WIDTHS).to_event(1))


EITHER = infer.Mixture({infer.NUTS(): 0.25, infer.RandomWalk(): 0.75})
KERNELS: dict[str, infer.Mixture | infer.Repeat] = {
    "a mixture": EITHER,
    "repeated": infer.Repeat(infer.RandomWalk(), 5),
}


@pytest.fixture(scope="module", params=KERNELS)
def case(request: Any) -> tuple[Any, Draws]:
    kernel = KERNELS[request.param]
    return kernel, infer.sample(wide(), kernel, executor=infer.Serial(), **OPTIONS)


def test_it_draws_from_the_posterior(case: Any) -> None:
    """Means within five of their errors, a false alarm of 6e-7 for each of four."""
    _, draws = case
    assert (np.abs(draws["x"].mean((0, 1)) - LOCS) < 5 * draws.summary("x")["mcse_mean"]).all()
    assert np.abs(draws["x"].std((0, 1)) / WIDTHS - 1).max() < 0.4


def test_kernels_of_a_mixture_are_chosen_and_tuned_by_themselves() -> None:
    """A share within five standard errors, a false alarm of 6e-7."""
    draws = infer.sample(wide(), EITHER, **OPTIONS)
    kernel = draws.stats["kernel"]
    assert abs(kernel.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / kernel.size)
    of_nuts = draws.stats["0.n_steps"]
    assert np.all((of_nuts > 0) == (kernel == 0))
    for number, target in (("0", 0.8), ("1", 0.234)):
        own = draws.stats[f"{number}.acceptance_rate"][kernel == int(number)]
        assert abs(own.mean() - target) < 0.2
        scale = np.sqrt(draws.tuning[f"{number}.inverse_mass"]) / WIDTHS
        assert np.all((scale > 0.5) & (scale < 2))


@pytest.mark.slow
def test_repetitions_save_draws() -> None:
    """Five draws of a random walk for one have more than twice the effective ones."""
    many, one = (
        infer.sample(wide(), kernel, **(OPTIONS | dict(draws=1000)))
        for kernel in (infer.Repeat(infer.RandomWalk(), 5), infer.RandomWalk())
    )
    assert many.summary("x")["ess_bulk"].min() > 2 * one.summary("x")["ess_bulk"].max()


def test_blocks_may_be_repeated_or_mixed() -> None:
    """Means within five of their errors: five, a false alarm of 6e-7 each."""
    blocks = infer.Gibbs({
        "z": infer.Repeat(infer.DiscreteGibbs(), 2),
        ...: infer.Mixture({infer.HMC(): 0.5, infer.RandomWalk(): 0.5}),
    })  # fmt: skip
    draws = infer.sample(LABELLED, blocks, **(OPTIONS | dict(draws=3000, chains=4)))
    for site, mean in exact_labels().items():
        error = np.reshape(draws.summary(site)["mcse_mean"], np.shape(mean))
        assert np.all(np.abs(draws[site].mean((0, 1)) - mean) < 5 * error), site


WALK = infer.Metropolis(lambda position: dist.Normal(position, 1.0))


@pytest.mark.parametrize(
    "kernel",
    [
        infer.Gibbs({"x": WALK}),
        infer.Repeat(WALK, 2),
        infer.Mixture({WALK: 0.5, infer.NUTS(): 0.5}),
        infer.Tempered(WALK),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_what_a_kernel_calls_is_known_of_one_that_holds_it(kernel: Any) -> None:
    """A proposal may call a library, which a loop in one piece cannot."""
    assert not kernel.is_plain
    assert infer.Repeat(infer.NUTS(), 2).is_plain


def test_two_threads_draw_the_same(case: Any) -> None:
    kernel, draws = case
    equal(infer.sample(wide(), kernel, executor=infer.Threads(2), **OPTIONS), draws)


def test_an_interrupted_run_is_resumed_by_its_folder_alone(case: Any, tmp_path: Any) -> None:
    kernel, draws = case
    path = tmp_path / "run"
    short = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda made: made.phase == "warmup" and made.stop < 150):
        begun = infer.sample(wide(), kernel, executor=short, store=infer.RunFolder(path), **OPTIONS)
    assert not begun.complete
    equal(infer.resume(path, wide(), quiet=True), draws)


@pytest.mark.slow
def test_chains_in_lanes_draw_the_same_each_by_itself() -> None:
    for kernel in KERNELS.values():
        both = infer.sample(wide(), kernel, lanes=2, **(OPTIONS | dict(chains=4)))
        alone = infer.sample(wide(), kernel, lanes=2, **(OPTIONS | dict(chains=[3])))
        np.testing.assert_array_equal(both["x"][3], alone["x"][0])


NUTS = infer.NUTS()
ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    "no mapping": (lambda: infer.Mixture([NUTS]), "a mapping from kernels"),  # pyright: ignore[reportArgumentType]
    "a sum": (lambda: infer.Mixture({NUTS: 0.5, infer.HMC(): 0.4}), "sum to 1, and sum to 0.9"),
    "a probability": (lambda: infer.Mixture({NUTS: 0.0, infer.HMC(): 1.0}), r"lie in \(0, 1\]"),
    "a population": (lambda: infer.Mixture({infer.ChEES(): 1.0}), "learn from each other"),
    "a population repeated": (lambda: infer.Repeat(infer.ChEES(), 2), "learn from each other"),
    "no count": (lambda: infer.Repeat(NUTS, 0), "Repeat: count must be a whole number of at least 1"),
    "no kernel": (lambda: infer.Repeat(infer.NUTS, 2), "no kernel.*parentheses"),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_give(name: str) -> None:
    call, words = ERRORS[name]
    with pytest.raises(OptionError, match=words):
        call()
