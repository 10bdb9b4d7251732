"""Take what the project's examples have: series, schools, Gaussian processes, mixtures and differential equations."""

import accord as ac
import accord.distributions as dist
from entry import Entry, example, take


@ac.model
def eight_schools_centered(y, sigma):
    """The hierarchical model as it is written down; `y`, `sigma`: shape (8,)."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        theta = ac.sample("theta", dist.Normal(mu, tau))
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


@ac.model
def eight_schools_noncentered(y, sigma):
    """The same, with effects in units of their standard deviation, by Stan's names."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    tau = ac.sample("tau", dist.HalfCauchy(5))
    with ac.plate("school", len(y)):
        theta_trans = ac.sample("theta_trans", dist.Normal(0, 1))
        theta = ac.deterministic("theta", theta_trans * tau + mu)
        ac.sample("y", dist.Normal(theta, sigma), obs=y)


ENTRIES = {
    "arK": Entry(example("arK"), take("y", "K")),
    "arma11": Entry(example("arma11"), take("y")),
    "garch11": Entry(example("garch11"), take("y", "sigma1")),
    "eight_schools_centered": Entry(eight_schools_centered, take("y", "sigma")),
    "eight_schools_noncentered": Entry(eight_schools_noncentered, take("y", "sigma")),
    "gp_regr": Entry(example("gp_regr"), take("x", "y")),
    "gp_pois_regr": Entry(example("gp_pois_regr"), take("x", "k")),
    "hmm_example": Entry(example("hmm_example"), take("y")),
    "low_dim_gauss_mix": Entry(example("low_dim_gauss_mix"), take("y")),
    "lotka_volterra": Entry(example("lotka_volterra"), take("ts", "y_init", "y")),
    "one_comp_mm_elim_abs": Entry(example("one_comp_mm_elim_abs"), take("t0", "D", "V", "times", "C_hat")),
}
