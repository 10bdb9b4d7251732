"""Fit mixtures of normals with unordered components, whose posteriors have several modes (posteriordb)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take


@ac.model
def low_dim_gauss_mix_collapse(y):
    """Two components (Betancourt, 2017, Stan case study); `y`: shape (n,)."""
    with ac.plate("component", 2):
        mu = ac.sample("mu", dist.Normal(0, 2))
        sigma = ac.sample("sigma", dist.HalfNormal(2))
    theta = ac.sample("theta", dist.Beta(5, 5))
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with ac.plate("point", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, sigma)), obs=y)


@ac.model
def normal_mixture(y):
    """Two components of variance 1; `y`: shape (n,)."""
    theta = ac.sample("theta", dist.Uniform(0, 1))
    with ac.plate("component", 2):
        mu = ac.sample("mu", dist.Normal(0, 10))
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with ac.plate("point", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, 1)), obs=y)


@ac.model
def normal_mixture_k(y, K):
    """`K` components; `y`: shape (n,)."""
    theta = ac.sample("theta", dist.Dirichlet(jnp.ones(K)))
    with ac.plate("component", K):
        mu = ac.sample("mu", dist.Normal(0, 10))
        sigma = ac.sample("sigma", dist.Uniform(0, 10))
    with ac.plate("point", len(y)):
        components = dist.MixtureSameFamily(dist.Categorical(probs=theta), dist.Normal(mu, sigma))
        ac.sample("y", components, obs=y)


ENTRIES = {
    "low_dim_gauss_mix_collapse": Entry(low_dim_gauss_mix_collapse, take("y")),
    "normal_mixture": Entry(normal_mixture, take("y")),
    "normal_mixture_k": Entry(normal_mixture_k, take("y", "K")),
}
