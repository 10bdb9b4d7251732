"""Hold that inference is tested on simulated data: what is right passes, what is wrong is found and named.

A right model fails `test_a_conjugate_model_is_calibrated` with a chance of 1e-5, its false-alarm rate; keys are fixed.
"""

import dataclasses
import itertools
import re
import signal
import time
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ctrl_c import is_heard
from jax import monitoring
from laws import each
from losing import Losing

import accord as ac
import accord.distributions as dist
from accord import LogDensity, infer
from accord.calibration import carry_out, simulations
from accord.calibration.calibration import Calibration, Trial
from accord.calibration.findings import findings
from accord.calibration.ranks import rank, share_below
from accord.calibration.stored import describe
from accord.calibration.uniformity import Uniformity, holm, shape_of
from accord.core.errors import InitializationError, ModelError, OptionError, SiteError
from accord.core.notice import Notice
from accord.runs.interrupts import Interrupts

QUIET = dict(progress=False, quiet=True, executor=infer.Serial())
SHORT = dict(draws=30, thinning=3, warmup=100, seed=4, **QUIET)
GROUPS, PER_GROUP = 2, 4


class Misdrawn(dist.AbstractDistribution):
    """A normal distribution whose draws are `factor` times as wide as its density says."""

    loc: jax.Array
    factor: jax.Array

    parameters: ClassVar = {"loc": dist.constraints.real, "factor": dist.constraints.positive}

    @property
    def support(self):
        return dist.constraints.real

    def log_prob(self, value):
        return dist.Normal(self.loc, 1.0).log_prob(value)

    def sample(self, key, sample_shape=()):
        return dist.Normal(self.loc, self.factor).sample(key, sample_shape)


@ac.model
def groups(factor, y):
    with ac.plate("group", y.shape[1], coords=["a", "b"]):
        mu = ac.sample("mu", dist.Normal(1.0, 3.0))
        with ac.plate("row", y.shape[0]):
            ac.sample("y", Misdrawn(mu, factor), obs=y)


@ac.model
def bounded(y):
    mu = ac.sample("mu", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(jnp.where(mu > 0.5, jnp.inf, mu), 1.0), obs=y)


@ac.model
def shifted():
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    shift = ac.sample("shift", dist.Normal(0.0, 1.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(m + shift, 0.5))


@ac.model
def weighed(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.factor("weight", -(m**2))
    ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def flat(y):
    m = ac.sample("m", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def branching(y):
    m = ac.sample("m", dist.Normal(0, 1))
    m = m + 1 if ac.sample("y", dist.Normal(m, 1), obs=y) > 0 else m
    ac.sample("x", dist.Normal(m, 1), obs=1.0)


@ac.model
def named_lp(y):
    lp = ac.sample("lp", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(lp, 1), obs=y)


@ac.model
def unobserved():
    ac.sample("m", dist.Normal(0, 1))


def conjugate(factor=1.0):
    return groups(np.float64(factor), np.zeros((PER_GROUP, GROUPS)))


@pytest.fixture(scope="module")
def right():
    return infer.calibrate(conjugate(), simulations=60, **SHORT)


@pytest.fixture(scope="module")
def first():
    """The first eight of them, in a fifth of the time."""
    return infer.calibrate(conjugate(), simulations=8, **SHORT)


def test_a_conjugate_model_is_calibrated(right):
    assert right.values["p_adjusted"].min() > 1e-5, right
    assert right.num_ranks == 31 and right.simulations == tuple(range(60))
    assert right.ranks["mu"].shape == (60, GROUPS) and right.ranks["lp"].shape == (60,)
    assert right.labels == ("mu[a]", "mu[b]", "lp")
    assert min(ranks.min() for ranks in right.ranks.values()) >= 0
    assert max(ranks.max() for ranks in right.ranks.values()) <= 30


def test_data_that_are_wider_than_the_model_says_are_found():
    found = infer.calibrate(conjugate(factor=3.0), simulations=40, **SHORT)
    (notice,) = [each for each in found.notices if each.code == "not_calibrated"]
    assert notice.severity == "error" and notice.sites == ("mu",) and not found.ok
    assert found.shapes[:2] == ("too narrow", "too narrow")
    assert "'mu[a]' too narrow" in notice.message
    assert "too narrow" in found.text() and str(notice) in str(found)


def test_a_longer_calibration_begins_with_a_shorter_one(right, first):
    for name, ranks in first.ranks.items():
        np.testing.assert_array_equal(ranks, right.ranks[name][:8])
    with counting() as compiled:
        short = infer.calibrate(conjugate(), simulations=3, **SHORT)
    assert not compiled, compiled
    for name, ranks in short.ranks.items():
        np.testing.assert_array_equal(ranks, right.ranks[name][:3])
    assert short.seeds == {number: right.seeds[number] for number in range(3)}


def test_a_simulation_is_made_again_from_its_seed(first):
    kept = slice(None, None, SHORT["thinning"])
    options = {**SHORT, "draws": 29 * SHORT["thinning"] + 1, "seed": first.seeds[7]}
    del options["thinning"]
    again = infer.simulate_and_recover(conjugate(), chains=[0], **options)
    ranks = rank(again.draws["mu"][0, kept], again.truth["mu"], np.random.default_rng(0))
    np.testing.assert_array_equal(ranks, first.ranks["mu"][7])
    assert again.data["y"].shape == (PER_GROUP, GROUPS)
    y = again.data["y"]
    mean = (1.0 / 9 + y.sum(axis=0)) / (1.0 / 9 + PER_GROUP)
    sd = (1.0 / 9 + PER_GROUP) ** -0.5
    assert np.all(np.abs(again["mean"] - mean) < sd)
    np.testing.assert_allclose(again["z"], (again.truth["mu"] - again["mean"]) / again["sd"])
    np.testing.assert_allclose(again["rank"], share_below(again.draws["mu"][0], again.truth["mu"]))


def test_a_recovery_prints_and_says_what_is_far_from_its_truth():
    found = infer.simulate_and_recover(conjugate(factor=1000.0), draws=200, warmup=100, chains=1, **QUIET)
    (notice,) = found.notices
    assert (notice.code, notice.severity, notice.sites) == ("truth_far", "warning", ("mu",))
    assert re.search(
        r"2 of 2 parameters: .*'mu\[a\]' \([+-]\d+ sd\).*by chance it would for about 0.02\.", notice.message
    )
    lines = str(found).splitlines()
    assert lines[0].split() == ["truth", "mean", "sd", "5%", "95%", "rank", "z"]
    assert lines[1].startswith("mu[a]") and lines[3] == str(notice)
    frame = found.to_dataframe()
    assert list(frame.index) == ["mu[a]", "mu[b]"] and list(frame.columns) == list(found.values)
    with pytest.raises(OptionError, match="Did you mean 'mean'"):
        found["maen"]


def test_a_calibration_prints_a_row_for_each_scalar(first):
    lines = first.text(ramp=" .:-=+*#@").splitlines()
    assert lines[0] == "groups: ranks of the truth among 30 draws in 8 of 8 simulations"
    assert [line.split()[0] for line in lines[2:5]] == list(first.labels)
    assert list(first.to_dataframe()["shape"]) == list(first.shapes)


def test_a_calibration_is_drawn_with_its_band(right):
    panels = right.plot().figure.panels
    assert len(panels) == len(right)
    test = Uniformity(60, 31)
    band, _, line = panels[0].marks
    np.testing.assert_allclose(line.y[1:-1], test.counts(right.ranks["mu"][:, 0]) / 60 - test.cuts / 31)
    np.testing.assert_allclose(band.low[1:-1], test.band()[0] / 60 - test.cuts / 31)
    np.testing.assert_allclose(band.high[1:-1], test.band()[1] / 60 - test.cuts / 31)


def test_simulations_that_cannot_be_run_are_counted_and_named():
    found = infer.calibrate(bounded(np.ones(())), simulations=8, **SHORT)
    (notice,) = [each for each in found.notices if each.code == "failed_simulations"]
    lost = sorted(set(range(8)) - set(found.simulations))
    assert lost and found.ranks["mu"].shape == (8 - len(lost),)
    assert notice.severity == "error" and f"{len(lost)} of them have no ranks" in notice.message
    assert "(SiteError: site 'y': 1 of 1 observed values are infinite)" in notice.message
    number = int(re.search(r"makes simulation (\d+) again", notice.remedy)[1])
    assert f"seed={found.seeds[number]})" in notice.remedy


@pytest.mark.parametrize(("way", "num_done"), [("between runs", 2), ("in a run", 2), ("between runs", 0)])
def test_an_interrupt_returns_what_is_done(first, monkeypatch, way, num_done):
    attach, calls = simulations.attach, itertools.count()

    def interrupted(order, interrupts):
        if next(calls) < num_done:
            return attach(order, interrupts)
        signal.raise_signal(signal.SIGINT)
        waits = itertools.count()
        while not interrupts.is_stopped():
            assert next(waits) < 6000, "nobody has heard it"
            time.sleep(0.01)
        if way == "between runs":
            return attach(order, interrupts)
        return dataclasses.replace(attach(order, Interrupts()), complete=False)

    monkeypatch.setattr(simulations, "attach", interrupted)
    with is_heard():
        found = infer.calibrate(conjugate(), simulations=60, **SHORT)
    np.testing.assert_array_equal(found.ranks["mu"], first.ranks["mu"][:num_done])
    assert (
        found.notices[0].code == "incomplete" and f"{num_done} of 60 simulations" in found.notices[0].message
    )
    assert str(found).startswith(f"groups: ranks of the truth among 30 draws in {num_done} of 60")


def test_a_second_interrupt_returns_what_is_done_too(first, monkeypatch):
    attach, calls = simulations.attach, itertools.count()

    def pressed_twice(call, stop, interrupts, say):
        def stopped(order, interrupts):
            if next(calls) == 2:
                stop.set()
            return attach(order, interrupts)

        monkeypatch.setattr(simulations, "attach", stopped)
        call()
        raise KeyboardInterrupt

    monkeypatch.setattr(carry_out, "patiently", pressed_twice)
    found = infer.calibrate(conjugate(), simulations=60, **SHORT)
    np.testing.assert_array_equal(found.ranks["mu"], first.ranks["mu"][:2])


def simulating(options):
    return simulations.Simulating(conjugate(), infer.NUTS(), options, 0, "float64", infer.Serial())


def test_a_simulation_may_take_as_long_as_it_takes():
    method = simulating({})
    assert method.pace.patience == method.pace.patience_at_first == np.inf


WHERE = {
    "threads": lambda: infer.Threads(workers=3),
    "devices": lambda: infer.Devices(),  # each simulation with all of them
    "threads that are lost": lambda: Losing(num_losses=3),
    "processes": lambda: infer.Processes(workers=2),
}


@each(WHERE)
def test_ranks_do_not_depend_on_where_simulations_run(where, first):
    found = infer.calibrate(conjugate(), simulations=8, **(SHORT | dict(executor=where)))
    assert found.simulations == tuple(range(8))
    np.testing.assert_array_equal(found.ranks["mu"], first.ranks["mu"])


def test_a_simulation_whose_workers_are_lost_again_and_again_is_left_out(first):
    found = infer.calibrate(conjugate(), simulations=3, **(SHORT | dict(executor=Losing(num_losses=4, of=1))))
    np.testing.assert_array_equal(found.ranks["mu"], first.ranks["mu"][1:3])
    (notice,) = [each for each in found.notices if each.code == "failed_simulations"]
    assert "WorkerError: its worker was lost again and again" in notice.message


def test_what_a_simulation_raises_that_is_no_fault_of_its_data_reaches_the_caller(monkeypatch):
    monkeypatch.setattr(simulations, "prepared", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        infer.calibrate(conjugate(), simulations=8, **SHORT)


def test_simulated_data_take_the_place_of_what_was_observed_however_it_was_given():
    model = shifted().condition({"y": np.full(3, 9.0)}).do({"shift": 50.0})
    for given in (model, model.condition({"y": np.full(3, 8.0)})):
        found = infer.simulate_and_recover(given, draws=50, warmup=100, chains=1, **QUIET)
        assert np.all(found.data["y"] > 40) and list(found.truth) == ["m"]
        assert found.notices == () and abs(found["mean"][0] - (found.data["y"] - 50).mean()) < 1


REFUSED = {
    "values needed to trace": (
        lambda: infer.calibrate(branching(0.5), **QUIET),
        ModelError,
        "site 'y': its values",
    ),
    "nothing observed": (
        lambda: infer.calibrate(unobserved(), **QUIET),
        ModelError,
        "'unobserved' observes nothing",
    ),
    "a site called lp": (
        lambda: infer.calibrate(named_lp(0.0), **QUIET),
        ModelError,
        "'lp' has the name.*Rename",
    ),
    "a factor": (
        lambda: infer.calibrate(weighed(0.0), **QUIET),
        SiteError,
        "factor 'weight'.*cannot be simulated",
    ),
    "an improper prior": (
        lambda: infer.simulate_and_recover(flat(0.0), **QUIET),
        SiteError,
        "site 'm'.*no draws",
    ),
    "a density": (
        lambda: infer.calibrate(LogDensity.from_model(flat(0.0)), **QUIET),
        OptionError,
        "Give the model that it was made from",
    ),
    "a function": (lambda: infer.calibrate(flat, **QUIET), OptionError, "model called with its data"),
    "no simulations": (lambda: infer.calibrate(flat(0.0), simulations=0), OptionError, "simulations must be"),
    "a seed": (lambda: infer.simulate_and_recover(flat(0.0), seed=-1), OptionError, "seed must be"),
    "a misspelling": (
        lambda: infer.calibrate(flat(0.0), simulation=3),
        OptionError,
        "Did you mean 'simulations'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_simulated_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call()


def test_the_rank_counts_the_draws_below_and_breaks_ties_at_random():
    draws = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
    truth = np.array([2.5, 0.0])
    found = np.array([rank(draws, truth, np.random.default_rng(seed)) for seed in range(200)])
    assert set(found[:, 0]) == {2} and set(found[:, 1]) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(share_below(draws, truth), [0.5, 0.5])


@pytest.mark.parametrize(("num", "num_ranks"), [(1, 5), (3, 4), (5, 3), (4, 2)])
def test_p_values_and_bands_are_those_of_all_possible_samples(num, num_ranks):
    test = Uniformity(num, num_ranks)
    every = [np.array(ranks) for ranks in itertools.product(range(num_ranks), repeat=num)]
    p = np.array([test.p_value(ranks) for ranks in every])
    for value in set(p.round(12)):
        assert np.mean(p <= value + 1e-9) == pytest.approx(value, abs=1e-9)
    low, high = test.band(0.8)
    inside = [np.all((low <= test.counts(ranks)) & (test.counts(ranks) <= high)) for ranks in every]
    assert np.mean(inside) >= 0.8


def test_ranks_that_are_far_from_uniform_have_small_p_values_and_a_word():
    generator = np.random.default_rng(0)
    cases = {
        "too wide": generator.beta(2, 2, 300),
        "too narrow": generator.beta(0.5, 0.5, 300),
        "too low": generator.beta(1.7, 1, 300),
        "too high": generator.beta(1, 1.7, 300),
    }
    test = Uniformity(300, 101)
    for word, u in cases.items():
        ranks = (101 * u).astype(int)
        assert test.p_value(ranks) < 1e-4 and shape_of(ranks, 101) == word
    assert test.p_value(np.zeros(300, int)) < 1e-100
    assert test.p_value(np.arange(300) % 101) > 0.5


def test_p_values_are_adjusted_by_holm():
    np.testing.assert_allclose(holm(np.array([0.5, 0.01, 0.02, 0.6])), [1.0, 0.04, 0.06, 1.0])


def test_what_is_known_of_the_runs_is_said():
    options = dict(draws=10, warmup=100, thinning=5)
    manifest = describe(LogDensity.from_model(bounded(np.ones(()))), simulating(options), {}, 22)
    bad = (Notice("error", "constant_chains", "It did not move.", "Look."),)
    diverged = (Notice("warning", "divergences", "Some.", "Look."),)
    trials = [
        Trial(
            number,
            100 + number,
            bad if number == 3 else diverged,
            {"mu": np.array(number % 11), "lp": np.array(number % 11)},
            {"mu": np.array([2.0]), "lp": np.array([np.nan])},
        )
        for number in range(22)
    ]
    found = Calibration.of(manifest, trials)
    failed, diverging, dependent = findings(found, trials)
    assert "1 of 22 simulations" in failed.message and "3 (constant_chains)" in failed.message
    assert "no ranks" not in failed.message and "seed=103" in failed.remedy
    assert "in 21 of 22" in diverging.message and diverging.severity == "warning"
    assert "worth 2 independent" in dependent.message and "thinning=25" in dependent.remedy


def test_where_nothing_could_be_run_the_reason_is_raised(monkeypatch):
    def refuses(*_, **__):
        raise InitializationError("no start")

    monkeypatch.setattr(simulations, "attach", refuses)
    with pytest.raises(InitializationError, match="no start"):
        infer.calibrate(conjugate(), simulations=2, **SHORT)


class counting:  # noqa: N801 - read as a word
    """The compilations within the block."""

    def __enter__(self):
        self.names = []
        monitoring.register_event_duration_secs_listener(self._listen)
        return self.names

    def __exit__(self, *_):
        monitoring.unregister_event_duration_listener(self._listen)

    def _listen(self, event, seconds, **details):
        if event == "/jax/core/compile/backend_compile_duration":
            self.names.append(details.get("fun_name", ""))
