"""Estimate the effect of coaching in eight schools, each with a known standard error (Rubin, 1981)."""

import accord as ac
import accord.distributions as dist


@ac.model
def eight_schools(sigma, y=None):
    """A hierarchical normal model in its non-centred form; `y` and `sigma`: effect and standard error, shape (8,)."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", sigma.shape[0]):
        z = ac.sample("z", dist.Normal(0, 1))
        theta = ac.deterministic("theta", mu + tau * z)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)
