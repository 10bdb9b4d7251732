"""A regression whose posterior is a ridge: years are not centred.

The level has a standard deviation of 25, and of 1e-4 given the slope.
"""

import numpy as np

import accord as ac
import accord.distributions as dist

YEAR = np.arange(1952.0, 2014.0)
Y = 9 + 0.02 * (YEAR - 1983) + np.random.default_rng(3).normal(size=len(YEAR))


@ac.model
def trend(year, y):
    level = ac.sample("level", dist.Normal(0.0, 50.0))
    slope = ac.sample("slope", dist.Normal(0.0, 1.0))
    sigma = ac.sample("sigma", dist.HalfNormal(5.0))
    with ac.plate("n", len(year)):
        ac.sample("y", dist.Normal(level + slope * year, sigma), obs=y)
