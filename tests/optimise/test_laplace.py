"""Hold Laplace's approximation against posteriors that are normal, and one that is far from it.

A test of draws fails by chance once in 1e5 keys.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError, SamplingError

Y = np.arange(4.0)


@ac.model
def normal_mean(y):
    m = ac.sample("m", dist.Normal(0, 2))
    ac.deterministic("double", 2 * m)
    with ac.plate("n", len(y)):
        ac.sample("y", dist.Normal(m, 1), obs=y)


@ac.model
def scale_alone(y):
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("n", len(y)):
        ac.sample("y", dist.Normal(0, jnp.sqrt(1 + tau**2)), obs=y)


@ac.model
def funnel(y):
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("n", len(y)):
        theta = ac.sample("theta", dist.Normal(0, tau))
        ac.sample("y", dist.Normal(theta, 10), obs=y)


@ac.model
def ring():
    with ac.plate("xy", 2):
        x = ac.sample("x", dist.Normal(0, 3))
    ac.factor("edge", x[0] - 5000 * (jnp.sum(x**2) - 4) ** 2)


@functools.cache
def found(model):
    return infer.find_mode(model(Y), quiet=True)


def test_of_a_normal_posterior_it_is_exact():
    laplace = found(normal_mean).laplace(draws=1000, seed=3)
    variance = 1 / (1 / 4 + 4)
    evidence = -0.5 * (4 * np.log(2 * np.pi) + np.log(17) + Y @ Y - 4 / 17 * Y.sum() ** 2)
    np.testing.assert_allclose(laplace.log_evidence, evidence, rtol=1e-12)
    np.testing.assert_allclose(laplace.log_weights, evidence, rtol=1e-10)
    np.testing.assert_allclose(laplace.effective_draws, 1000)
    np.testing.assert_allclose(laplace.covariance, [[variance]])
    np.testing.assert_array_equal(laplace["double"], 2 * laplace["m"])
    # 4.4 standard errors of the mean: 1e-5.
    assert abs(laplace["m"].mean() - variance * Y.sum()) < 4.4 * np.sqrt(variance / 1000)
    assert not laplace.notices


def test_draws_are_a_function_of_the_seed():
    mode = found(normal_mean)
    same, other = mode.laplace(draws=5, seed=3)["m"], mode.laplace(draws=5, seed=4)["m"]
    np.testing.assert_array_equal(mode.laplace(draws=5, seed=3)["m"], same)
    assert np.all(same != other)


def test_a_scale_whose_mode_is_zero_has_a_peak_in_unconstrained_numbers():
    mode = infer.find_mode(scale_alone(np.zeros(4)), quiet=True)
    assert [notice.code for notice in mode.notices] == ["edge_of_support"]
    laplace = mode.laplace(draws=400)
    # By quadrature.
    tau = np.linspace(0, 8, 20001)
    weight = np.exp(-(tau**2) / 2) * (1 + tau**2) ** -2
    evidence = np.log(np.sum(weight) * tau[1] * np.sqrt(2 / np.pi)) - 2 * np.log(2 * np.pi)
    assert abs(laplace.log_evidence - evidence) < 0.2
    assert abs(np.log(np.mean(np.exp(laplace.log_weights))) - evidence) < 0.2
    assert laplace.effective_draws > 100


def test_a_posterior_that_is_far_from_normal_is_told():
    laplace = infer.find_mode(ring(), quiet=True).laplace(draws=500)
    (notice,) = laplace.notices
    assert notice.code == "far_from_normal" and notice.message in str(laplace)


def test_chains_begin_at_a_mode():
    mode = found(normal_mean)
    options = dict(chains=1, draws=10, warmup=10, progress=False, quiet=True)
    draws = infer.sample(normal_mean(Y), init=mode, **options)
    same = infer.sample(normal_mean(Y), init=mode.values, **options)
    np.testing.assert_array_equal(draws["m"], same["m"])


REFUSED = {
    "of a likelihood": (
        lambda: infer.find_mode(normal_mean(Y), "mle").laplace(),
        OptionError,
        "approximates a posterior",
    ),
    "without a peak": (
        lambda: infer.find_mode(funnel(Y), starts=1, quiet=True).laplace(),
        SamplingError,
        "no peak|did not come to an end",
    ),
    "no draws": (lambda: found(normal_mean).laplace(draws=0), OptionError, "draws must be"),
    "no site": (lambda: found(normal_mean).laplace(draws=2)["mu"], OptionError, "Did you mean 'm'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()
