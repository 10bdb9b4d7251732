"""Regress the log weight of mesquite bushes on the logs of their measurements (Gelman & Hill, 2007, chapter 4)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist

COEFFICIENTS = ("intercept", "diam1", "diam2", "canopy_height", "total_height", "density", "group")


@ac.model
def logmesquite(weight, diam1, diam2, canopy_height, total_height, density, group):
    """Flat priors; `weight`: grams of leaves, diameters and heights: metres, `group`: 0 or 1; shape (n,)."""
    with ac.plate("coefficient", 7, coords=COEFFICIENTS):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
    mean = (
        beta[0]
        + beta[1] * jnp.log(diam1)
        + beta[2] * jnp.log(diam2)
        + beta[3] * jnp.log(canopy_height)
        + beta[4] * jnp.log(total_height)
        + beta[5] * jnp.log(density)
        + beta[6] * group
    )
    ac.sample("log_weight", dist.Normal(mean, sigma), obs=jnp.log(weight))
