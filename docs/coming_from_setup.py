"""Define the model, data and draws that rows of the pages on other libraries use."""

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import gp, handlers, infer, ode, reparam
from accord.distributions import constraints

x = np.linspace(-1.0, 1.0, 8)
y = 0.5 * x + np.array([0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.3, 0.1])
x_new = np.array([2.0, 3.0])
g = np.array([0, 0, 1, 1, 2, 2, 0, 1])
n, w, c = 20, 20, 2


@ac.model
def model(x, y=None):
    slope = ac.sample("slope", dist.Normal(0, 1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("row", len(x)):
        mean = ac.deterministic("mean", slope * x)
        ac.sample("y", dist.Normal(mean, noise), obs=y)
    return mean


@ac.model
def part(scale=1.0):
    return ac.sample("effect", dist.Normal(0, scale))


@ac.model
def groups(g, y):
    spread = ac.sample("spread", dist.HalfNormal(1))
    with ac.plate("group", 3):
        effect = ac.sample("effect", dist.Normal(0, spread))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(effect[g], 1), obs=y)


def step(carry, value):
    carry = ac.sample("state", dist.Normal(carry, 1))
    return carry, None


def decay(t, y, rate):
    return -rate * y


draws = infer.sample(model(x, y), draws=n, warmup=w, chains=c, progress=False, quiet=True)
