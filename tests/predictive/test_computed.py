"""Judge the draws of a target whose own code computes the log likelihood of each observation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, OptionError

Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
RUN = dict(seed=1, draws=100, warmup=100, chains=2, quiet=True, progress=False)


@ac.model
def normal(y):
    mu = ac.sample("mu", dist.Normal(0, 10))
    with ac.plate("school", 8):
        ac.sample("y", dist.Normal(mu, 10.0), obs=y)


def of_each(mu: jax.Array) -> jax.Array:
    return dist.Normal(mu, 10.0).log_prob(jnp.asarray(Y))


@pytest.fixture(scope="module")
def draws():
    target = ac.LogDensity.from_function(
        lambda z: dist.Normal(0, 10).log_prob(z["mu"]) + of_each(z["mu"]).sum(),
        {"mu": 0.0},
        constrain=lambda z: {"mu": z["mu"], "log_lik": of_each(z["mu"])},
        dims={"log_lik": "school"},
        coords={"school": list("ABCDEFGH")},
    )
    return infer.sample(target, **RUN)


def test_criteria_are_those_of_the_model_at_the_same_draws(draws):
    likelihood = infer.log_likelihood(draws, computed={"y": "log_lik"})
    by_model = infer.log_likelihood({"mu": draws["mu"]}, normal(Y))
    np.testing.assert_allclose(likelihood["y"], by_model["y"], rtol=1e-12)
    found, expected = infer.loo(draws, likelihood), infer.loo(infer.sample(normal(Y), **RUN))
    assert found.site == "y"
    assert abs(found.elpd - expected.elpd) < 0.1 * expected.se
    assert infer.waic(likelihood).site == "y"
    assert "function" in str(infer.compare({"function": found, "model": expected}))


def test_arviz_has_them_with_their_labels(draws):
    tree = draws.to_arviz(infer.log_likelihood(draws, computed={"y": "log_lik"}))
    assert list(tree["log_likelihood"]["y"].coords["school"].values) == list("ABCDEFGH")


REFUSED = {
    "a sum": ({"y": "mu"}, DataError, "'mu' is a float64 of shape .*and not their sum"),
    "another name": ({"y": "loglik"}, OptionError, r"no value 'loglik'\. Did you mean 'log_lik'"),
    "nothing": ({}, OptionError, "is a mapping like"),
    "a name alone": ("log_lik", OptionError, "is a mapping like"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_log_likelihood_is_refused(draws, name):
    computed, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        infer.log_likelihood(draws, computed=computed)


def test_a_model_and_what_is_computed_are_not_both_given(draws):
    with pytest.raises(OptionError, match="one of model= and computed="):
        infer.log_likelihood(draws, normal(Y), computed={"y": "log_lik"})
    with pytest.raises(OptionError, match="give the draws of a run"):
        infer.log_likelihood({"mu": draws["mu"]}, computed={"y": "log_lik"})
