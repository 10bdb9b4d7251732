"""Regress counts with a Gaussian process on their log rate (posteriordb, gp_pois_regr-gp_pois_regr)."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def gp_pois_regr(x, k):
    """`x`, `k`: location and count, shape (n,)."""
    rho = ac.sample("rho", dist.Gamma(25, 4))
    alpha = ac.sample("alpha", dist.HalfNormal(2))
    with ac.plate("point", len(x)):
        f_tilde = ac.sample("f_tilde", dist.Normal(0, 1))
        covariance = alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2) + 1e-10 * jnp.eye(len(x))
        f = ac.deterministic("f", jnp.linalg.cholesky(covariance) @ f_tilde)
        ac.sample("k", dist.Poisson(jnp.exp(f)), obs=k)
