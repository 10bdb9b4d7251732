"""Model returns whose variance follows the last squared shock and the last variance (GARCH(1,1); Bollerslev, 1986)."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from accord.distributions import constraints


@ac.model
def garch11(y, sigma1):
    """Flat priors where alpha1 + beta1 < 1 (stationary); `y`: shape (t,), `sigma1`: first standard deviation."""
    mu = ac.sample("mu", dist.ImproperUniform(constraints.real, (), ()))
    alpha0 = ac.sample("alpha0", dist.ImproperUniform(constraints.positive, (), ()))
    alpha1 = ac.sample("alpha1", dist.ImproperUniform(constraints.unit_interval, (), ()))
    # The support depends on another parameter, and its density stays 1: `Uniform` would divide by its length.
    beta1 = ac.sample("beta1", dist.ImproperUniform(constraints.interval(0, 1 - alpha1), (), ()))

    def step(variance, shock):
        variance = alpha0 + alpha1 * shock**2 + beta1 * variance
        return variance, variance

    first = jnp.asarray(sigma1) ** 2
    _, later = jax.lax.scan(step, first, y[:-1] - mu)
    variance = jnp.concatenate([first[None], later])
    ac.sample("y", dist.Normal(mu, jnp.sqrt(variance)), obs=y)
