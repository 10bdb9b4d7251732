"""Regress log earnings on height and sex, with their interaction (Gelman & Hill, 2007, chapter 4)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist

COEFFICIENTS = ("intercept", "height", "male", "height:male")


@ac.model
def logearn_interaction(earn, height, male):
    """Flat priors; `earn`: dollars per year, `height`: inches, `male`: 0 or 1; shape (n,)."""
    with ac.plate("coefficient", 4, coords=COEFFICIENTS):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
    mean = beta[0] + beta[1] * height + beta[2] * male + beta[3] * height * male
    ac.sample("log_earn", dist.Normal(mean, sigma), obs=jnp.log(earn))
