"""Models of which sites are integrated out by an approximation, with integrals over a fine grid."""

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist

RNG = np.random.default_rng(11)
GROUP = np.array([0, 2, 1, 1, 3, 0, 2, 3, 3, 1])
X = RNG.normal(size=10)
COUNTS = np.array([0, 3, 1, 2, 8, 0, 1, 5, 4, 0])
IS_HIT = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 0])


@ac.model
def one_count(y, spread):
    """A count with the effect of its own, of known figures."""
    mu = ac.sample("mu", dist.Normal(0, 1))
    effect = ac.sample("effect", dist.Normal(mu, spread))
    ac.sample("y", dist.Poisson(jnp.exp(effect)), obs=y)


@ac.model
def counts(group=GROUP, x=X, y=COUNTS):
    """Counts of rows in four groups."""
    level = ac.sample("level", dist.Normal(0, 1))
    slope = ac.sample("slope", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("group", 4):
        effect = ac.sample("effect", dist.Normal(level, tau))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Poisson(jnp.exp(slope * x + effect[group])), obs=y)


@ac.model
def hits(group=GROUP, x=X, y=IS_HIT):
    """Binary rows in four groups, whose effects are written in standard deviations."""
    level = ac.sample("level", dist.Normal(0, 1))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("group", 4):
        effect = ac.sample("effect", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Bernoulli(logits=level + x + tau * effect[group]), obs=y)


GRID = np.linspace(-14, 14, 40_001)


def log_integral(log_density):
    """Integrate exp of a function of numbers along the first axis, by the trapezoid rule."""
    heights = log_density(GRID)
    top = heights.max(axis=0)
    return np.log(np.exp(heights - top).sum(axis=0) * (GRID[1] - GRID[0])) + top
