"""Estimate how many animals or species there are from those that were seen (posteriordb, capture and recapture).

The list of those seen is augmented with rows that were never seen. `omega` is the probability that a row exists, and
whether it does is summed out.
"""

import jax
import jax.numpy as jnp
from jax.scipy.special import logit

import accord as ac
import accord.distributions as dist
from entry import Entry, take


def existing(omega, log_likelihood, is_seen):
    """Log likelihood of each row, given that of its history if it exists."""
    log_seen = jnp.log(omega) + log_likelihood
    return jnp.where(is_seen, log_seen, jnp.logaddexp(log_seen, jnp.log1p(-omega)))


def before(y):
    """What happened on the occasion before each occasion; nothing before the first."""
    return jnp.concatenate([jnp.zeros_like(y[:, :1]), y[:, :-1]], axis=1)


@ac.model
def m0(y):
    """One probability of detection; `y`: captures by row and occasion, 0 or 1, shape (m, t)."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    p = ac.sample("p", dist.Uniform(0, 1))
    captures = dist.Binomial(total_count=y.shape[1], probs=p)
    with ac.plate("row", y.shape[0]):
        ac.sample("s", dist.ZeroInflatedDistribution(captures, gate=1 - omega), obs=y.sum(axis=1))


@ac.model
def mb(y):
    """Capture is as probable as `c` after a capture, else as `p`; `y`: as in `m0`."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    p = ac.sample("p", dist.Uniform(0, 1))
    c = ac.sample("c", dist.Uniform(0, 1))
    p_eff = (1 - before(y)) * p + before(y) * c
    log_likelihood = dist.Bernoulli(probs=p_eff).log_prob(y).sum(axis=1)
    ac.factor("y", existing(omega, log_likelihood, y.sum(axis=1) > 0))


@ac.model
def mh(y, T):
    """Detection differs between rows; `y`: number of captures of each row in `T` occasions, shape (m,)."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    mean_p = ac.sample("mean_p", dist.Uniform(0, 1))
    sigma = ac.sample("sigma", dist.Uniform(0, 5))
    with ac.plate("row", len(y)):
        eps_raw = ac.sample("eps_raw", dist.Normal(0, 1))
        captures = dist.Binomial(total_count=T, logits=logit(mean_p) + sigma * eps_raw)
        ac.sample("y", dist.ZeroInflatedDistribution(captures, gate=1 - omega), obs=y)


@ac.model
def mt(y):
    """Detection differs between occasions; `y`: as in `m0`."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    with ac.plate("occasion", y.shape[1]):
        p = ac.sample("p", dist.Uniform(0, 1))
    log_likelihood = dist.Bernoulli(probs=p).log_prob(y).sum(axis=1)
    ac.factor("y", existing(omega, log_likelihood, y.sum(axis=1) > 0))


@ac.model
def mth(y):
    """Detection differs between occasions and between rows; `y`: as in `m0`."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    with ac.plate("occasion", y.shape[1]):
        mean_p = ac.sample("mean_p", dist.Uniform(0, 1))
    sigma = ac.sample("sigma", dist.Uniform(0, 5))
    with ac.plate("row", y.shape[0]):
        eps_raw = ac.sample("eps_raw", dist.Normal(0, 1))
    logit_p = logit(mean_p) + sigma * eps_raw[:, None]
    log_likelihood = dist.Bernoulli(logits=logit_p).log_prob(y).sum(axis=1)
    ac.factor("y", existing(omega, log_likelihood, y.sum(axis=1) > 0))


@ac.model
def mtbh(y):
    """Detection differs between occasions and between rows, and by `gamma` after a detection; `y`: as in `m0`."""
    omega = ac.sample("omega", dist.Uniform(0, 1))
    with ac.plate("occasion", y.shape[1]):
        mean_p = ac.sample("mean_p", dist.Uniform(0, 1))
    gamma = ac.sample("gamma", dist.Normal(0, 10))
    sigma = ac.sample("sigma", dist.Uniform(0, 3))
    with ac.plate("row", y.shape[0]):
        eps_raw = ac.sample("eps_raw", dist.Normal(0, 1))
    logit_p = logit(mean_p) + sigma * eps_raw[:, None] + gamma * before(y)
    log_likelihood = dist.Bernoulli(logits=logit_p).log_prob(y).sum(axis=1)
    ac.factor("y", existing(omega, log_likelihood, y.sum(axis=1) > 0))


@ac.model
def multi_occupancy(X, K, S):
    """Find species at sites; `X`: visits of `K` to a site on which a species was seen, shape (seen species, sites).

    `S`: rows of the augmented list of species.
    """
    alpha = ac.sample("alpha", dist.Cauchy(0, 2.5))
    beta = ac.sample("beta", dist.Cauchy(0, 2.5))
    omega = ac.sample("Omega", dist.Beta(2, 2))
    rho_uv = ac.sample("rho_uv", dist.Uniform(-1, 1))
    ac.factor("rho_uv_prior", dist.Beta(2, 2).log_prob((rho_uv + 1) / 2))
    with ac.plate("effect", 2):
        sigma_uv = ac.sample("sigma_uv", dist.HalfCauchy(2.5))
    with ac.plate("species", S):
        uv1 = ac.sample("uv1", dist.ImproperUniform(dist.constraints.real, (), ()))
        uv2 = ac.sample("uv2", dist.ImproperUniform(dist.constraints.real, (), ()))
    covariance = sigma_uv[:, None] * sigma_uv * jnp.array([[0.0, 1.0], [1.0, 0.0]]) * rho_uv
    covariance = covariance + jnp.diag(sigma_uv**2)
    effects = dist.MultivariateNormal(jnp.zeros(2), covariance_matrix=covariance)
    ac.factor("uv", effects.log_prob(jnp.stack([uv1, uv2], axis=-1)))

    num_seen, num_sites = X.shape
    logit_psi, logit_theta = (uv1 + alpha)[:, None], (uv2 + beta)[:, None]
    visits = dist.Binomial(total_count=K, logits=logit_theta)
    counts = jnp.zeros((S, num_sites), X.dtype).at[:num_seen].set(X)  # of the others, none
    at_site = jax.nn.log_sigmoid(logit_psi) + visits.log_prob(counts)
    at_site = jnp.where(counts > 0, at_site, jnp.logaddexp(at_site, jax.nn.log_sigmoid(-logit_psi)))
    ac.factor("X", existing(omega, at_site.sum(axis=1), jnp.arange(S) < num_seen))


ENTRIES = {
    "M0_model": Entry(m0, take("y")),
    "Mb_model": Entry(mb, take("y")),
    "Mh_model": Entry(mh, take("y", "T")),
    "Mt_model": Entry(mt, take("y")),
    "Mtbh_model": Entry(mtbh, take("y")),
    "Mth_model": Entry(mth, take("y")),
    "multi_occupancy": Entry(multi_occupancy, take("X", "K", "S")),
}
