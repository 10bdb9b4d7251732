"""Fit a trend to summer temperatures at Kilpisjarvi by year, with a badly scaled posterior (posteriordb)."""

import accord as ac
import accord.distributions as dist


@ac.model
def kilpisjarvi(x, y, pmualpha, psalpha, pmubeta, psbeta):
    """`x`: year, `y`: degrees Celsius, shape (n,); the others are the priors' means and standard deviations."""
    alpha = ac.sample("alpha", dist.Normal(pmualpha, psalpha))
    beta = ac.sample("beta", dist.Normal(pmubeta, psbeta))
    sigma = ac.sample("sigma", dist.ImproperUniform(dist.constraints.positive, (), ()))
    ac.sample("y", dist.Normal(alpha + beta * x, sigma), obs=y)
