"""Model a series by its last value and its last error (ARMA(1,1); Box & Jenkins, 1970)."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def arma11(y):
    """Start with an error of zero and a value at the mean; `y`: shape (t,)."""
    mu = ac.sample("mu", dist.Normal(0, 10))
    phi = ac.sample("phi", dist.Normal(0, 2))
    theta = ac.sample("theta", dist.Normal(0, 2))
    sigma = ac.sample("sigma", dist.HalfCauchy(2.5))

    def step(error, values):
        before, now = values
        predicted = mu + phi * before + theta * error
        return now - predicted, predicted

    before = jnp.concatenate([mu[None], y[:-1]])
    _, predicted = jax.lax.scan(step, jnp.zeros_like(mu), (before, y))
    ac.sample("y", dist.Normal(predicted, sigma), obs=y)
