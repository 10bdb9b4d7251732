"""Fit a mixture of two normals with ordered means (Betancourt, 2017, Stan case study)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def low_dim_gauss_mix(y):
    """`y`: shape (n,); the component of each point is summed out."""
    mu = ac.sample("mu", dist.ImproperUniform(dist.constraints.ordered_vector, (), (2,)))
    ac.factor("mu_prior", dist.Normal(0, 2).log_prob(mu))
    with ac.plate("component", 2):
        sigma = ac.sample("sigma", dist.HalfNormal(2))
    theta = ac.sample("theta", dist.Beta(5, 5))
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with ac.plate("point", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, sigma)), obs=y)
