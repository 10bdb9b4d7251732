"""Compare evidences by bridge sampling with exact ones; keys are fixed.

Each value is within six of its standard errors, which are small: a false alarm has a chance of 2e-9.
"""

import pickle
from dataclasses import replace

import conjugate
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, ModelError, OptionError
from accord.core.series import InMemory

QUIET = dict(progress=False, quiet=True)
SIX = 6.0
BOTH = [infer.BridgeSampling(), infer.BridgeSampling("warp3", seed=3)]

Y = np.array([0.3, -1.2, 2.0, 0.7, 1.1])
GROUP = np.array([0, 0, 1, 1, 2])


@ac.model
def one_mean(y, noise=1.0):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, noise), obs=y)


@ac.model
def share():
    p = ac.sample("p", dist.Uniform(0, 1))
    ac.sample("heads", dist.Binomial(10, p), obs=2)


@ac.model
def groups(group, y):
    level = ac.sample("level", dist.Normal(0.5, 2))
    with ac.plate("group", 3):
        mean = ac.sample("mean", dist.Normal(level, 0.7))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean[group], 0.5), obs=y)


@ac.model
def of_two_kinds(y):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        kind = ac.sample("kind", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(mean + 2.0 * kind, 1), obs=y)


def of_groups():
    """The log density of all observations together, which are normal."""
    member = np.eye(3)[GROUP]
    covariance = 0.25 * np.eye(5) + 0.49 * member @ member.T + 4.0
    return stats.multivariate_normal(np.full(5, 0.5), covariance).logpdf(Y)


def of_kinds():
    def density(mean):
        both = 0.7 * stats.norm.pdf(Y, mean, 1) + 0.3 * stats.norm.pdf(Y, mean + 2, 1)
        return stats.norm.pdf(mean) * np.prod(both)

    return np.log(integrate.quad(density, -8, 8, epsabs=0, epsrel=1e-10)[0])


MODELS = {
    "families K17": (lambda: one_mean(np.ones(1)), lambda: -1.515512123),
    "families F49, branch 0": (
        lambda: one_mean(np.array([0.2])),
        lambda: stats.norm.logpdf(0.2, 0, np.sqrt(2)),
    ),
    "families F49, branch 1": (
        lambda: one_mean(np.array([0.2]), 0.1),
        lambda: stats.norm.logpdf(0.2, 0, np.sqrt(1.01)),
    ),
    "families F42": (lambda: conjugate.normal_gamma(conjugate.Y), lambda: conjugate.LOG_EVIDENCE),
    "families F53": (share, lambda: -2.397895273),
    "a hierarchy": (lambda: groups(GROUP, Y), of_groups),
    "sites summed out": (lambda: of_two_kinds(Y), of_kinds),
}


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[pytest.mark.slow] * (name == "families F42")) for name in MODELS]
)
def test_evidences_are_exact(case):
    model, exact = MODELS[case]
    draws = infer.sample(model(), draws=1000, seed=4, **QUIET)
    for method in BOTH:
        found = infer.evidence(draws, method)
        assert abs(found.value - exact()) < SIX * found.standard_error < 0.1
        assert not found.notices


def test_the_probability_of_a_model_is_that_of_families_f48_and_f49():
    def value(model):
        return infer.evidence(infer.sample(model, draws=1000, seed=5, **QUIET)).value

    point = stats.norm.logpdf(1.0)
    wide, narrow = value(one_mean(np.array([0.2]))), value(one_mean(np.array([0.2]), 0.1))
    assert abs(1 / (1 + np.exp(point - value(one_mean(np.ones(1))))) - 0.475875349) < 0.01
    assert abs(1 / (1 + np.exp(narrow - wide)) - 0.417803585) < 0.01
    assert abs(np.logaddexp(narrow, wide) - np.log(2) + 1.095915454) < 0.01


@pytest.fixture(scope="module")
def some():
    return infer.sample(groups(GROUP, Y), draws=200, seed=6, **QUIET)


def test_the_same_seed_gives_the_same_number(some):
    once, again = infer.evidence(some), infer.evidence(some, infer.BridgeSampling())
    assert once == again and once != infer.evidence(some, infer.BridgeSampling(seed=1))
    assert str(once).startswith("Log evidence -") and "+-" in repr(once)


def test_a_run_in_float32_is_bridged_too():
    draws = infer.sample(groups(GROUP, Y), draws=500, seed=7, precision="float32", **QUIET)
    found = infer.evidence(draws)
    assert abs(found.value - of_groups()) < SIX * found.standard_error + 1e-4


def test_a_density_of_a_function_has_its_normalising_constant():
    density = ac.LogDensity.from_function(lambda x: -0.5 * (x**2).sum() / 4.0, np.zeros(2))
    found = infer.evidence(infer.sample(density, draws=500, seed=8, **QUIET))
    assert abs(found.value - np.log(2 * np.pi * 4)) < SIX * found.standard_error + 1e-6


@ac.model
def two_modes():
    x = ac.sample("x", dist.Normal(0, 20))
    ac.factor("modes", jnp.logaddexp(-0.5 * (x - 10) ** 2, -0.5 * (x + 10) ** 2))


def test_chains_in_different_modes_are_reported():
    init = infer.from_values({"x": 10.0})
    draws = infer.sample(two_modes(), draws=100, warmup=100, chains=2, init=init, **QUIET)
    moved = np.asarray(draws["x"]) * np.array([[1.0], [-1.0]])
    found = infer.evidence(replace(draws, sites=InMemory({"x": moved})))
    assert {"evidence_of_modes", "factor_counts"} <= {notice.code for notice in found.notices}
    assert found.notices[0].severity == "warning" and "R-hat" in str(found)


def test_few_draws_of_many_unknowns_are_reported():
    @ac.model
    def many():
        with ac.plate("entry", 40):
            ac.sample("x", dist.Normal(0, 1))

    found = infer.evidence(infer.sample(many(), draws=50, warmup=100, chains=2, seed=1, **QUIET))
    assert "few_draws" in [notice.code for notice in found.notices]


@ac.model
def improper(y):
    mean = ac.sample("mean", dist.Flat())
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1), obs=y)


@ac.model
def counts(y):
    rate = ac.sample("rate", dist.Gamma(2, 1))
    kind = ac.sample("kind", dist.Bernoulli(0.5))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(rate + kind, 1), obs=y)


SHORT = dict(draws=20, warmup=20, chains=2, **QUIET)


def sampled(model, *sampler):
    return infer.sample(model, *sampler, **SHORT)


REFUSED = {
    "an improper prior": (
        lambda some: infer.evidence(sampled(improper(Y))),
        ModelError,
        ["'mean'", "Flat", "proper"],
    ),
    "whole numbers": (
        lambda some: infer.evidence(
            sampled(counts(Y), infer.Gibbs({"kind": infer.DiscreteGibbs(), ...: infer.NUTS()}))
        ),
        OptionError,
        ["'kind'", "whole numbers", "sum it out"],
    ),
    "no model": (
        lambda some: infer.evidence(pickle.loads(pickle.dumps(some))),
        OptionError,
        ["infer.resume"],
    ),
    "no draws of a run": (lambda some: infer.evidence(3), OptionError, ["int", "infer.sample"]),
    "another method": (
        lambda some: infer.evidence(some, "bridge"),
        OptionError,
        ["infer.BridgeSampling()", "str"],
    ),
    "another proposal": (
        lambda some: infer.BridgeSampling("t"),
        OptionError,
        ["normal, warp3", "'t'"],
    ),
    "a seed": (lambda some: infer.BridgeSampling(seed=-1), OptionError, ["seed", "-1"]),
    "an unknown option": (
        lambda some: infer.BridgeSampling(no_such_option=1),
        OptionError,
        ["no_such_option"],
    ),
    "too few draws": (
        lambda some: infer.evidence(infer.sample(groups(GROUP, Y), draws=5, warmup=20, **QUIET)),
        OptionError,
        ["8 draws", "5"],
    ),
    "the edge of a support": (
        lambda some: infer.evidence(
            replace(found := sampled(share()), sites=InMemory({"p": np.ones_like(found["p"])}))
        ),
        DataError,
        ["'p'", "40 of 40", "edge"],
    ),
    "draws that stand still": (
        lambda some: infer.evidence(
            replace(found := sampled(share()), sites=InMemory({"p": np.full_like(found["p"], 0.25)}))
        ),
        DataError,
        ["'p'", "same value"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_evidence_is_refused_in_words(case, some):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind) as caught:
        call(some)
    assert all(word in str(caught.value) for word in words), caught.value


def test_draws_of_a_biased_sampler_are_refused():
    @ac.model
    def in_parts(y):
        mean = ac.sample("mean", dist.Normal(0, 1))
        with ac.plate("row", 100, subsample_size=10):
            batch = ac.subsample(y)
            ac.sample("y", dist.Normal(mean, 1), obs=batch)

    draws = infer.sample(in_parts(np.linspace(-1, 1, 100)), infer.SGLD(), **SHORT)
    with pytest.raises(OptionError, match=r"SGLD are not quite those of the posterior.*infer\.NUTS\(\)"):
        infer.evidence(draws)
