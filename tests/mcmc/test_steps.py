"""Step through a chain by hand: its draws are those of a run, and nothing of it is kept."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import InitializationError, OptionError, SamplingError


@ac.model
def groups(y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfNormal(2))
    with ac.plate("group", len(y)):
        z = ac.sample("z", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(ac.deterministic("theta", mu + tau * z), 1.0), obs=y)


MODEL = groups(np.array([0.5, -1.0, 2.0]))


@pytest.mark.parametrize(
    "sampler", [infer.NUTS(), pytest.param(infer.HMC(), marks=pytest.mark.slow)], ids=repr
)
def test_steps_are_the_draws_of_a_run(sampler):
    run = infer.sample(MODEL, sampler, draws=20, warmup=60, chains=[2], seed=5, progress=False, quiet=True)
    made = list(itertools.islice(infer.steps(MODEL, sampler, warmup=60, chain=2, seed=5), 80))
    assert [step.phase for step in made] == ["warmup"] * 60 + ["sample"] * 20
    assert [step.number for step in made] == [*range(60), *range(20)]
    for name in run:
        np.testing.assert_array_equal(np.stack([step[name] for step in made[60:]]), run[name][0])
    for name in run.stats:
        np.testing.assert_array_equal([step.stats[name] for step in made[60:]], run.stats[name][0])
    warm = np.stack([step.position for step in made[:60]])
    np.testing.assert_array_equal(warm, run.warmup["position"][0])
    assert made[-1].tuning["step_size"] == run.tuning["step_size"][0]
    np.testing.assert_allclose(made[-1].tuning["inverse_mass"], run.tuning["inverse_mass"][0])


def test_a_loop_of_ones_own_stops_where_it_likes():
    walk, seen = infer.steps(MODEL, warmup=40, seed=1), []
    for step in walk:
        seen.append(float(step.stats["lp"]))
        if step.phase == "sample" and step.number == 4:
            break
    assert len(seen) == 45 and set(step) == {"mu", "tau", "z", "theta"}
    values = walk.density.constrain(step.position)
    np.testing.assert_allclose(values["theta"], step["theta"])
    assert next(walk).number == 5


REFUSED = {
    "an ensemble": (lambda: infer.steps(MODEL, infer.ChEES()), OptionError, "learn from each other"),
    "a chain below zero": (lambda: infer.steps(MODEL, chain=-1), OptionError, "chain"),
    "a seed that is none": (lambda: infer.steps(MODEL, seed=-1), OptionError, "seed"),
    "a class": (lambda: infer.steps(MODEL, infer.NUTS), OptionError, "parentheses"),
    "nowhere finite": (
        lambda: infer.steps(ac.LogDensity.from_function(lambda x: x["a"] * jnp.nan, {"a": np.zeros(())})),
        InitializationError,
        "starting point",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stepped_is_refused(case):
    call, error, word = REFUSED[case]
    with pytest.raises(error, match=word):
        call()


def test_a_chain_that_never_moves_is_given_up():
    needle = ac.LogDensity.from_function(
        lambda v: jnp.where(jnp.all(v["a"] == 10.0), 0.0, jnp.nan), {"a": np.zeros(2)}
    )
    walk = infer.steps(needle, warmup=0, init=infer.from_values({"a": np.full(2, 10.0)}))
    with pytest.raises(SamplingError, match="has not moved for 250 draws"):
        list(itertools.islice(walk, 300))
