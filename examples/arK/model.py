"""Predict a series from its last K values (posteriordb, arK-arK)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def arK(y, K):
    """Condition on the first `K` values; `y`: shape (t,)."""
    alpha = ac.sample("alpha", dist.Normal(0, 10))
    with ac.plate("lag", K, coords=range(1, K + 1)):
        beta = ac.sample("beta", dist.Normal(0, 10))
    sigma = ac.sample("sigma", dist.HalfCauchy(2.5))
    lagged = jnp.stack([y[K - lag : len(y) - lag] for lag in range(1, K + 1)], axis=1)
    ac.sample("y", dist.Normal(alpha + lagged @ beta, sigma), obs=y[K:])
