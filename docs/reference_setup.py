"""Say what the examples of the reference begin with: imports, four models with data, and draws of one."""

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import bijectors, density, gp, handlers, infer, ode, reparam
from accord.distributions import constraints

np.set_printoptions(precision=3, suppress=True)


@ac.model
def eight_schools(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", sigma.shape[0]):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def centred_schools(sigma, y):
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def coin(num_tosses, y=None):
    p = ac.sample("p", dist.Beta(2, 2))
    with ac.plate("toss", num_tosses):
        return ac.sample("y", dist.Bernoulli(p), obs=y)


@ac.model
def level(flow):
    drift = ac.sample("drift", dist.HalfNormal(1.0))

    def step(x, observed):
        x = ac.sample("x", dist.Normal(x, drift))
        ac.sample("flow", dist.Normal(x, 1.0), obs=observed)
        return x, None

    ac.scan(step, 0.0, flow)


sigma = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
y = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
heads = np.array([1, 0, 1, 1])
flow = np.array([0.3, -0.4, 1.1, 0.8])
draws = infer.sample(eight_schools(sigma, y), draws=200, chains=2, seed=0, quiet=True)
