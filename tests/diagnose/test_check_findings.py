"""Have `infer.check` find what is wrong with small models: each fault by its code, with site, value and remedy."""

import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer

X = np.array([0.5, -1.0, 2.0, 0.1, -0.4])
Y = 1.0 + 2.0 * X + np.array([0.3, -0.2, 0.1, 0.0, -0.4])
FAR = 1e5 + 0.1 * np.random.default_rng(5).normal(size=100)
EVENTS: list[str] = []
TICKS = itertools.count()


@ac.model
def line(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(b * x, 1.0), obs=y)


@ac.model
def forgets_obs(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(b * x, 1.0))


@ac.model
def hangs_loose(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    c = ac.sample("c", dist.Normal(0, 1))
    ac.sample("d", dist.Normal(c, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(b * x, 1.0), obs=y)


@ac.model
def only_length(x, y):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(b, 1.0), obs=y)


@ac.model
def alone():
    ac.sample("a", dist.Normal(0, 1))


@ac.model
def bounded_by_data(y):
    top = ac.sample("top", dist.Uniform(jnp.max(y), 10.0))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Uniform(-5.0, top), obs=y)


@ac.model
def branch(y, is_positive):
    a = ac.sample("a", dist.Normal(0, 1))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", (dist.Exponential(1.0) if is_positive else dist.Normal(a, 1.0)), obs=y)


@ac.model
def below(y):
    top = ac.sample("top", dist.Gamma(2.0, 1.0))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Uniform(0.0, top), obs=y)


@ac.model
def root():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 0, jnp.sqrt(x), 0.0))


@ac.model
def logarithm():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.log(x + 1.0))


@ac.model
def endless():
    x = ac.sample("x", dist.Normal(0, 1))
    ac.factor("f", jnp.where(x > 1.5, jnp.inf, 0.0))


@ac.model
def throws_dice():
    a = ac.sample("a", dist.Normal(0, 1))
    ac.factor("f", a * np.random.normal())


@ac.model
def takes_notes():
    a = ac.sample("a", dist.Normal(0, 1))
    EVENTS.append("seen")
    ac.factor("f", -a)


@ac.model
def says_hello():
    a = ac.sample("a", dist.Normal(0, 1))
    print("hello")
    ac.factor("f", -a)


@ac.model
def remembers():
    a = ac.sample("a", dist.Normal(0, 1))
    shape = jax.ShapeDtypeStruct((), a.dtype)
    tick = jax.pure_callback(lambda: np.asarray(next(TICKS), shape.dtype), shape)
    ac.factor("f", -a + 0.0 * a + tick)


@ac.model
def tosses(y):
    p = ac.sample("p", dist.Beta(1, 1))
    z = ac.sample("z", dist.Bernoulli(p))
    k = ac.sample("k", dist.Poisson(2.0))
    ac.sample("y", dist.Normal(z + k, 1.0), obs=y)


@ac.model
def twice():
    ac.sample("b", dist.Normal(0, 1))
    ac.sample("b", dist.Normal(0, 1))


@ac.model
def wrong_plate(y):
    b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(b, 1.0), obs=y)


@ac.model
def far_off(y):
    a = ac.sample("a", dist.Normal(1e5, 10))
    with ac.plate("row", y.shape[0]):
        ac.sample("y", dist.Normal(a, 0.1), obs=y)


@ac.model
def flat(x, y):
    b = ac.sample("b", dist.ImproperUniform(dist.constraints.real, (), ()))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(jax.nn.sigmoid(b) * x, 1.0), obs=y)


def with_nan(values):
    return np.where(np.arange(values.size) == 3, np.nan, values)


# By fault: the model, then severity, code, sites and words that the finding must have.
FAULTS = {
    "data that nothing uses": (
        lambda: forgets_obs(X, Y),
        ("warning", "unused_data", (), ("argument 'y'", "`obs=`")),
    ),
    "sites of which no data says anything": (
        lambda: hangs_loose(X, Y),
        ("info", "prior_only", ("c", "d"), ("'c', 'd'",)),
    ),
    "a model without data": (lambda: alone(), ("info", "nothing_observed", (), ("its prior",))),
    "a support that is data": (
        lambda: bounded_by_data(Y),
        ("info", "support_depends_on_data", ("top",), ("'top' depends on 'y'",)),
    ),
    "data outside of the support": (
        lambda: branch(Y, True),
        (
            "error",
            "observed_outside_support",
            ("y",),
            (
                "2 of 5 observed values are outside of the support of Exponential",
                "-1.2 at index 1 of argument 'y'",
            ),
        ),
    ),
    "a NaN observation": (
        lambda: line(X, with_nan(Y)),
        (
            "error",
            "observed_not_finite",
            ("y",),
            ("'y' observes nan at index 3, 1 of 5 values", "jnp.isfinite(y)"),
        ),
    ),
    "a NaN covariate": (
        lambda: line(with_nan(X), Y),
        ("error", "nowhere_finite", ("y",), ("site 'y' has log density nan", "at index 3")),
    ),
    "an observation above a latent bound": (
        lambda: below(np.array([0.5, 3.0])),
        ("warning", "outside_support", ("y",), ("3 at index 1", "Uniform", "bound that by the data")),
    ),
    "a root under a where": (
        lambda: root(),
        (
            "warning",
            "undefined_gradient",
            ("x", "f"),
            ("sqrt", "test_check_findings.py", "by site 'x'", "`where`"),
        ),
    ),
    "a logarithm of what may be negative": (
        lambda: logarithm(),
        (
            "warning",
            "undefined_log_density",
            ("f",),
            ("factor site 'f'", "log of -", "100 points between -2 and 2"),
        ),
    ),
    "an infinite factor": (
        lambda: endless(),
        ("error", "infinite_log_density", ("f",), ("+inf", "factor site 'f' has log density inf")),
    ),
    "random numbers of its own": (
        lambda: throws_dice(),
        ("error", "not_repeatable", ("f",), ("in site 'f'", "np.random", "pass the result as data")),
    ),
    "a list that grows": (lambda: takes_notes(), ("warning", "changes_state", (), ("'EVENTS'",))),
    "a callback that remembers": (
        lambda: remembers(),
        ("error", "not_a_function", ("f",), ("At the same position", "in site 'f'", "callback")),
    ),
    "a count without end": (
        lambda: tosses(1.0),
        (
            "error",
            "site_error",
            ("k",),
            ("Poisson has infinitely many values", "`handlers.collapse(model, {'k': 100})`"),
        ),
    ),
    "one name for two sites": (lambda: twice(), ("error", "site_error", ("b",), ("'b' is defined twice",))),
    "a plate of the wrong size": (lambda: wrong_plate(Y), ("error", "site_error", ("y",), ("'row'", "5"))),
    "an offset that float32 cannot resolve": (
        lambda: far_off(FAR),
        ("info", "float32_too_coarse", ("y",), ("Float32 would not do", "above 0.1", "subtract means")),
    ),
    "a direction that is flat": (
        lambda: flat(X, Y),
        (
            "warning",
            "flat_direction",
            ("b",),
            ("Along site 'b' the log density does not fall", "proper prior"),
        ),
    ),
    "what it costs": (
        lambda: line(X, Y),
        ("info", "cost", (), ("One gradient takes", "4 chains of 350 + 1000 draws", "10 to 100 gradients")),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_and_named(name):
    model, (severity, code, sites, words) = FAULTS[name]
    report = infer.check(model())
    found = {each.code: each for each in report.findings}[code]
    assert (found.severity, found.sites) == (severity, sites)
    for word in words:
        assert word in str(found), word
    assert report.ok == (not any(each.severity == "error" for each in report.findings))


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_model_without_faults_has_none(precision):
    report = infer.check(line(X, Y), precision=precision)
    assert {each.code for each in report.findings} == {"cost", "float32_suffices"}
    assert all(each.severity == "info" for each in report.findings)


def test_an_argument_of_which_the_length_is_used_is_used():
    report = infer.check(only_length(X, Y))
    assert "unused_data" not in {each.code for each in report.findings}


def test_a_print_is_no_fault(capsys):
    report = infer.check(says_hello())
    assert report.ok and not {"changes_state", "not_repeatable"} & {each.code for each in report.findings}


def test_float32_is_refused_where_it_is_too_coarse():
    report = infer.check(far_off(FAR), precision="float32")
    (found,) = [each for each in report.findings if each.code == "float32_too_coarse"]
    assert found.severity == "warning" and 'precision="float64"' in found.remedy


def test_data_that_only_float64_can_hold_is_no_fault_of_a_run_in_float64():
    @ac.model
    def counts(k):
        rate = ac.sample("rate", dist.Gamma(2.0, 1e-9))
        ac.sample("k", dist.Poisson(rate), obs=k)

    report = infer.check(counts(np.array(3_000_000_000)))
    (found,) = [each for each in report.findings if each.code == "precision_not_compared"]
    assert report.ok and "do not fit int32" in found.message


def test_a_prior_without_draws_is_said_and_passed_over():
    report = infer.check(flat(X, Y))
    (found,) = [each for each in report.findings if each.code == "no_prior_draws"]
    assert found.severity == "info" and "'b'" in found.message


@pytest.mark.slow
def test_a_check_of_a_slow_model_ends_in_time():
    @ac.model
    def slow():
        a = ac.sample("a", dist.Normal(0, 1))
        shape = jax.ShapeDtypeStruct((), a.dtype)
        ac.factor("f", 0.0 * jax.pure_callback(_wait, shape, jax.lax.stop_gradient(a)))

    _waited.clear()
    assert infer.check(slow()).ok
    assert len(_waited) < 4000  # ten times what is needed


_waited = []


def _wait(value):
    _waited.append(1)
    time.sleep(0.05)
    return np.asarray(value)
