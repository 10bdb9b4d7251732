"""Refuse what nested sampling cannot take, by words that say what to do; and tell what went wrong."""

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from nested_models import SMALL, Y, found, normal

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError, InitializationError, ModelError, OptionError
from accord.nested import machine
from accord.nested.findings import findings
from accord.nested.stored import Ended


@ac.model
def improper():
    x = ac.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("y", dist.Normal(x, 1.0), obs=0.0)


@ac.model
def counted():
    k = ac.sample("k", dist.Poisson(3.0))
    ac.sample("y", dist.Normal(k * 1.0, 1.0), obs=0.0)


@ac.model
def only(width):
    """Possible only where a uniform number is below the width, and no number above 0.9."""
    x = ac.sample("x", dist.Uniform(0.0, 1.0))
    ac.factor("f", jnp.where(x < width, 0.0, jnp.where(x < 0.9, -jnp.inf, jnp.nan)))


@ac.model
def wide():
    x = ac.sample("x", dist.Normal(0.0, 1.0).expand((40,)).to_event(1))
    ac.factor("f", -jnp.sum(x**2))


@each(
    {
        "live": ({"live": 10}, ["live", "at least 20", "10"]),
        "live of a kind": ({"live": 100.5}, ["live", "100.5"]),
        "batch": ({"live": 100, "batch": 51}, ["batch", "half", "51", "A tenth"]),
        "no batch": ({"batch": 0}, ["batch", "at least 1"]),
        "steps": ({"steps": 0}, ["steps", "at least 1"]),
        "runs": ({"runs": 0}, ["runs", "at least 1"]),
        "tolerance": ({"tolerance": 0.0}, ["tolerance", "(0, 1)", "0.0", "0.001"]),
        "seed": ({"seed": -1}, ["seed", "-1"]),
        "executor": ({"executor": infer.Devices()}, ["infer.NestedSampling", "Devices", "Threads()"]),
        "executor of a kind": ({"executor": infer.Threads}, ["executor", "infer.Threads()", "parentheses"]),
        "store": ({"store": "run"}, ["store", "RunFolder"]),
        "unknown": ({"points": 100}, ["'points'", "live"]),
    }
)
def test_bad_options_are_refused(case):
    options, words = case
    with pytest.raises(OptionError) as raised:
        found(normal(Y), **options)
    for word in words:
        assert word in str(raised.value)


@each(
    {
        "an improper prior": (improper, ModelError, ["infer.NestedSampling", "'x'", "improper"]),
        "a discrete unknown without end": (counted, AccordError, ["'k'"]),
        "few points": (wide, OptionError, ["40 unknown", "live=60", "live=80"]),
        "a model that was not called": (lambda: normal, OptionError, ["Call the model with its data"]),
        "draws": (lambda: {"m": np.zeros((1, 10))}, OptionError, ["dict", "infer.BridgeSampling()"]),
        "a density of a function": (
            lambda: ac.LogDensity.from_function(lambda x: -(x**2), 0.0),
            ModelError,
            ["infer.NestedSampling", "prior"],
        ),
    }
)
def test_targets_without_a_prior_to_begin_at_are_refused(case):
    make, error, words = case
    with pytest.raises(error) as raised:
        found(make(), **SMALL)
    for word in words:
        assert word in str(raised.value)


def test_evidence_of_a_model_alone_names_the_method():
    with pytest.raises(OptionError, match=r"infer\.evidence\(model, infer\.NestedSampling\(\)\)"):
        infer.evidence(normal(Y))


def test_a_likelihood_that_is_zero_everywhere_is_explained():
    with pytest.raises(InitializationError, match=r"(?s)run 0: .*60 tries, drawn from the prior.*'f'"):
        found(only(0.0), **SMALL)


def test_a_run_that_fails_is_left_out_and_no_numbers_are_told():
    evidence = found(only(0.03), runs=6, seed=2, **SMALL)  # 1.8 draws of the prior are possible, on average
    codes = [notice.code for notice in evidence.notices]
    assert "run_failed" in codes and "likelihood_not_finite" in codes
    assert 0 < len(evidence.draws.by_run) < 6
    assert evidence.value == pytest.approx(np.log(0.03), abs=1.5)


def test_a_run_that_does_not_end_says_so(monkeypatch):
    monkeypatch.setattr(machine, "MOST_ROUNDS", 3)
    evidence = found(normal(Y), executor=infer.Serial(), **SMALL)
    notice = next(each for each in evidence.notices if each.code == "likelihood_still_rises")
    assert notice.severity == "error" and "3 rounds" in notice.message


def test_findings_of_nothing_are_an_interruption_and_moves_that_stay_are_told():
    settings = {"tolerance": 1e-3, "steps": 2}
    manifest = {"draws": 60, "settings": settings}
    none = Ended(0, {}, np.zeros(0), None, None, None, None)
    assert [each.code for each in findings([none], [], manifest)] == ["interrupted"]
    rounds = {"left": np.array([0.0]), "stayed": np.array([50.0]), "non_finite": np.zeros(1)}
    even = np.tile((np.arange(60) + 0.5) / 60, 2)
    stuck = Ended(0, rounds, even, np.zeros((1, 1)), np.zeros(1), np.zeros(1), {})
    assert [each.code for each in findings([stuck], [], manifest)] == ["moves_stayed"]
