"""Write the Gaussian processes of the database that several groups share."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist
from entry import Entry, take

constraints = dist.constraints


@ac.model
def hierarchical_gp(y, state_ind, region_ind, year_ind, state_region_ind, N_years, N_years_obs, N_regions):
    """Votes by state and year, with slow and quick processes for states and for their regions.

    `y`: shares, shape (n,); `state_ind`, `region_ind`, `year_ind`: shape (n,); `state_region_ind`: shape (states,).
    """
    N_states = len(state_region_ind)
    with ac.plate("time", N_years, dim=-2):
        with ac.plate("region", N_regions, dim=-1):
            GP_region_std = ac.sample("GP_region_std", dist.Normal(0, 1))
        with ac.plate("state", N_states, dim=-1):
            GP_state_std = ac.sample("GP_state_std", dist.Normal(0, 1))
    with ac.plate("year", N_years_obs):
        year_std = ac.sample("year_std", dist.Normal(0, 1))
    with ac.plate("state", N_states):
        state_std = ac.sample("state_std", dist.Normal(0, 1))
    with ac.plate("region", N_regions):
        region_std = ac.sample("region_std", dist.Normal(0, 1))
    tot_var = ac.sample("tot_var", dist.Gamma(3, 3))
    prop_var = ac.sample("prop_var", dist.Dirichlet(jnp.full(17, 2.0)))
    mu = ac.sample("mu", dist.Normal(0.5, 0.5))
    length_GP_region_long = ac.sample("length_GP_region_long", dist.Weibull(scale=8, concentration=30))
    length_GP_state_long = ac.sample("length_GP_state_long", dist.Weibull(scale=8, concentration=30))
    length_GP_region_short = ac.sample("length_GP_region_short", dist.Weibull(scale=3, concentration=30))
    length_GP_state_short = ac.sample("length_GP_state_short", dist.Weibull(scale=3, concentration=30))

    variances = 17 * prop_var * tot_var
    sigma = jnp.sqrt(variances)
    year_re = sigma[0] * year_std
    region_re = sigma[1] * region_std
    state_re = sigma[2:12][state_region_ind] * state_std
    years = jnp.arange(1.0, N_years + 1)
    jitter = 1e-6 * jnp.eye(N_years)
    cov_region = exp_quad(years, variances[12], length_GP_region_long)
    cov_region += exp_quad(years, variances[14], length_GP_region_short) + jitter
    cov_state = exp_quad(years, variances[13], length_GP_state_long)
    cov_state += exp_quad(years, variances[15], length_GP_state_short) + jitter
    GP_region = jnp.linalg.cholesky(cov_region) @ GP_region_std
    GP_state = jnp.linalg.cholesky(cov_state) @ GP_state_std
    obs_mu = mu + year_re[year_ind] + state_re[state_ind] + region_re[region_ind]
    obs_mu += GP_region[year_ind, region_ind] + GP_state[year_ind, state_ind]
    ac.sample("y", dist.Normal(obs_mu, sigma[16]), obs=y)


def exp_quad(x, variance, length):
    """Squared exponential covariance, shape (n, n)."""
    return variance * jnp.exp(-0.5 * ((x[:, None] - x) / length) ** 2)


@ac.model
def kronecker_gp(y, x1):
    """A process over locations and categories, whose covariance is a Kronecker product.

    `y`: shape (categories, locations); `x1`: shape (locations,).
    """
    num_categories, num_locations = y.shape
    var1 = ac.sample("var1", dist.LogNormal(0, 1))
    bw1 = ac.sample("bw1", dist.HalfCauchy(2.5))
    L = ac.sample("L", dist.LKJCholesky(num_categories, 2.0))
    sigma1 = ac.sample("sigma1", dist.ImproperUniform(constraints.greater_than(1e-5), (), ()))
    ac.factor("sigma1_prior", dist.LogNormal(0, 1).log_prob(sigma1))
    Sigma1 = var1 * jnp.exp(-((x1[:, None] - x1) ** 2) * bw1) + 1e-5 * jnp.eye(num_locations)
    R1, Q1 = jnp.linalg.eigh(Sigma1)
    R2, Q2 = jnp.linalg.eigh(L @ L.T)
    eigenvalues = R2[:, None] * R1 + sigma1
    rotated = Q2.T @ y @ Q1
    ac.factor("y", -0.5 * (rotated**2 / eigenvalues).sum() - 0.5 * jnp.log(eigenvalues).sum())


ENTRIES: dict[str, Entry] = {
    "hierarchical_gp": Entry(
        hierarchical_gp,
        take(
            "y",
            "N_years",
            "N_years_obs",
            "N_regions",
            zero_based=("state_ind", "region_ind", "year_ind", "state_region_ind"),
        ),
    ),
    "kronecker_gp": Entry(kronecker_gp, take("y", "x1")),
}
