"""Fit mixtures of normals with unordered components, whose posteriors have several modes (posteriordb).

Notices ask for an order of the means: `is_ordered` gives it.
"""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take


def means(prior, count, is_ordered):
    """Sample the means of exchangeable components, in increasing order if that is asked for."""
    if is_ordered:
        return ac.sample("mu", dist.ordered(prior.expand((count,)).to_event(1)))
    with ac.plate("component", count):
        return ac.sample("mu", prior)


@ac.model
def low_dim_gauss_mix_collapse(y, is_ordered=False):
    """Two components (Betancourt, 2017, Stan case study); `y`: shape (n,)."""
    mu = means(dist.Normal(0, 2), 2, is_ordered)
    with ac.plate("component", 2):
        sigma = ac.sample("sigma", dist.HalfNormal(2))
    theta = ac.sample("theta", dist.Beta(5, 5))
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with ac.plate("point", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, sigma)), obs=y)


@ac.model
def normal_mixture(y, is_ordered=False):
    """Two components of variance 1; `y`: shape (n,)."""
    theta = ac.sample("theta", dist.Uniform(0, 1))
    mu = means(dist.Normal(0, 10), 2, is_ordered)
    weights = dist.Categorical(probs=jnp.stack([theta, 1 - theta]))
    with ac.plate("point", len(y)):
        ac.sample("y", dist.MixtureSameFamily(weights, dist.Normal(mu, 1)), obs=y)


@ac.model
def normal_mixture_k(y, K, is_ordered=False):
    """`K` components; `y`: shape (n,)."""
    theta = ac.sample("theta", dist.Dirichlet(jnp.ones(K)))
    mu = means(dist.Normal(0, 10), K, is_ordered)
    with ac.plate("component", K):
        sigma = ac.sample("sigma", dist.Uniform(0, 10))
    with ac.plate("point", len(y)):
        components = dist.MixtureSameFamily(dist.Categorical(probs=theta), dist.Normal(mu, sigma))
        ac.sample("y", components, obs=y)


ENTRIES = {
    "low_dim_gauss_mix_collapse": Entry(low_dim_gauss_mix_collapse, take("y")),
    "normal_mixture": Entry(normal_mixture, take("y")),
    "normal_mixture_k": Entry(normal_mixture_k, take("y", "K")),
}
