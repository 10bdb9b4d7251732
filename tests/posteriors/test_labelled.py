"""Two posteriors of posteriordb written with labels have the log densities of the examples, which sum them by hand.

The draws of the examples agree with the reference draws (`test_posteriors.py`), and a run of the labels with those.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from arviz_stats.base import array_stats
from laws import once_more_in_doubt
from monte_carlo import mcse_mean
from posteriors import REFERENCES, data_of, model_of, scalar

import accord as ac
import accord.distributions as dist
from accord import infer

RUN = dict(progress=False, quiet=True)


@ac.model
def low_dim_gauss_mix(y):
    mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.ordered_vector, (), (2,)))
    ac.factor("mu_prior", dist.Normal(0.0, 2.0).log_prob(mu))
    with ac.plate("component", 2):
        sigma = ac.sample("sigma", dist.HalfNormal(2.0))
    theta = ac.sample("theta", dist.Beta(5.0, 5.0))
    with ac.plate("point", len(y)):
        z = ac.sample("z", dist.Bernoulli(1 - theta)).astype(int)
        ac.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)


@ac.model
def hmm_example(y):
    theta1 = ac.sample("theta1", dist.Dirichlet(jnp.ones(2)))
    theta2 = ac.sample("theta2", dist.Dirichlet(jnp.ones(2)))
    mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.positive_ordered_vector, (), (2,)))
    ac.factor("mu_prior", dist.Normal(jnp.array([3.0, 10.0]), 1.0).log_prob(mu))
    rows = jnp.stack([theta1, theta2, jnp.full(2, 0.5)])  # the last: before the first step

    def step(before, seen):
        z = ac.sample("z", dist.Categorical(rows[before])).astype(jnp.int32)
        ac.sample("y", dist.Normal(mu[z], 1.0), obs=seen)
        return z, None

    ac.scan(step, jnp.int32(2), y)


LABELLED = {"low_dim_gauss_mix": low_dim_gauss_mix, "hmm_example": hmm_example}


@pytest.mark.parametrize("name", LABELLED)
def test_the_log_density_is_that_of_the_sum_by_hand(name):
    one, other = LABELLED[name](**data_of(name)).log_density(), model_of(name).log_density()
    positions = 0.5 * np.random.default_rng(0).standard_normal((5, one.dim))
    found, expected = (jax.jit(jax.vmap(each.value_and_grad))(positions) for each in (one, other))
    # But for a constant: by hand the first state has weight 1 in place of 1/2.
    apart = np.asarray(found[0] - expected[0])
    np.testing.assert_allclose(apart, apart[0], atol=1e-7)
    np.testing.assert_allclose(apart[0], np.log(0.5) if name == "hmm_example" else 0.0, atol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-7, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELLED)
@once_more_in_doubt(0, 1)
def test_draws_agree_with_the_reference(name, seed):
    draws = infer.sample(LABELLED[name](**data_of(name)), seed=seed, **RUN)
    for parameter, reference in REFERENCES[name]["parameters"].items():
        values = scalar(draws.sites, parameter)
        error = np.hypot(mcse_mean(values), reference["mcse_mean"])
        assert abs(values.mean() - reference["mean"]) < 4.5 * error, (
            parameter
        )  # false alarm 7e-6, for each of 9
        assert array_stats.rhat(values) < 1.01, parameter
