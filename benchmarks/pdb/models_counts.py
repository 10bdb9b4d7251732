"""Regress counts of birds on years (posteriordb; Kery & Schaub, 2012, Bayesian Population Analysis, ch. 3 and 4)."""

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take


@ac.model
def glm_poisson(C, year):
    """A cubic trend of log counts; `C`, `year`: shape (n,)."""
    alpha = ac.sample("alpha", dist.Uniform(-20, 20))
    beta1 = ac.sample("beta1", dist.Uniform(-10, 10))
    beta2 = ac.sample("beta2", dist.Uniform(-10, 10))
    beta3 = ac.sample("beta3", dist.Uniform(-10, 10))
    ac.sample("C", dist.LogPoisson(alpha + beta1 * year + beta2 * year**2 + beta3 * year**3), obs=C)


@ac.model
def glmm_poisson(C, year):
    """The same with an effect of each year."""
    alpha = ac.sample("alpha", dist.Uniform(-20, 20))
    beta1 = ac.sample("beta1", dist.Uniform(-10, 10))
    # Stan declares the upper bound 20, but the prior ends at 10.
    beta2 = ac.sample("beta2", dist.Uniform(-10, 10))
    beta3 = ac.sample("beta3", dist.Uniform(-10, 10))
    sigma = ac.sample("sigma", dist.Uniform(0, 5))
    with ac.plate("year", len(C)):
        eps = ac.sample("eps", dist.Normal(0, sigma))
        log_lambda = alpha + beta1 * year + beta2 * year**2 + beta3 * year**3 + eps
        ac.sample("C", dist.LogPoisson(log_lambda), obs=C)


@ac.model
def glmm1(obs, site, num_sites):
    """Counts with an effect of each site; `obs`, `site`: those that were observed, shape (n,)."""
    mu_alpha = ac.sample("mu_alpha", dist.Normal(0, 10))
    sd_alpha = ac.sample("sd_alpha", dist.Uniform(0, 5))
    with ac.plate("site", num_sites):
        alpha = ac.sample("alpha", dist.Normal(mu_alpha, sd_alpha))
    ac.sample("obs", dist.LogPoisson(alpha[site]), obs=obs)


def glmm1_arguments(data: Data) -> dict[str, object]:
    """Leave out the years, which have no effect, and the places of missing counts."""
    return {"obs": data["obs"], "site": data["obssite"] - 1, "num_sites": data["nsite"]}


@ac.model
def glm_binomial(C, N, year):
    """A quadratic trend of log odds; `C` of `N`, `year`: shape (n,)."""
    alpha = ac.sample("alpha", dist.Normal(0, 100))
    beta1 = ac.sample("beta1", dist.Normal(0, 100))
    beta2 = ac.sample("beta2", dist.Normal(0, 100))
    logits = alpha + beta1 * year + beta2 * year**2
    ac.sample("C", dist.Binomial(total_count=N, logits=logits), obs=C)


ENTRIES = {
    "GLM_Poisson_model": Entry(glm_poisson, take("C", "year")),
    "GLMM_Poisson_model": Entry(glmm_poisson, take("C", "year")),
    "GLMM1_model": Entry(glmm1, glmm1_arguments),
    "GLM_Binomial_model": Entry(glm_binomial, take("C", "N", "year")),
}
