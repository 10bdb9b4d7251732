"""Regress with a Gaussian process of squared-exponential covariance (posteriordb, gp_pois_regr-gp_regr)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def gp_regr(x, y):
    """`x`, `y`: shape (n,). `sigma` is the variance of the noise, not its standard deviation."""
    rho = ac.sample("rho", dist.Gamma(25, 4))
    alpha = ac.sample("alpha", dist.HalfNormal(2))
    sigma = ac.sample("sigma", dist.HalfNormal(1))
    covariance = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + sigma * jnp.eye(len(x))
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=covariance), obs=y)
