"""Regress children's test scores on mothers' schooling and IQ, with interaction (Gelman & Hill, 2007, chapter 3)."""

import accord as ac
import accord.distributions as dist

COEFFICIENTS = ("intercept", "mom_hs", "mom_iq", "mom_hs:mom_iq")


@ac.model
def kidscore_interaction(kid_score, mom_hs, mom_iq):
    """Flat priors on the coefficients; `mom_hs`: 1 where the mother finished high school; shape (n,)."""
    with ac.plate("coefficient", 4, coords=COEFFICIENTS):
        beta = ac.sample("beta", dist.ImproperUniform(dist.constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.HalfCauchy(2.5))
    mean = beta[0] + beta[1] * mom_hs + beta[2] * mom_iq + beta[3] * mom_hs * mom_iq
    ac.sample("kid_score", dist.Normal(mean, sigma), obs=kid_score)
