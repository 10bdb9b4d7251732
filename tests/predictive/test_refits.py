"""Compare K-fold and leave-future-out cross-validation with closed forms and with refits by hand; keys are fixed.

Predictive densities of 4000 draws are within six of their Monte Carlo errors of the exact ones: each has a false-alarm
rate below 2e-9. Errors are those of the mean of the density over draws, at an effective sample size of 1000.
"""

import inspect
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from predicted_models import QUIET
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError, ModelError, OptionError
from accord.predictive.refit import Kept, log_mean, refit_seed

X = np.array([1.0, 2.0, 3.0, 2.5, 1.5])  # families F41
LOO = [-1.649971573, -1.030270825, -1.659946636, -1.188936661, -1.183949129]
FUTURE = [-1.879580737, -1.158702380, -1.183949129]


@ac.model
def one_mean(x):
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(x)):
        ac.sample("x", dist.Normal(mean, 1), obs=x)


@ac.model
def logistic(x, y):  # families F11
    slope = ac.sample("slope", dist.Normal(0, 1))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Bernoulli(logits=slope * x), obs=y)


def predicted(value, others, prior=10.0):
    """The exact posterior predictive distribution of a normal mean with unit noise: its log density, and an error."""
    precision = prior**-2 + len(others)
    mean, variance = others.sum() / precision, 1 / precision
    return predicted_by(mean, variance, value)


def predicted_by(mean, variance, value):
    """The log density of a number with unit noise around a normal one, and its error."""
    exact = stats.norm(mean, np.sqrt(1 + variance)).logpdf(value)
    grid = mean + np.sqrt(variance) * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    densities = stats.norm.pdf(value, grid, 1)
    return exact, 6 * densities.std() / densities.mean() / np.sqrt(1000)


def averaged(densities, weights):
    """The logarithm of a mean of predictive densities, and its error."""
    mean = np.average(densities, weights=weights)
    return np.log(mean), 6 * np.sqrt(np.average((densities - mean) ** 2, weights=weights)) / mean / np.sqrt(
        1000
    )


def check(found, exact):
    values, errors = np.array(exact).T
    assert np.all(np.abs(found - values) < errors), (found, values, errors)


def test_as_many_folds_as_observations_are_leave_one_out_of_families_f41():
    found = infer.kfold(one_mean(X), folds=5, seed=1)
    exact = [predicted(X[i], np.delete(X, i)) for i in range(5)]
    np.testing.assert_allclose([value for value, _ in exact], LOO, atol=1e-8)
    check(found.pointwise, exact)
    assert sorted(found.folds) == [0, 1, 2, 3, 4] and found.num_samples == 4000
    assert abs(found.elpd - found.pointwise.sum()) < 1e-12
    assert abs(found.se - np.sqrt(5 * found.pointwise.var())) < 1e-12
    np.testing.assert_array_equal(found.observed, X)
    assert "5-fold cross-validation of one_mean, site 'x', 5 observations" in str(found)


def test_leave_one_out_of_families_f11_is_exact():
    x, y = np.array([-1.0, 0.5, 2.0]), np.array([0, 1, 1])
    slope = np.linspace(-8, 8, 4001)
    densities = stats.logistic.cdf((2 * y[:, None] - 1) * x[:, None] * slope)
    exact = [
        averaged(densities[i], stats.norm.pdf(slope) * np.delete(densities, i, 0).prod(0)) for i in range(3)
    ]
    np.testing.assert_allclose(
        [value for value, _ in exact], [-0.421786937, -0.516882071, -0.380333187], atol=1e-8
    )
    check(infer.kfold(logistic(x, y), folds=3, seed=2).pointwise, exact)


def test_folds_are_left_out_together():
    groups = np.array([3, 3, 7, 7, 7])
    found = infer.kfold(one_mean(X), folds=groups, seed=3)
    check(found.pointwise, [predicted(X[i], X[groups != groups[i]]) for i in range(5)])
    np.testing.assert_array_equal(found.folds, groups)


def test_a_fold_is_a_run_with_a_mask():
    found = infer.kfold(one_mean(X), folds=[0, 1, 0, 1, 1], draws=100, warmup=100, chains=2, seed=4)
    kept = np.array([0, 1, 0, 1, 1]) != 1
    few = dict(draws=100, warmup=100, chains=2, seed=refit_seed(4, 1), **QUIET)
    for model in (one_mean(X).inside_of(Kept("x", kept)), masked_mean(np.where(kept, X, np.nan))):
        means = infer.sample(model, **few)["mean"].reshape(-1, 1)
        values = stats.norm.logpdf(X[~kept], means, 1)
        np.testing.assert_allclose(found.pointwise[~kept], log_mean(values), rtol=1e-6)


EVENT = "/jax/core/compile/backend_compile_duration"


def test_other_folds_and_later_times_compile_nothing():
    names = []

    def listen(name, seconds, **details):
        if name == EVENT:
            names.append(details.get("fun_name", ""))

    few = dict(draws=20, warmup=20, chains=2)
    infer.kfold(one_mean(X), folds=2, **few)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        infer.kfold(one_mean(X + 0.5), folds=4, **few)
        infer.leave_future_out(one_mean(X), first=2, **few)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert not names, names


def test_future_observations_are_predicted_from_those_before_as_in_families_f41():
    found = infer.leave_future_out(one_mean(X), first=2, seed=5)
    exact = [predicted(X[i], X[:i]) for i in range(2, 5)]
    np.testing.assert_allclose([value for value, _ in exact], FUTURE, atol=1e-8)
    check(found.pointwise, [(value, 2 * error) for value, error in exact])
    assert found.times.tolist() == [2, 3, 4] and found.refits[0] == 2 and found.pareto_k[0] == 0
    np.testing.assert_array_equal(found.observed, X[2:])
    assert "3 predicted times" in str(found)


def test_a_surprise_makes_another_run():
    series = np.array([0.1, -0.2, 0.0, 5.0, 5.2, 4.8])
    found = infer.leave_future_out(one_mean(series), first=3, draws=1000, seed=6)
    assert found.refits[:2] == (3, 4) and "runs" in str(found)
    exact = [predicted(series[i], series[:i]) for i in range(3, 6)]
    check(found.pointwise[:2], exact[:2])


@ac.model
def masked_mean(x):
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(x)), handlers.mask(mask=~np.isnan(x)):
        ac.sample("x", dist.Normal(mean, 1), obs=x)


def test_a_masked_entry_is_no_observation():
    gaps = np.array([1.0, np.nan, 3.0, 2.5, np.nan, 1.5])
    found = infer.kfold(masked_mean(gaps), folds=4, seed=7)
    known = gaps[~np.isnan(gaps)]
    check(found.pointwise, [predicted(known[i], np.delete(known, i)) for i in range(4)])
    assert sorted(found.folds) == [0, 1, 2, 3]
    later = infer.leave_future_out(masked_mean(gaps), first=1, draws=500, seed=7)
    assert later.times.tolist() == [2, 3, 5] and later.pointwise.shape == (3,)


@ac.model
def partly_missing(x):
    mean = ac.sample("mean", dist.Normal(0, 10))
    with ac.plate("row", len(x)):
        ac.sample("x", dist.Normal(mean, 1), obs=x, obs_mask=~np.isnan(x))


def test_a_missing_entry_is_no_observation():
    gaps = np.array([1.0, np.nan, 3.0, 2.5])
    found = infer.kfold(partly_missing(gaps), folds=3, seed=8)
    known = gaps[~np.isnan(gaps)]
    check(found.pointwise, [predicted(known[i], np.delete(known, i)) for i in range(3)])


@ac.model
def walk(y):
    def step(level, now):
        level = ac.sample("level", dist.Normal(level, 0.5))
        ac.sample("y", dist.Normal(level, 1.0), obs=now)
        return level, None

    ac.scan(step, jnp.zeros(()), y)


def test_a_series_in_a_loop_is_predicted_one_step_ahead():
    """The predictive densities of a local level model by the Kalman filter."""
    y = np.array([0.2, 0.9, 0.4, 1.3, 0.8])
    mean, variance, exact = 0.0, 0.0, []
    for value in y:
        variance += 0.25
        exact.append(predicted_by(mean, variance, value))
        gain = variance / (variance + 1)
        mean, variance = mean + gain * (value - mean), (1 - gain) * variance
    found = infer.leave_future_out(walk(y), first=2, seed=9)
    check(found.pointwise, [(value, 2 * error) for value, error in exact[2:]])


@ac.model
def two_kinds(y):
    mean = ac.sample("mean", dist.Normal(0, 2))
    with ac.plate("row", len(y)):
        kind = ac.sample("kind", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(mean + 3.0 * kind, 1), obs=y)


Y = np.array([0.1, -0.4, 3.2, 0.6])


def test_sites_that_are_summed_out_or_sampled_as_whole_numbers_are_predicted_alike():
    folds = np.array([0, 1, 1, 0])

    grid, shares = np.linspace(-8, 8, 4001), np.array([[0.7], [0.3]])
    by_kind = stats.norm.pdf(Y[:, None, None], grid + np.array([[0.0], [3.0]]), 1)  # (row, kind, mean)
    summed_out = (shares * by_kind).sum(1)
    weights = [stats.norm.pdf(grid, 0, 2) * summed_out[folds != folds[i]].prod(0) for i in range(4)]
    exact = [averaged(summed_out[i], weights[i]) for i in range(4)]
    summed = infer.kfold(two_kinds(Y), folds=folds, draws=1000, seed=10)
    check(summed.pointwise, exact)
    blocks = infer.Gibbs({"kind": infer.DiscreteGibbs(), ...: infer.NUTS()})
    sampled = infer.kfold(two_kinds(Y), blocks, folds=folds, draws=1000, seed=11)
    drawn = [averaged(by_kind[i].ravel(), (shares * weights[i]).ravel()) for i in range(4)]
    np.testing.assert_allclose([value for value, _ in drawn], [value for value, _ in exact], atol=1e-12)
    check(sampled.pointwise, drawn)


def test_draws_stand_for_their_model():
    few = dict(draws=50, warmup=50, chains=2, seed=12)
    draws = infer.sample(one_mean(X), **few, **QUIET)
    found, other = infer.kfold(draws, folds=2, **few), infer.kfold(one_mean(X), folds=2, **few)
    np.testing.assert_array_equal(found.pointwise, other.pointwise)
    np.testing.assert_array_equal(found.folds, other.folds)
    assert not np.array_equal(infer.kfold(draws, folds=2, **(few | {"seed": 13})).pointwise, found.pointwise)


def test_models_judged_by_folds_are_compared():
    """Observations are some forty nats less probable where their mean is 10: no noise makes up for that."""
    few = dict(folds=5, draws=200, warmup=200, chains=2)
    near = infer.kfold(one_mean(X), **few)
    far = infer.kfold(shifted(X), **few)
    found = infer.compare({"far": far, "near": near})
    assert found.names == ("near", "far") and found.values["weight"][0] > 0.9
    assert np.isnan(found.values["num_effective"]).all()
    bma = infer.compare({"far": far, "near": near}, weights="pseudo_bma")
    assert bma.values["weight"][0] > 0.9
    with pytest.raises(OptionError, match="'loo' is judged by Loo, and 'folds' by KFold"):
        infer.compare({"loo": infer.loo(infer.sample(one_mean(X), draws=100, **QUIET)), "folds": near})


@ac.model
def shifted(x):
    mean = ac.sample("mean", dist.Normal(10, 0.1))
    with ac.plate("row", len(x)):
        ac.sample("x", dist.Normal(mean, 1), obs=x)


def test_warnings_of_runs_are_told_once():
    found = infer.kfold(one_mean(X), folds=2, draws=5, warmup=2, chains=2)
    codes = [notice.code for notice in found.notices]
    assert codes and len(codes) == len(set(codes))
    assert "refits, the first without fold" in found.notices[0].message and found.notices[0].remedy


@ac.model
def two_sites(y, z):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mean, 1), obs=y)
        ac.sample("z", dist.Normal(mean, 1), obs=z)


@ac.model
def vector(y):
    mean = ac.sample("mean", dist.Normal(0, 1))
    ac.sample("y", dist.MultivariateNormal(mean * np.ones(3), np.eye(3)), obs=y)


@ac.model
def nothing():
    ac.sample("mean", dist.Normal(0, 1))


def unattached():
    draws = infer.sample(one_mean(X), draws=20, warmup=20, chains=2, **QUIET)
    return pickle.loads(pickle.dumps(draws))


REFUSED = {
    "several sites": (lambda: infer.kfold(two_sites(X, X)), OptionError, ["say which site", "'y', 'z'"]),
    "a typo": (
        lambda: infer.kfold(two_sites(X, X), site="zz"),
        OptionError,
        ["no observed site 'zz'", "'z'"],
    ),
    "a vector": (lambda: infer.kfold(vector(X[:3])), OptionError, ["'y' has 1 observation", "multivariate"]),
    "nothing": (lambda: infer.kfold(nothing()), ModelError, ["observes nothing", "'nothing'"]),
    "one fold": (lambda: infer.kfold(one_mean(X), folds=1), OptionError, ["folds", "at least 2"]),
    "too many folds": (lambda: infer.kfold(one_mean(X), folds=6), DataError, ["folds=6", "'x'", "5"]),
    "folds of another shape": (
        lambda: infer.kfold(one_mean(X), folds=[0, 1]),
        DataError,
        ["shape (2,)", "shape (5,)", "'x'"],
    ),
    "folds that are no numbers": (
        lambda: infer.kfold(one_mean(X), folds=np.linspace(0, 1, 5)),
        DataError,
        ["float64", "whole number"],
    ),
    "all in one": (lambda: infer.kfold(one_mean(X), folds=[2] * 5), DataError, ["one fold"]),
    "a function": (lambda: infer.kfold(one_mean), OptionError, ["infer.kfold", "called with its data"]),
    "draws without a model": (lambda: infer.kfold(unattached()), OptionError, ["without their model"]),
    "no first time": (
        lambda: infer.leave_future_out(one_mean(X), first=0),
        OptionError,
        ["first", "at least 1"],
    ),
    "nothing left": (
        lambda: infer.leave_future_out(one_mean(X), first=5),
        OptionError,
        ["first=5", "4 at most"],
    ),
    "several series": (
        lambda: infer.leave_future_out(two_sites(X, X), first=2),
        OptionError,
        ["infer.leave_future_out", "'y', 'z'"],
    ),
    "unknown options": (
        lambda: infer.kfold(one_mean(X), no_such_option=1),
        OptionError,
        ["no_such_option"],
    ),
    "other weights": (
        lambda: infer.compare({"a": unattached(), "b": unattached()}, weights="bma"),
        OptionError,
        ["stacking, pseudo_bma", "'bma'"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_left_out_is_refused_in_words(case):
    call, kind, words = REFUSED[case]
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value


def test_the_options_of_a_run_are_those_of_sample():
    known = inspect.signature(infer.sample).parameters
    for function in (infer.kfold, infer.leave_future_out):
        for name, option in inspect.signature(function).parameters.items():
            if name in known and name != "target":
                assert option.default == known[name].default, (function, name)
