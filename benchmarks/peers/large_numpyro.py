"""The large models in NumPyro; `../simulated.py` makes their data."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist


def hierarchical_logistic(X, group, y):
    """Logistic regression whose intercept varies between 200 groups, centred."""
    with numpyro.plate("predictor", X.shape[1]):
        beta = numpyro.sample("beta", dist.Normal(0, 1))
    mu = numpyro.sample("mu", dist.Normal(0, 2))
    tau = numpyro.sample("tau", dist.HalfNormal(1))
    with numpyro.plate("group", 200):
        alpha = numpyro.sample("alpha", dist.Normal(mu, tau))
    numpyro.sample("y", dist.Bernoulli(logits=alpha[group] + X @ beta), obs=y)


def horseshoe(X, y):
    """Linear regression under the regularised horseshoe, non-centred."""
    n, d = X.shape
    intercept = numpyro.sample("intercept", dist.Normal(0, 5))
    sigma = numpyro.sample("sigma", dist.HalfNormal(2))
    tau = numpyro.sample("tau", dist.HalfCauchy(1))
    slab = numpyro.sample("slab", dist.InverseGamma(2, 8))
    with numpyro.plate("predictor", d):
        local = numpyro.sample("local", dist.HalfCauchy(1))
        z = numpyro.sample("z", dist.Normal(0, 1))
        scale = tau * 10 / (d - 10) * sigma / jnp.sqrt(n)
        beta = numpyro.deterministic(
            "beta", z * scale * jnp.sqrt(slab * local**2 / (slab + scale**2 * local**2))
        )
    numpyro.sample("y", dist.Normal(intercept + X @ beta, sigma), obs=y)


def stochastic_volatility(y):
    """Log variance as an autoregression, by its standardised shocks."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    phi = numpyro.sample("phi", dist.Uniform(-1, 1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1))
    with numpyro.plate("time", len(y)):
        z = numpyro.sample("z", dist.Normal(0, 1))

    def step(deviation, shock):
        deviation = phi * deviation + sigma * shock
        return deviation, deviation

    first = sigma * z[0] / jnp.sqrt(1 - phi**2)
    _, later = jax.lax.scan(step, first, z[1:])
    log_variance = mu + jnp.concatenate([first[None], later])
    numpyro.sample("y", dist.Normal(0, jnp.exp(log_variance / 2)), obs=y)


def logistic(X, y):
    """Logistic regression."""
    intercept = numpyro.sample("intercept", dist.Normal(0, 2))
    with numpyro.plate("predictor", X.shape[1]):
        beta = numpyro.sample("beta", dist.Normal(0, 1))
    numpyro.sample("y", dist.Bernoulli(logits=intercept + X @ beta), obs=y)


def item_response(y):
    """The two-parameter logistic model."""
    with numpyro.plate("person", y.shape[0]):
        ability = numpyro.sample("ability", dist.Normal(0, 1))
    with numpyro.plate("question", y.shape[1]):
        discrimination = numpyro.sample("discrimination", dist.LogNormal(0, 0.5))
        difficulty = numpyro.sample("difficulty", dist.Normal(0, 2))
    logits = discrimination * (ability[:, None] - difficulty)
    numpyro.sample("y", dist.Bernoulli(logits=logits), obs=y)
