"""A skewed posterior with known means, for tests of what draws after warm-up may do."""

import numpy as np
from scipy.special import digamma

import accord as ac
import accord.distributions as dist
from accord.report import mcse_mean

_SHAPE = 2.0


@ac.model
def skewed():
    """Three independent gamma variables."""
    with ac.plate("coordinate", 3):
        ac.sample("x", dist.Gamma(_SHAPE, 1.0))


def assert_is_kept(draws) -> None:
    """Hold the means of the three variables, and of their logarithms, to 6 standard errors: 2e-9 for each."""
    x = np.asarray(draws["x"])
    for values, expected in ((x, _SHAPE), (np.log(x), digamma(_SHAPE))):
        assert np.all(np.abs(values.mean(axis=(0, 1)) - expected) < 6 * mcse_mean(values))
