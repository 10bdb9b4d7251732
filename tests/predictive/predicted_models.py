"""Write down the models whose predictions are tested, with draws that are not from a run."""

import numpy as np

import accord as ac
import accord.distributions as dist

QUIET = dict(progress=False, quiet=True)
RNG = np.random.default_rng(11)
X = RNG.normal(size=12)
Y = 1 + 2 * X + RNG.normal(size=12)


@ac.model
def line(x, y=None):
    """A regression that returns its mean at zero and everywhere."""
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(5))
    with ac.plate("row", x.shape[0]):
        mean = ac.deterministic("mean", a + b * x)
        ac.sample("y", dist.Normal(mean, s), obs=y)
    return {"at zero": a, "means": mean}


@ac.model
def groups(num_groups, group, y=None):
    """Rows in groups."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    with ac.plate("group", num_groups):
        effect = ac.sample("effect", dist.Normal(mu, 1))
    with ac.plate("row", group.shape[0]):
        ac.sample("y", dist.Normal(effect[group], 1), obs=y)


def values(num_chains=2, num_draws=40):
    """Values of the unknowns of `line` that look like draws."""
    rng = np.random.default_rng(3)
    shape = (num_chains, num_draws)
    return {"a": rng.normal(size=shape), "b": rng.normal(size=shape), "s": rng.gamma(2.0, size=shape) + 0.1}
