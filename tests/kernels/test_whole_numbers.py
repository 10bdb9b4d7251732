"""Run a kernel of a user's own that moves discrete sites: its draws are exact, and have the same bits however run."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from ctrl_c import pressed_once
from equal_draws import equal
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.adaptation.hamiltonian import Hamiltonian
from accord.core import keys
from accord.core.errors import AccordError, OptionError, SiteError
from accord.density import LogDensity, Position
from accord.kernels.base import ACCEPTANCE_RATE, AbstractKernel, Info, Standing, stats_of
from accord.mcmc.draws import Draws

OPTIONS: dict[str, Any] = dict(draws=300, warmup=100, chains=3, seed=4, progress=False, quiet=True)
Y = np.array([-1.9, -0.2, 0.4, 2.1])
SIGNS = np.array([-1.0, 0.0, 1.0])


def stepping(*names: str) -> AbstractKernel:
    """A kernel of a class that no module holds: workers get it by value."""

    class Step(AbstractKernel):
        """Move the free numbers by a random walk, or one whole number to one of its neighbours, at random."""

        stats = (ACCEPTANCE_RATE,)
        whole = names

        @property
        def adaptation(self) -> Hamiltonian:
            return Hamiltonian(0.3, "diagonal")

        def init(self, point: Any) -> Standing:
            return Standing.at(point)

        def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
            free, whole = state.point.position.free, state.point.position.whole
            counter = jnp.arange(3, dtype=jnp.uint32)
            which, way, kind = keys.uniform(key, counter, jnp.full_like(counter, 2), free.dtype)
            is_free = (kind < 0.5) & (free.shape[0] > 0)
            noise = tuning.step_size * tuning.metric.push(keys.normal(key, free.shape[0], 0, free.dtype))
            place = (which * whole.shape[0]).astype(jnp.int32)
            moved = whole.at[place].add(jnp.where(way < 0.5, 1, -1))
            free, whole = jnp.where(is_free, free + noise, free), jnp.where(is_free, whole, moved)
            return Position(free, whole), None

        def tell(self, key: Any, state: Standing, point: Any, pending: Any, tuning: Any, rarely: Any) -> Any:
            log_ratio = point.log_density - state.point.log_density
            moved, ratio, ending = state.decided(key, 1, point, log_ratio, tuning.is_probe)
            return moved, Info(jnp.ones((), bool), ratio, ending, stats_of(ratio))

    return Step()


@ac.model
def labelled(y: Any) -> None:
    mu = ac.sample("mu", dist.Normal(1, 1))
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Categorical(probs=np.array([0.3, 0.3, 0.4])))
        ac.sample("y", dist.Normal(mu * jnp.asarray(SIGNS)[z], 1.0), obs=y)
    ac.deterministic("num_up", jnp.sum(z == 2))


@ac.model
def dice(y: Any) -> None:
    with ac.plate("die", len(y)):
        z = ac.sample("z", dist.DiscreteUniform(1, 6))
        ac.sample("y", dist.Normal(z, 1.0), obs=y)


MODEL, DICE = labelled(Y), dice(np.array([2.2, 5.9]))


def exact_labels() -> dict[str, np.ndarray]:
    """Means of `z`, shape `(row,)`, and `mu`, by enumeration: given labels, all is normal."""
    labels = np.array(list(itertools.product(range(3), repeat=len(Y))))
    signs, prior = SIGNS[labels], np.log([0.3, 0.3, 0.4])[labels].sum(1)
    precision = 1 + (signs**2).sum(1)
    mean = (1 + (signs * Y).sum(1)) / precision
    weight = np.exp(prior - 0.5 * np.log(precision) + 0.5 * precision * mean**2)
    weight /= weight.sum()
    return {"z": weight @ labels, "mu": weight @ mean}


def exact_dice() -> dict[str, np.ndarray]:
    faces = np.arange(1, 7)
    weight = np.exp(-0.5 * (np.array([2.2, 5.9])[:, None] - faces) ** 2)
    return {"z": (weight / weight.sum(1, keepdims=True)) @ faces}


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return infer.sample(MODEL, stepping("z"), executor=infer.Serial(), **OPTIONS)


@pytest.mark.parametrize(
    ("model", "exact"), [(MODEL, exact_labels), (DICE, exact_dice)], ids=["with free ones", "alone"]
)
def test_draws_are_those_of_the_posterior(model: Any, exact: Callable[[], dict[str, np.ndarray]]) -> None:
    """Means are within five of their errors at a fixed seed: seven of them, a false alarm of 6e-7 each."""
    draws = infer.sample(model, stepping("z"), **(OPTIONS | dict(draws=6000, chains=4)))
    for name, mean in exact().items():
        error = np.reshape(draws.summary(name)["mcse_mean"], np.shape(mean))
        assert np.all(error < 0.1)
        assert np.all(np.abs(draws[name].mean((0, 1)) - mean) < 5 * error)


def test_draws_are_integers_with_their_dims(drawn: Draws) -> None:
    assert drawn["z"].dtype.kind == "i" and drawn["z"].shape == (3, 300, 4) and drawn.dims["z"] == ("row",)
    np.testing.assert_array_equal(drawn["num_up"], (drawn["z"] == 2).sum(-1))
    assert drawn.warmup["whole"].shape == (3, 100, 4) and drawn.warmup["position"].shape == (3, 100, 1)
    assert set(np.unique(drawn["z"])) == {0, 1, 2}
    assert drawn.to_arviz()["posterior"]["z"].dtype.kind == "i"
    predicted = infer.predict(drawn)
    assert predicted["y"].shape == (3, 300, 4)


@pytest.mark.parametrize(
    "executor", [infer.Threads(2), pytest.param(infer.Processes(2), marks=pytest.mark.slow)], ids=repr
)
def test_any_executor_draws_the_same(drawn: Draws, executor: Any) -> None:
    equal(infer.sample(MODEL, stepping("z"), executor=executor, **OPTIONS), drawn)


def test_lanes_draw_from_the_same_posterior_each_by_itself(drawn: Draws) -> None:
    wide = infer.sample(MODEL, stepping("z"), lanes=2, **OPTIONS)
    alone = infer.sample(MODEL, stepping("z"), lanes=2, **(OPTIONS | dict(chains=[2])))
    np.testing.assert_array_equal(wide["z"][2], alone["z"][0])
    np.testing.assert_allclose(wide["mu"][:, :5], drawn["mu"][:, :5], rtol=1e-6)


@pytest.mark.parametrize(("phase", "chain"), [("warmup", 0), ("sample", 1)])
def test_a_run_that_is_interrupted_goes_on(drawn: Draws, tmp_path: Any, phase: str, chain: int) -> None:
    """The first time, in the middle of warm-up."""
    path = tmp_path / "run"
    often = paced(infer.Serial(), first_block=4, block_seconds=1e-5, unsaved_seconds=0.0)
    with pressed_once(lambda made: made.phase == phase and made.chain == chain):
        part = infer.sample(MODEL, stepping("z"), executor=often, store=infer.RunFolder(path), **OPTIONS)
    assert not part.complete
    equal(infer.resume(path, MODEL, sampler=stepping("z"), executor=often, quiet=True), drawn)


def test_a_stored_run_is_loaded_and_made_longer(drawn: Draws, tmp_path: Any) -> None:
    whole, path = stepping("z"), tmp_path / "run"
    infer.sample(MODEL, whole, store=infer.RunFolder(path), **(OPTIONS | dict(draws=100)))
    assert infer.load(path)["z"].shape == (3, 100, 4)
    equal(infer.resume(path, MODEL, sampler=stepping("z"), quiet=True).extend(200), drawn)


def test_steps_are_the_draws_of_a_run(drawn: Draws) -> None:
    steps = infer.steps(MODEL, stepping("z"), warmup=100, seed=4, chain=1)
    for number, step in zip(range(105), steps, strict=False):
        if number >= 100:
            np.testing.assert_array_equal(step["z"], drawn["z"][1, number - 100])
            assert step.whole is not None and step.whole.dtype == np.int32


def test_a_run_begins_at_given_values() -> None:
    begin = {"z": [2, 0, 1, 1], "mu": 0.5}
    run: Any = OPTIONS | dict(draws=1, warmup=0)
    drawn = infer.sample(MODEL, stepping("z"), init=begin, **run)
    assert np.all(np.abs(drawn["z"][:, 0] - begin["z"]).sum(-1) <= 1)
    some = infer.sample(MODEL, stepping("z"), init={"z": begin["z"]}, **run)
    assert np.all(np.abs(some["z"][:, 0] - begin["z"]).sum(-1) <= 1) and len(np.unique(some["mu"])) == 3
    on = infer.sample(MODEL, stepping("z"), init=drawn, **run)
    assert np.all(np.abs(on["z"][:, 0] - drawn["z"][:, 0]).sum(-1) <= 1)
    for start in (infer.from_prior(), infer.from_median()):
        infer.sample(MODEL, stepping("z"), init=start, **run)


def test_a_density_takes_positions_and_is_impossible_outside_of_the_support() -> None:
    density = LogDensity.from_model(MODEL, whole=["z"])
    assert (density.dim, density.layout.num_whole) == (1, 4)
    assert (density.layout["z"].low, density.layout["z"].high) == (0, 2)
    labels = np.array([0, 1, 2, 2])
    at = density.unconstrain({"mu": 0.7, "z": labels})
    assert isinstance(at, Position)
    given, free = LogDensity.from_model(MODEL.condition({"z": labels})), np.array([0.7])
    np.testing.assert_allclose(density(at), given(free), rtol=1e-12)
    value, gradient = density.value_and_grad(at)
    for found, expected in zip((value, gradient), given.value_and_grad(free), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(sum(density.parts(at)), value, rtol=1e-12)
    assert float(density.parts(at).jacobian) == 0
    np.testing.assert_array_equal(density.constrain(at)["z"], labels)
    outside = density(replace(at, whole=jnp.array([0, 1, 2, 3])))
    assert outside == -np.inf


def refused(model: Any, *names: str, **options: Any) -> Callable[[], Any]:
    return lambda: infer.sample(model, stepping(*names), **(OPTIONS | options))


def named_by_text() -> AbstractKernel:
    class Text(type(stepping("z"))):
        whole: Any = "z"

    return Text()


def asking_in_long_integers() -> AbstractKernel:
    class Long(type(stepping("z"))):
        def ask(self, key: Any, state: Standing, tuning: Any, rarely: Any) -> Any:
            here = state.point.position
            return replace(here, whole=here.whole.astype(np.int64)), None

    return Long()


def test_it_can_be_calibrated() -> None:
    found = infer.calibrate(
        MODEL, stepping("z"), simulations=2, draws=5, warmup=20, progress=False, quiet=True
    )
    assert found.labels == ("mu", *(f"z[{row}]" for row in range(4)), "lp")


ERRORS: dict[str, tuple[Callable[[], Any], type[AccordError], str]] = {
    "another name": (refused(MODEL, "z", "zz"), SiteError, "no site 'zz'.*'z'"),
    "continuous": (refused(MODEL, "z", "mu"), SiteError, "site 'mu'.*is continuous"),
    "observed": (refused(MODEL, "z", "y"), SiteError, "site 'y'.*has a value"),
    "a density without": (
        refused(LogDensity.from_model(DICE, whole=["z"])), OptionError, r"whole numbers among its unknowns \('z'\)"
    ),
    "names that are text": (
        lambda: infer.sample(MODEL, named_by_text(), **OPTIONS), OptionError, "tuple of the names"
    ),
    "asked in another dtype": (
        lambda: infer.sample(MODEL, asking_in_long_integers(), **OPTIONS),
        OptionError, r"ask returns Position\(float64\[1\], int64\[4\]\).*int32\[4\]",
    ),
    "collapsed": (refused(handlers.collapse(MODEL, ["mu"]), "z"), SiteError, "'z'.*collapsed.*do not go together"),
    "a start outside": (
        refused(MODEL, "z", init={"z": [0, 1, 2, 3], "mu": 0.0}), AccordError, "a whole number from 0 to 2"
    ),
    "a start between": (
        refused(MODEL, "z", init={"z": [0, 1, 2, 0.5], "mu": 0.0}), AccordError, "a whole number from 0 to 2"
    ),
    "a vector": (
        lambda: LogDensity.from_model(MODEL, whole=["z"])(np.zeros(1)), AccordError, r"no vector.*'z'|'z'.*no vector"
    ),
    "another shape": (
        lambda: LogDensity.from_model(MODEL, whole=["z"])(Position(jnp.zeros(1), jnp.zeros(3, int))),
        AccordError, r"shape \(4,\), of 'z'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_site(name: str) -> None:
    call, error, words = ERRORS[name]
    with pytest.raises(error, match=words):
        call()
