"""A normal sample of unknown mean and precision, with a conjugate prior."""

import numpy as np

import accord as ac
import accord.distributions as dist

Y = np.array([1, 2, 3, 2.5, 1.5])
LOG_EVIDENCE = -8.839590775
"""Evidence of `normal_gamma(Y)`.

**Source**: Murphy (2007), "Conjugate Bayesian analysis of the Gaussian distribution", section 3.
"""


@ac.model
def normal_gamma(y):
    precision = ac.sample("precision", dist.Gamma(2.0, 3.0))
    m = ac.sample("m", dist.Normal(0.0, precision**-0.5))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(m, precision**-0.5), obs=y)
