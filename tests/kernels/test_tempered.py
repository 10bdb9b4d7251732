"""Draw by parallel tempering: known answers, evidence, the same bits however run, and errors."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from ctrl_c import pressed_once
from equal_draws import equal
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.ladder import equal_powers
from accord.core.errors import AccordError
from accord.mcmc.draws import Draws
from accord.report.diagnostics import mcse_mean

SIX = 6  # standard errors: a false alarm of 2e-9
OPTIONS: dict[str, Any] = dict(chains=4, seed=1, progress=False, quiet=True)


@ac.model
def two_modes() -> None:
    """A prior that covers two narrow modes of unequal weight."""
    x = ac.sample("x", dist.Normal(0, 10))
    left, right = dist.Normal(-5, 0.5).log_prob(x), dist.Normal(5, 0.5).log_prob(x)
    ac.factor("likelihood", jnp.logaddexp(jnp.log(0.2) + left, jnp.log(0.8) + right))
    ac.deterministic("right", x > 0)


@ac.model
def four_dims() -> None:
    """Two modes of width 0.1 in a cube; the evidence is 4^-4."""
    x = ac.sample("x", dist.Uniform(-2 * np.ones(4), 2 * np.ones(4)).to_event(1))
    right, left = (jnp.sum(dist.Normal(place, 0.1).log_prob(x)) for place in (0.5, -0.5))
    ac.factor("likelihood", jnp.logaddexp(jnp.log(0.1) + right, jnp.log(0.9) + left))
    ac.deterministic("right", jnp.mean(x) > 0)


@ac.model
def narrowing() -> None:
    """A normal in two dimensions whose precision grows from 1 to e^4 along the ladder."""
    x = ac.sample("x", dist.Normal(np.zeros(2), 1).to_event(1))
    ac.factor("likelihood", -0.5 * jnp.expm1(4.0) * jnp.sum(x**2))


@ac.model
def ring() -> None:
    """Ten spins in a ring, each inclined to be as its neighbours."""
    with ac.plate("place", 10):
        spin = 2 * ac.sample("spin", dist.Bernoulli(0.5)) - 1
    ac.factor("energy", 0.5 * jnp.sum(spin * jnp.roll(spin, 1)))


# Model, kernel and rungs; the log evidence, and the probability of the right mode.
CASES: dict[str, tuple[Any, Any, int, float, float]] = {
    "NUTS": (two_modes, infer.NUTS(), 6, -3.347460346, 0.8),
    "slices": (two_modes, infer.Slice(), 6, -3.347460346, 0.8),
    "four dimensions": (four_dims, infer.NUTS(), 10, -5.545177444, 0.1),
}
SLOW = ("four dimensions",)


def check_evidence(draws: Draws, exact: float) -> None:
    found = infer.evidence(draws)
    assert 0 < found.standard_error < 0.15
    assert abs(found.value - exact) < SIX * found.standard_error
    assert abs(found.forward - exact) < 0.5
    assert abs(found.backward - exact) < 0.5


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]
)
def test_modes_have_their_weights_and_the_evidence_is_right(name: str) -> None:
    """Two numbers within six of their errors."""
    model, kernel, rungs, log_evidence, weight = CASES[name]
    draws = infer.sample(model(), infer.Tempered(kernel, temperatures=rungs), draws=1000, **OPTIONS)
    assert not {each.code for each in draws.notices} & {"round_trips", "rungs_apart", "chains_apart"}
    check_evidence(draws, log_evidence)
    error = float(np.ravel(draws.summary("right")["mcse_mean"])[0])
    assert abs(draws["right"].mean() - weight) < SIX * error < 0.2


def test_a_chain_alone_finds_one_mode() -> None:
    """The control of the test before: without a ladder, chains stay in the mode that they began in."""
    draws = infer.sample(two_modes(), draws=500, **OPTIONS)
    assert set(draws["right"].mean(1)) <= {0.0, 1.0}


def test_a_likelihood_that_is_no_number_is_zero() -> None:
    """Evidence within six of its errors: the prior's share below 1. Hot replicas stand where it is no number."""

    @ac.model
    def cut() -> None:
        x = ac.sample("x", dist.Normal(0, 1))
        ac.factor("likelihood", jnp.where(x < 1, 0.0, jnp.nan))

    draws = infer.sample(cut(), infer.Tempered(infer.HMC(), temperatures=3), draws=1000, **OPTIONS)
    assert np.all(draws["x"] < 1)
    assert np.isnan(draws.stats["log_likelihood.0"]).any()
    found = infer.evidence(draws)
    assert abs(found.value - np.log(0.8413447460685429)) < SIX * found.standard_error < 0.15


def test_neighbours_trade_places_as_often_as_they_should() -> None:
    """Four means within six of their errors: precisions a < b trade with probability 2 a / (a + b)."""
    draws = infer.sample(narrowing(), infer.Tempered(infer.HMC(), temperatures=5), draws=2000, **OPTIONS)
    check_evidence(draws, -4.0)
    powers = draws.tuning["temperatures"]
    heights = np.stack([draws.stats[f"log_likelihood.{rung}"] for rung in range(5)], -1)
    chance = np.exp(np.minimum(-np.diff(powers)[:, None] * np.diff(heights), 0))
    precision = 1 + powers * np.expm1(4.0)
    exact = (2 * precision[:, :-1] / (precision[:, :-1] + precision[:, 1:]))[:, None]
    off = chance - exact
    assert np.all(np.abs(off.mean((0, 1))) < SIX * mcse_mean(off))
    np.testing.assert_allclose(draws.stats["swap_rate"], chance.mean(2), atol=1e-6)
    # A barrier of 2 in four equal parts, each an acceptance of 0.54, which a round of warm-up has estimated.
    assert np.abs(chance.mean((0, 1)) - 0.54).max() < 0.1
    assert np.abs(draws.tuning["barrier"] - 1.85).max() < 0.4
    np.testing.assert_allclose(draws.tuning["rejection"].sum(1), draws.tuning["barrier"])


def test_discrete_sites_are_tempered_too() -> None:
    """Two numbers within six of their errors: of 1024 states of a ring, from their sum."""
    draws = infer.sample(ring(), infer.Tempered(infer.DiscreteGibbs(), temperatures=4), draws=2000, **OPTIONS)
    check_evidence(draws, 8.133060918 - 10 * np.log(2))
    spin = 2.0 * draws["spin"] - 1
    alike = spin * np.roll(spin, 1, axis=2)
    assert abs(alike.mean() - 0.462872677) < SIX * mcse_mean(alike.mean(2)[..., None])[0]


def test_powers_divide_the_barrier_into_equal_parts() -> None:
    """With as much rejection between all neighbours nothing changes; with more, powers come closer there."""
    powers = np.linspace(0, 1, 5) ** 2
    np.testing.assert_allclose(equal_powers(powers, np.full(4, 0.3)), powers, atol=1e-12)
    new = equal_powers(powers, np.array([0.9, 0.1, 0.1, 0.1]))
    assert new[0] == 0 and new[-1] == 1 and np.all(np.diff(new) > 0)
    assert new[2] < powers[1]
    assert np.all(np.diff(equal_powers(powers, np.array([1.0, 0, 0, 0]))) > 0)


SHORT: dict[str, Any] = dict(draws=150, warmup=150, chains=2, seed=4, progress=False, quiet=True)
LADDER = infer.Tempered(infer.HMC(), temperatures=4)


@pytest.fixture(scope="module")
def short() -> Draws:
    return infer.sample(four_dims(), LADDER, executor=infer.Serial(), **SHORT)


def test_two_threads_draw_the_same(short: Draws) -> None:
    equal(infer.sample(four_dims(), LADDER, executor=infer.Threads(2), **SHORT), short)


def test_a_chain_draws_the_same_in_blocks_of_any_length(short: Draws) -> None:
    blocks = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    equal(infer.sample(four_dims(), LADDER, executor=blocks, **SHORT), short)


def test_an_interrupted_run_is_resumed_by_its_folder_alone(short: Draws, tmp_path: Any) -> None:
    path = tmp_path / "run"
    blocks = paced(infer.Serial(), first_block=64, growth=1, task_seconds=0.01, unsaved_seconds=0.0)
    with pressed_once(lambda made: made.phase == "warmup" and made.stop < 120):
        begun = infer.sample(four_dims(), LADDER, executor=blocks, store=infer.RunFolder(path), **SHORT)
    assert not begun.complete
    equal(infer.resume(path, four_dims(), quiet=True), short)


@pytest.mark.slow
def test_chains_in_lanes_draw_the_same_each_by_itself() -> None:
    both = infer.sample(four_dims(), LADDER, lanes=2, **{**SHORT, "chains": 4})
    alone = infer.sample(four_dims(), LADDER, lanes=2, **{**SHORT, "chains": [3]})
    np.testing.assert_array_equal(both["x"][3], alone["x"][0])


def test_steps_are_the_draws_of_a_run(short: Draws) -> None:
    for step in infer.steps(four_dims(), LADDER, warmup=150, seed=4):
        if step.phase == "sample":
            np.testing.assert_array_equal(step["x"], short["x"][0, 0])
            break


@ac.model
def improper(y: np.ndarray) -> None:
    m = ac.sample("m", dist.Flat())
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, 1), obs=y)


FUNCTION = ac.LogDensity.from_function(lambda x: -0.5 * (x**2).sum(), np.zeros(3))
ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    "one rung": (lambda: infer.Tempered(infer.NUTS(), temperatures=1), "at least 2"),
    "a population": (lambda: infer.Tempered(infer.ChEES()), "learn from each other"),
    "no kernel": (lambda: infer.Tempered(infer.NUTS), "parentheses"),  # pyright: ignore[reportArgumentType]
    "a block": (lambda: infer.Gibbs({...: infer.Tempered()}), r"infer.Tempered\(infer.Gibbs\("),
    "an improper prior": (lambda: infer.sample(improper(np.ones(3)), LADDER, **SHORT), "'m'.*improper prior"),
    "a function": (lambda: infer.sample(FUNCTION, LADDER, **SHORT), "needs prior and likelihood apart"),
    "a formula": (
        lambda: infer.sample(
            two_modes(), infer.Tempered(infer.Conditional(lambda values: dist.Normal(0, 1))), **SHORT
        ),
        "a formula draws from the posterior",
    ),
    "a discrete site": (lambda: infer.sample(ring(), LADDER, **SHORT), "DiscreteGibbs"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_to_give(name: str) -> None:
    call, words = ERRORS[name]
    with pytest.raises(AccordError, match=words):
        call()
