"""Draw by blocks: known answers, adaptation of each block, the same bits however run, and errors."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
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
from accord.adaptation.each_block import EachBlock
from accord.core.errors import AccordError, OptionError, SiteError, StorageError
from accord.density import Position
from accord.mcmc.draws import Draws
from accord.mcmc.stretch import GRADIENTS

OPTIONS: dict[str, Any] = dict(draws=300, warmup=100, chains=3, seed=4, progress=False, quiet=True)
LONG: dict[str, Any] = OPTIONS | dict(draws=4000, warmup=200, chains=4)


@ac.model
def located() -> None:
    """Four values with unequal probabilities, and a number near that of its value."""
    c = ac.sample("c", dist.Categorical(probs=np.array([0.15, 0.3, 0.3, 0.25])))
    ac.sample("x", dist.Normal(jnp.array([-2.0, 0.0, 2.0, 4.0])[c], 0.5))


@ac.model
def unlike() -> None:
    """Two independent numbers of very different widths."""
    ac.sample("x", dist.Normal(0.0, 1e-3))
    ac.sample("y", dist.Normal(0.0, 1e3))


@ac.model
def bound() -> None:
    """Three numbers that depend on each other, one of them positive."""
    a = ac.sample("a", dist.Normal(0, 1.0))
    b = ac.sample("b", dist.Normal(0.6 * a, 1.0))
    ac.sample("c", dist.LogNormal(0.3 * a - 0.2 * b, 0.5))


def blocks() -> infer.Gibbs:
    return infer.Gibbs({"z": infer.DiscreteGibbs(), "mu": infer.NUTS()})


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(LABELLED, blocks(), executor=infer.Serial(), **OPTIONS)


KNOWN: dict[str, tuple[Any, Any, Callable[[], dict[str, Any]]]] = {
    "labels": (LABELLED, blocks(), exact_labels),
    "labels after": (LABELLED, infer.Gibbs({"mu": infer.RandomWalk(), ...: infer.DiscreteGibbs()}), exact_labels),
}  # fmt: skip


@pytest.mark.parametrize("name", ["labels", pytest.param("labels after", marks=pytest.mark.slow)])
def test_draws_are_those_of_the_posterior(name: str) -> None:
    """Means are within five of their errors at a fixed seed: ten of them, a false alarm of 6e-7 each."""
    model, sampler, exact = KNOWN[name]
    draws = infer.sample(model, sampler, **LONG)
    for site, mean in exact().items():
        error = np.reshape(draws.summary(site)["mcse_mean"], np.shape(mean))
        assert np.all(error < 0.15)
        assert np.all(np.abs(draws[site].mean((0, 1)) - mean) < 5 * error), site


@pytest.mark.slow
def test_widths_and_shares_of_four_values_are_right() -> None:
    """Within five standard errors, by the effective sample size of the slowest: seven numbers, at 6e-7 each."""
    sampler = infer.Gibbs({"c": infer.DiscreteGibbs(), ...: infer.NUTS()})
    draws = infer.sample(located(), sampler, **(LONG | dict(draws=16_000)))
    size = min(float(draws.summary(name)["ess_bulk"][0]) for name in ("c", "x"))
    for value, share in enumerate([0.15, 0.3, 0.3, 0.25]):
        assert abs(np.mean(draws["c"] == value) - share) < 5 * np.sqrt(share * (1 - share) / size)
    assert abs(draws["x"].mean() - 1.3) < 5 * np.sqrt(4.36 / size) < 0.5
    assert abs(draws["c"].mean() - 1.65) < 5 * np.sqrt(1.0275 / size)
    assert abs(draws["x"].var() - 4.36) < 5 * 4.36 * np.sqrt(2 / size)


@pytest.mark.slow
def test_blocks_of_continuous_sites_draw_what_one_kernel_draws() -> None:
    """Means within five of their errors: three, a false alarm of 6e-7 each."""
    alone = infer.sample(bound(), infer.NUTS(), **LONG)
    apart = infer.sample(bound(), infer.Gibbs({("a", "c"): infer.NUTS(), "b": infer.HMC()}), **LONG)
    for name in ("a", "b", "c"):
        errors = [each.summary(name)["mcse_mean"][0] for each in (alone, apart)]
        assert abs(alone[name].mean() - apart[name].mean()) < 5 * np.hypot(*errors)


# Each block adapts by itself


def check_adapted(draws: Draws, is_apart: bool) -> None:
    """Steps and metrics of blocks are those of the widths that they move in; of a normal, metrics are exact."""
    for name, width in (("x", 1e-3), ("y", 1e3)):
        if is_apart:
            np.testing.assert_allclose(draws.tuning[f"{name}.inverse_mass"], width**2, rtol=1e-3)
        scale = np.sqrt(draws.tuning[f"{name}.inverse_mass"][:, 0] if is_apart else width**2)
        step = draws.tuning[f"{name if is_apart else 'rest'}.step_size"] * scale / width
        assert np.all((step > 0.5) & (step < 2.5)), name
        assert len(np.unique(draws[name])) > 0.85 * draws[name].size
        assert 0.8 < draws[name].std() / width < 1.25


def test_each_block_adapts_to_what_it_moves() -> None:
    """Widths from 900 draws and more by effective size, within 20%: eight standard errors."""
    apart = infer.Gibbs({"x": infer.NUTS(), "y": infer.NUTS()})
    check_adapted(infer.sample(unlike(), apart, **(OPTIONS | dict(warmup=300))), is_apart=True)
    one = infer.Gibbs({...: infer.NUTS()})
    check_adapted(infer.sample(unlike(), one, **(OPTIONS | dict(warmup=300))), is_apart=False)


@dataclass(frozen=True)
class _Deaf(EachBlock):
    """Blocks that never learn."""

    def update(self, learnt: Any, given: Any, item: Any, info: Any) -> Any:
        return learnt, jnp.ones((), bool)

    def learn(self, window: Any, learnt: Any, fitted: Any, update: Any) -> Any:
        return learnt, fitted, False


def test_blocks_that_never_adapt_are_found() -> None:
    """The control of the test before: steps of the wrong size, and hardly a draw that moves."""

    class Deaf(infer.Gibbs):
        @property
        def adaptation(self) -> EachBlock:
            return _Deaf(super().adaptation.blocks)

    draws = infer.sample(unlike(), Deaf({"x": infer.NUTS(), "y": infer.NUTS()}), **OPTIONS)
    with pytest.raises(AssertionError):
        check_adapted(draws, is_apart=True)


@pytest.mark.slow
def test_a_block_of_all_draws_as_many_effective_ones_as_its_kernel_alone() -> None:
    """Within a fifth: the estimate of 12,000 effective draws varies by a few percent."""

    @ac.model
    def plain() -> None:
        ac.sample("x", dist.Normal(np.zeros(2), 1.0).to_event(1))

    alone, one = (
        infer.sample(plain(), sampler, **LONG) for sampler in (infer.NUTS(), infer.Gibbs({...: infer.NUTS()}))
    )
    sizes = [draws.summary("x")["ess_bulk"].mean() for draws in (alone, one)]
    assert 0.8 < sizes[1] / sizes[0] < 1.25
    steps = [draws.tuning[name].mean() for draws, name in ((alone, "step_size"), (one, "rest.step_size"))]
    assert 0.5 < steps[1] / steps[0] < 2


# Statistics and tuning


def test_statistics_and_tuning_have_the_names_of_blocks(drawn: Draws) -> None:
    names = [name for name in drawn.stats if "." in name]
    assert names == ["z.acceptance_rate"] + [f"mu.{each.name}" for each in infer.NUTS.stats]
    assert drawn.stats["mu.n_steps"].dtype == np.int32
    assert {"mu.step_size", "mu.inverse_mass", "mu.metric"} <= set(drawn.tuning)
    assert "mu.step_size" in drawn.to_arviz()["sample_stats"]
    json.dumps(dict(drawn.manifest))
    assert drawn.manifest["sampler"]["blocks"][0] == [["z"], infer.DiscreteGibbs().described()]


def test_a_draw_has_the_density_and_the_gradient_of_its_point(tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(LABELLED, blocks(), store=store, **(OPTIONS | dict(draws=1, warmup=30, chains=1)))
    arrays = store.load().segments(0)[0].arrays
    density = ac.LogDensity.from_model(LABELLED, whole=["z"])
    for row in (0, 11, 29):
        at = Position(jnp.asarray(arrays["position"][row]), jnp.asarray(arrays["whole"][row]))
        value, gradient = density.value_and_grad(at)
        np.testing.assert_allclose(arrays["gradient"][row], gradient, rtol=1e-9)
        np.testing.assert_allclose(arrays["stat/lp"][row], value, rtol=1e-9)


def evaluations(store: Any) -> int:
    """Evaluations of chain 0 after its warm-up."""
    ends = {each.phase: int(each.end_state[GRADIENTS]) for each in store.load().segments(0)}
    return ends["sample"] - ends["warmup"]


@pytest.mark.parametrize(
    ("model", "sampler", "beside"),
    [
        # Labels are drawn at once, and evaluated; NUTS is evaluated once where it begins.
        (LABELLED, blocks(), 1 + 1),
        (unlike(), infer.Gibbs({...: infer.NUTS()}), 0),
        (unlike(), infer.Gibbs({"x": infer.NUTS(), "y": infer.NUTS()}), 2),
    ],
    ids=["discrete beside NUTS", "one block", "two blocks"],
)
def test_a_sweep_takes_no_evaluation_that_it_does_not_need(
    model: Any, sampler: Any, beside: int, tmp_path: Any
) -> None:
    store = infer.RunFolder(tmp_path / "run")
    options = OPTIONS | dict(draws=100, warmup=50, chains=1)
    draws = infer.sample(model, sampler, store=store, executor=infer.Serial(), **options)
    steps = sum(int(draws.stats[name].sum()) for name in draws.stats if name.endswith("n_steps"))
    assert evaluations(store) == steps + 100 * beside


# The same bits however run


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(drawn: Draws, executor: Any) -> None:
    equal(infer.sample(LABELLED, blocks(), executor=executor, **OPTIONS), drawn)


@pytest.mark.slow
def test_lanes_draw_from_the_same_posterior_each_by_itself(drawn: Draws) -> None:
    wide = infer.sample(LABELLED, blocks(), lanes=2, **OPTIONS)
    alone = infer.sample(LABELLED, blocks(), lanes=2, **(OPTIONS | dict(chains=[2])))
    np.testing.assert_array_equal(wide["z"][2], alone["z"][0])
    np.testing.assert_array_equal(wide["mu"][2], alone["mu"][0])


@pytest.mark.parametrize(
    ("phase", "chain"), [("warmup", 0), pytest.param("sample", 1, marks=pytest.mark.slow)]
)
def test_a_run_that_is_interrupted_goes_on(drawn: Draws, tmp_path: Any, phase: str, chain: int) -> None:
    """Its folder says what the sampler was."""
    path = tmp_path / "run"
    often = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda made: made.phase == phase and made.chain == chain):
        part = infer.sample(LABELLED, blocks(), executor=often, store=infer.RunFolder(path), **OPTIONS)
    assert not part.complete
    equal(infer.resume(path, LABELLED, executor=often, quiet=True), drawn)


def test_a_run_of_other_blocks_is_not_taken_up(tmp_path: Any) -> None:
    store = infer.RunFolder(tmp_path / "run")
    infer.sample(LABELLED, blocks(), store=store, **(OPTIONS | dict(draws=20, warmup=20)))
    other = infer.Gibbs({"mu": infer.NUTS(), "z": infer.DiscreteGibbs()})
    with pytest.raises(StorageError, match="started differently"):
        infer.resume(tmp_path / "run", LABELLED, sampler=other, quiet=True)


def test_steps_are_the_draws_of_a_run(drawn: Draws) -> None:
    steps = infer.steps(LABELLED, blocks(), warmup=100, seed=4, chain=1)
    for number, step in zip(range(103), steps, strict=False):
        if number >= 100:
            np.testing.assert_array_equal(step["z"], drawn["z"][1, number - 100])


# Errors


def refused(given: Any, model: Any = LABELLED) -> Callable[[], Any]:
    return lambda: infer.sample(model, infer.Gibbs(given), **OPTIONS)


class Telling(infer.MALA):
    """A kernel whose adaptation is told more than statistics."""

    def tell(self, *arguments: Any) -> Any:
        state, info = super().tell(*arguments)
        return state, replace(info, seen=info.acceptance)


NUTS, DISCRETE = infer.NUTS(), infer.DiscreteGibbs()

ERRORS: dict[str, tuple[Callable[[], Any], type[AccordError], str]] = {
    "no block": (lambda: infer.Gibbs({}), OptionError, "no block"),
    "no mapping": (lambda: infer.Gibbs(NUTS), OptionError, "a mapping from names"),  # pyright: ignore[reportArgumentType]
    "an empty block": (lambda: infer.Gibbs({(): NUTS}), OptionError, "has no site"),
    "no name": (lambda: infer.Gibbs({1: NUTS}), OptionError, "named by a site"),
    "no kernel": (lambda: infer.Gibbs({"z": infer.NUTS}), OptionError, "no kernel.*parentheses"),  # pyright: ignore[reportArgumentType]
    "a population": (lambda: infer.Gibbs({"z": infer.ChEES()}), OptionError, "learn from each other"),
    "in two blocks": (lambda: infer.Gibbs({"z": DISCRETE, ("z", "mu"): NUTS}), OptionError, "'z' is in two"),
    "no block for one": (refused({"z": DISCRETE}), OptionError, "no block moves 'mu'.*infer.NUTS"),
    "an unknown name": (
        refused({"z": DISCRETE, "m": NUTS}), OptionError, "no site 'm' to move.*'mu'"
    ),
    "an unknown discrete name": (refused({("z", "zz"): DISCRETE, "mu": NUTS}), SiteError, "no site 'zz'.*'z'"),
    "discrete in NUTS": (refused({("z", "mu"): NUTS}), OptionError, "'z' is discrete, and NUTS moves free"),
    "continuous in DiscreteGibbs": (
        refused({("z", "mu"): DISCRETE}), SiteError, "'mu'.*is continuous"
    ),
    "nothing is left": (refused({"z": DISCRETE, "mu": NUTS, ...: NUTS}), OptionError, "has no site, since"),
    "reports to its adaptation": (
        refused({"z": DISCRETE, "mu": Telling()}), OptionError, "Telling reports to its adaptation"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_site(name: str) -> None:
    call, error, words = ERRORS[name]
    with pytest.raises(error, match=words):
        call()
