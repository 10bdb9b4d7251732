"""Write down the models that the promises are tested on."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist

SCHOOLS_Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SCHOOLS_SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@ac.model
def eight_schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", sigma.shape[0]):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def line(x, y=None):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(5))
    ac.sample("y", dist.Normal(a + b * x, s), obs=y)


@ac.model
def simplex(counts):
    p = ac.sample("p", dist.Dirichlet(jnp.ones(3)))
    ac.sample("n", dist.Binomial(100, p[0]), obs=counts)


def schools():
    """Eight schools with its data."""
    return eight_schools(SCHOOLS_SIGMA, y=SCHOOLS_Y)


def regression(n=50):
    """A line with noise, `n` points."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=n)
    return line(x, y=1 + 2 * x + rng.normal(size=n))
