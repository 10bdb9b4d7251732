"""Hold particle filters against exact filters, and refuse models that do not fit.

Each average is compared with its exact value within 6 standard errors, a false-alarm rate of 2e-9 for each: 1 + 10 of
the linear Gaussian series, 4 of its evidence by other filters, 1 of small ones.
"""

import jax
import jax.numpy as jnp
import numpy as np
import particle_models as models
import pytest
from laws import compiled, each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.core.errors import ModelError, OptionError, SiteError
from accord.density.joint import Predictive
from accord.density.matching import Held
from accord.particles.filter_loop import Way
from accord.particles.filtered import filtered
from accord.particles.fit import fit_of
from accord.resampling import AbstractResampling

NUM = 20_000


@pytest.fixture(scope="module")
def series():
    return infer.filter(models.autoregression(models.Y), {"a": 0.9}, particles=NUM, trajectories=5, seed=1)


def test_evidence_and_moments_are_those_of_the_kalman_filter(series):
    assert abs(series.log_evidence.value - models.LOG_EVIDENCE) < 6 * series.log_evidence.standard_error
    assert 0.007 < series.log_evidence.standard_error < 0.017  # 0.0106 by the variation of filters
    mean = np.array([series.mean["first"], *series.mean["x"]])
    sd = np.array([series.sd["first"], *series.sd["x"]])
    # Weights and earlier resampling make of a standard error at most this multiple of that of independent draws.
    assert np.all(np.abs(mean - models.FILTERED_MEAN) < 6 * 2 * models.FILTERED_SD / np.sqrt(NUM))
    assert np.all(np.abs(sd - models.FILTERED_SD) < 6 * 2 * models.FILTERED_SD / np.sqrt(2 * NUM))
    assert series.ess.shape == (4,) and np.all((series.ess > 0.2 * NUM) & (series.ess <= NUM))


def test_trajectories_hold_all_that_belongs_to_the_particle(series):
    assert {name: each.shape for name, each in series.trajectories.items()} == {"first": (5,), "x": (5, 4)}
    assert not series.notices and "20000 particles" in str(series)


def prepared(model, given):
    """Return a function from a key and a way to what a filter finds."""
    held = {name: Held.of(np.shape(value), (), {}) for name, value in given.items()}
    dtypes = {name: np.asarray(value).dtype for name, value in given.items()}
    target = Predictive.of(model, held, dtypes, "float64", draws_others=True)
    names = [each.name for each in target.layout.unknowns if each.name not in given]
    fit = fit_of(lambda values, handlers: target.sites_within(values, *handlers), names, "test", given)

    def run(key, way):
        return filtered(lambda handlers: target.sites_within(given, *handlers), fit, way, given, key, 1)

    return run


def estimates(model, given, way, repeats, key=0):
    """Return the log likelihood and the smallest effective size of many filters."""
    with precision.scope("float64"):
        run = prepared(model, given)

        def one(key):
            found = run(key, way)
            return found["log_likelihood"], found["ess"].min(), found["variance"]

        keys = jax.random.split(jax.random.key(key), repeats)
        return [np.asarray(each) for each in compiled(lambda keys: jax.lax.map(one, keys))(keys)]


def test_the_evidence_of_two_particles_is_unbiased():
    way = Way(2, 1.0, infer.Multinomial())
    logs, _, _ = estimates(models.hidden(models.TOSSES[:3]), {}, way, 10_000)
    found = np.exp(logs)
    assert abs(found.mean() - models.THREE_STEPS) < 6 * found.std() / np.sqrt(len(found))
    assert found.std() > 0.3 * models.THREE_STEPS  # single ones say little


def exactly_next(values, carry, x):
    """The distribution of a state given the one before it and its observation."""
    precision = 1 / 0.25 + 1
    return {"x": dist.Normal((values["a"] * carry / 0.25 + x) / precision, precision**-0.5)}


def exactly_ahead(values, carry, x):
    return dist.Normal(values["a"] * carry, np.sqrt(1.25)).log_prob(x)


WAYS = {
    "stratified, at every step": Way(200, 1.0, infer.Stratified()),
    "residual": Way(200, 0.5, infer.Residual()),
    "guided": Way(200, 0.5, infer.Systematic(), exactly_next),
    "auxiliary": Way(200, 1.0, infer.Systematic(), exactly_next, exactly_ahead),
}


@pytest.mark.slow
@each(WAYS)
def test_evidence_is_unbiased_in_other_ways(way):
    logs, ess, variance = estimates(models.autoregression(models.Y), {"a": np.float64(0.9)}, way, 400)
    ratio = np.exp(logs - models.LOG_EVIDENCE)
    assert abs(ratio.mean() - 1) < 6 * ratio.std() / np.sqrt(len(ratio))
    assert 0.5 < np.sqrt(np.mean(variance)) / logs.std() < 2
    if way.lookahead is not None:  # fully adapted: all weights are alike
        assert np.all(ess > 200 * (1 - 1e-9))


@ac.model
def from_nothing(y, a, start_sd, sd):
    """The linear Gaussian series with its first state in the scan too: inputs of a step are its data and its number."""

    def step(x, now):
        y_t, t = now
        x = ac.sample("x", dist.Normal(a * x, jnp.where(t == 0, start_sd, sd)))
        ac.sample("y", dist.Normal(x, 1.0), obs=y_t)
        return x, None

    ac.scan(step, 0.0, (y, jnp.arange(len(y))))


class Twist:
    """Likelihood of a state by the observations from its step on: exp(-p x^2/2 + b x + c), by Kalman's recursion.

    As proposal and lookahead they make the filter twisted: Guarniero, Johansen & Lee (2017), JASA 112(520), 1636-1647.
    """

    def __init__(self, y, a, start_sd, sd):
        self.a, self.scales = a, np.where(np.arange(len(y)) == 0, start_sd, sd)
        p = b = c = 0.0  # of what comes after a step, by its state
        found = []
        for t in reversed(range(len(y))):
            p, b, c = p + 1, b + y[t], c - 0.5 * (y[t] ** 2 + np.log(2 * np.pi))
            found.insert(0, (p, b, c))
            q = self.scales[t] ** 2
            spread = 1 + q * p
            p, b, c = a**2 * p / spread, a * b / spread, c + 0.5 * (q * b**2 / spread - np.log(spread))
        self.p, self.b, self.c = np.array(found).T

    def at(self, carry, now):
        _, t = now
        p, b, c, scale = (jnp.asarray(each)[t] for each in (self.p, self.b, self.c, self.scales))
        return self.a * carry, scale**2, p, b, c

    def proposal(self, values, carry, now):
        m, q, p, b, _ = self.at(carry, now)
        return {"x": dist.Normal((m + q * b) / (1 + q * p), jnp.sqrt(q / (1 + q * p)))}

    def lookahead(self, values, carry, now):
        m, q, p, b, c = self.at(carry, now)
        spread = 1 + q * p
        return c + (-0.5 * p * m**2 + b * m + 0.5 * q * b**2) / spread - 0.5 * jnp.log(spread)


@pytest.mark.slow
def test_an_exactly_twisted_filter_knows_the_evidence_with_any_particles_and_seed():
    series = (models.Y, 0.9, 1.0, 0.5)
    model, twist = from_nothing(*series), Twist(*series)
    for particles, seed, ess in ((1, 0, 0.5), (3, 1, 0.5), (40, 2, 1.0)):
        options = dict(particles=particles, seed=seed, ess=ess)
        found = infer.filter(model, proposal=twist.proposal, lookahead=twist.lookahead, **options)
        assert abs(found.log_likelihood - models.LOG_EVIDENCE) < 1e-8
    untwisted = infer.filter(model, particles=40, seed=2)
    assert abs(untwisted.log_likelihood - models.LOG_EVIDENCE) > 1e-3


@ac.model
def undefined_above(y):
    """A likelihood that is NaN above one half."""

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        ac.factor("f", jnp.where(x > 0.5, jnp.nan, dist.Normal(x, 1.0).log_prob(y_t)))
        return x, None

    ac.scan(step, 0.0, y)


@pytest.mark.slow
def test_a_weight_that_is_no_number_is_zero_and_told():
    found = infer.filter(undefined_above(np.array([0.3, 0.9])), particles=300, trajectories=200)
    assert found.trajectories["x"].max() <= 0.5 and np.isfinite(found.log_likelihood)
    assert [notice.code for notice in found.notices] == ["weight_not_finite"]


@ac.model
def impossible(y):
    def step(x, y_t):
        x = ac.sample("x", dist.Uniform(0.0, 1.0))
        ac.sample("y", dist.Uniform(0.0, x), obs=y_t)
        return x, None

    ac.scan(step, 0.0, y)


@pytest.mark.slow
def test_where_no_particle_is_left_is_told():
    found = infer.filter(impossible(np.array([0.1, 2.0, 0.1])), particles=50)
    assert found.log_likelihood == -np.inf and found.ess[0] > 0 and found.ess[1:].tolist() == [0, 0]
    (notice,) = found.notices
    assert notice.code == "no_particle_left" and "step 1" in notice.message


BEYOND = {"threads": infer.Threads(2), "processes": infer.Processes(2)}


@pytest.mark.slow
def test_a_filter_for_each_draw_is_the_same_wherever_and_beside_whatever_draws():
    model = models.autoregression(models.Y)
    draws = infer.sample(model, draws=40, warmup=100, chains=2, seed=3, progress=False, quiet=True)
    found = infer.filter(model, draws, particles=50, seed=2, executor=infer.Serial())
    assert found.log_likelihood.shape == (2, 40) and found.mean["x"].shape == (2, 40, 4)
    assert found.trajectories["first"].shape == (2, 40, 1)
    for executor in BEYOND.values():
        other = infer.filter(model, draws, particles=50, seed=2, executor=executor)
        assert np.array_equal(found.log_likelihood, other.log_likelihood)
        assert np.array_equal(found.sd["x"], other.sd["x"])
        assert np.array_equal(found.trajectories["x"], other.trajectories["x"])
    fewer = infer.filter(model, {"a": float(draws["a"][0, 0])}, particles=50, seed=2)
    assert fewer.log_likelihood == found.log_likelihood[0, 0]
    with pytest.raises(OptionError, match="a filter for each draw"):
        _ = found.log_evidence


@ac.model
def two_scans(y):
    def step(x, y_t):
        x = ac.sample("x", dist.Normal(x, 1.0))
        return x, None

    def other(x, y_t):
        return ac.sample("w", dist.Normal(x, 1.0)), None

    ac.scan(step, 0.0, y)
    ac.scan(other, 0.0, y)


@ac.model
def used_by_steps(y):
    m = ac.sample("m", dist.Normal(0.0, 1.0))

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(m + x, 1.0))
        return x, None

    ac.scan(step, m, y)


@ac.model
def used_after(y):
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    ac.scan(lambda x, y_t: (ac.sample("x", dist.Normal(x, 1.0)), None), m, y)
    ac.deterministic("twice", 2 * m)


@ac.model
def weighed(y):
    def step(x, y_t):
        x = ac.sample("x", dist.Normal(x, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y_t)
        return x, None

    with ac.handlers.scale(scale=0.5):
        ac.scan(step, 0.0, y)


@ac.model
def no_series(y):
    m = ac.sample("m", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(m, 1.0), obs=y[0])


class ByNumPy(AbstractResampling):
    """A scheme for the host alone."""

    def ancestors(self, weights, count, generator):
        return np.searchsorted(np.cumsum(weights), np.sort(generator.random(count)) * np.sum(weights))


SERIES = models.autoregression(models.Y)
REFUSED = {
    "no value": (lambda: infer.filter(SERIES), SiteError, ["'a'", "Give it a value"]),
    "no scan": (lambda: infer.filter(no_series(models.Y)), SiteError, ["ac.scan", "'m'"]),
    "two scans": (lambda: infer.filter(two_scans(models.Y)), SiteError, ["'x'", "'w'", "two scans"]),
    "used by steps": (lambda: infer.filter(used_by_steps(models.Y)), SiteError, ["'m'", "carry"]),
    "used after": (lambda: infer.filter(used_after(models.Y)), SiteError, ["'twice'", "'m'"]),
    "weighed": (lambda: infer.filter(weighed(models.Y)), SiteError, ["'x'", "handlers.scale"]),
    "no site": (lambda: infer.filter(SERIES, {"b": 0.9}), OptionError, ["'b'"]),
    "particles": (lambda: infer.filter(SERIES, {"a": 0.9}, particles=0), OptionError, ["particles"]),
    "ess": (lambda: infer.filter(SERIES, {"a": 0.9}, ess=2.0), OptionError, ["ess", "[0, 1]"]),
    "no model": (lambda: infer.filter(models.autoregression), OptionError, ["model"]),
    "proposal of no name": (
        lambda: infer.filter(SERIES, {"a": 0.9}, proposal=lambda values, carry, x: dist.Normal(carry, 1.0)),
        OptionError,
        ["mapping", "Normal"],
    ),
    "resampling by NumPy": (
        lambda: infer.filter(SERIES, {"a": 0.9}, resampling=ByNumPy()),
        OptionError,
        ["ByNumPy", "jax.numpy"],
    ),
    "no data": (
        lambda: infer.filter(weighed(np.array([1.0, np.nan]))),
        SiteError,
        ["'y'", "1 of 2", "handlers.mask"],
    ),
    "proposal": (
        lambda: infer.filter(SERIES, {"a": 0.9}, proposal=lambda values, carry, x: {}),
        OptionError,
        ["'x'", "proposal"],
    ),
}


@each(REFUSED)
def test_what_does_not_fit_is_an_error_that_names_it(case):
    call, error, words = case
    with pytest.raises((error, ModelError)) as raised:
        call()
    assert all(word in str(raised.value) for word in words), str(raised.value)
