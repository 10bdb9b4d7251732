"""Have `infer.check` find parallel likelihoods that are not complete, and say so of those that are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import ModelError, OptionError
from accord.density import LogDensity

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ [1.0, -1.0]
BOTH = infer.Devices(shard={"x": 0, "y": 0})


@ac.model
def line(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def centred(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("x", dist.Normal(b, 1.0).to_event(1), obs=x)
        ac.sample("y", dist.Normal((x - x.mean(0)) @ b, 1.0), obs=y)


@ac.model
def twice():
    ac.sample("b", dist.Normal(0, 1))
    ac.sample("b", dist.Normal(0, 1))


@ac.model
def nowhere(y):
    a = ac.sample("a", dist.Normal(0, 1))
    ac.sample("y", dist.Exponential(jnp.exp(a)), obs=y)


@jax.custom_vjp
def tripled(x):
    return x**2


tripled.defvjp(lambda x: (x**2, x), lambda x, seed: (3 * x * seed,))


@ac.model
def own_rule():
    a = ac.sample("a", dist.Normal(0, 1))
    b = ac.sample("b", dist.Normal(0, 1))
    ac.factor("c", -a * b - tripled(b))


def codes(report):
    return {finding.code: finding for finding in report.findings}


def test_a_complete_likelihood_is_said_to_be_complete_and_what_it_costs():
    report = infer.check(line(X, Y), executor=BOTH)
    assert report.ok
    assert (
        "40 rows of 'x', 'y', on 1 device, it is the whole model's"
        in codes(report)["parallel_complete"].message
    )
    cost = codes(report).get("parallel_does_not_pay") or codes(report)["parallel_pays"]
    assert "ms in one place" in cost.message
    report.raise_if_failed()


def test_rows_that_the_model_couples_are_named_by_site_and_argument():
    report = infer.check(centred(X, Y), executor=BOTH)
    found = codes(report)["parallel_incomplete"]
    assert not report.ok and found.sites == ("y",)
    assert "in site 'y', which depends on 'x', 'y'" in found.message
    with pytest.raises(ModelError, match=r"'centred' must not be run: The sum over the 40 rows"):
        report.raise_if_failed()


def test_a_derivative_rule_that_is_wrong_is_named_by_site():
    report = infer.check(own_rule())
    assert codes(report)["wrong_gradient"].sites == ("b",)
    assert str(report).startswith(
        "own_rule: 1 error\nerror: The gradient is not that of the log density at 3 of 3"
    )


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_nothing_is_found_in_a_model_without_faults(precision):
    report = infer.check(line(X, Y), precision=precision)
    assert report.ok and not report.warnings
    assert str(report).startswith("line: nothing wrong was found")


REFUSED = {
    "a site defined twice": (twice(), None, "site_error", "'b' is defined twice"),
    "an argument left out": (line(X, Y), infer.Devices(shard={"x": 0}), "model_error", "named in shard"),
    "an unknown argument": (line(X, Y), infer.Devices(shard={"X": 0}), "option_error", "no data 'X'"),
    "data outside of the support": (
        nowhere(-1.0),
        None,
        "observed_outside_support",
        "1 of 1 observed values is outside of",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_run_would_refuse_is_a_finding(name):
    model, executor, code, words = REFUSED[name]
    report = infer.check(model, executor=executor)
    assert not report.ok and words in codes(report)[code].message


def test_a_request_that_cannot_be_meant_is_an_error():
    with pytest.raises(OptionError, match="Call it with its data"):
        infer.check(line)
    with pytest.raises(OptionError, match="precision must be"):
        infer.check(line(X, Y), precision="single")


def test_what_the_model_raises_passes_through():
    @ac.model
    def broken():
        raise ValueError("my own")

    with pytest.raises(ValueError, match="my own"):
        infer.check(broken())


def test_a_log_density_of_a_function_is_checked_too():
    density = LogDensity.from_function(lambda x: -jnp.sum(tripled(x)), np.zeros(2))
    assert [found.code for found in infer.check(density).errors] == ["wrong_gradient"]


@pytest.fixture(scope="module")
def on_two_devices():
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    program = [sys.executable, str(Path(__file__).with_name("check_cases.py"))]
    done = subprocess.run(
        program, env=environment, stdout=subprocess.PIPE, text=True, timeout=600, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


FAULTS = {
    "forgets psum, unchecked": ["parts_not_added_up", "wrong_gradient"],
    "forgets psum, checked": ["parts_not_added_up"],
    "gradient through psum, unchecked": ["parts_not_added_up", "wrong_gradient"],
    "psum of the gradient, checked": ["wrong_gradient", "parallel_alike"],
}


def test_a_reduction_that_is_forgotten_or_done_twice_is_found(on_two_devices):
    for name, expected in FAULTS.items():
        assert not on_two_devices[name]["ok"]
        assert sorted(on_two_devices[name]["codes"]) == sorted(expected), name


def test_a_complete_parallel_likelihood_has_no_faults(on_two_devices):
    for name in on_two_devices.keys() - FAULTS.keys():
        assert on_two_devices[name]["ok"], name
    assert "over 2 devices, and log density and gradient are the same" in on_two_devices["complete"]["text"]
    assert "on 2 devices, it is the whole model's at 3 points" in on_two_devices["sharded rows"]["text"]
