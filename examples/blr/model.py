"""Regress linearly with normal priors on simulated data (posteriordb, sblrc-blr)."""

import accord as ac
import accord.distributions as dist


@ac.model
def blr(X, y):
    """`X`: shape (n, d), `y`: shape (n,)."""
    with ac.plate("coefficient", X.shape[1]):
        beta = ac.sample("beta", dist.Normal(0, 10))
    sigma = ac.sample("sigma", dist.HalfNormal(10))
    ac.sample("y", dist.Normal(X @ beta, sigma), obs=y)
