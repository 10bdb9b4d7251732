"""Write the large models in accord's language, and a smaller regression; `simulated.py` makes their data."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist

NUM_GROUPS = 200
SLAB_SCALE, SLAB_FREEDOM = 2.0, 4.0  # of coefficients that are not shrunk
EXPECTED_SLOPES = 10.0  # that are not zero


@ac.model
def hierarchical_logistic(X, group, y):
    """Logistic regression whose intercept varies between groups; centred, since each group has a hundred rows."""
    with ac.plate("predictor", X.shape[1]):
        beta = ac.sample("beta", dist.Normal(0, 1))
    mu = ac.sample("mu", dist.Normal(0, 2))
    tau = ac.sample("tau", dist.HalfNormal(1))
    with ac.plate("group", NUM_GROUPS):
        alpha = ac.sample("alpha", dist.Normal(mu, tau))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Bernoulli(logits=alpha[group] + X @ beta), obs=y)


@ac.model
def horseshoe(X, y):
    """Linear regression under the regularised horseshoe, non-centred (Piironen & Vehtari, 2017, section 3)."""
    n, d = X.shape
    intercept = ac.sample("intercept", dist.Normal(0, 5))
    sigma = ac.sample("sigma", dist.HalfNormal(2))
    tau = ac.sample("tau", dist.HalfCauchy(1))  # in units of the scale for which so many slopes are expected
    slab = ac.sample("slab", dist.InverseGamma(SLAB_FREEDOM / 2, SLAB_FREEDOM / 2 * SLAB_SCALE**2))
    with ac.plate("predictor", d):
        local = ac.sample("local", dist.HalfCauchy(1))
        z = ac.sample("z", dist.Normal(0, 1))
        scale = tau * EXPECTED_SLOPES / (d - EXPECTED_SLOPES) * sigma / jnp.sqrt(n)
        shrunk = slab * local**2 / (slab + scale**2 * local**2)
        beta = ac.deterministic("beta", z * scale * jnp.sqrt(shrunk))
    ac.sample("y", dist.Normal(intercept + X @ beta, sigma), obs=y)


@ac.model
def stochastic_volatility(y):
    """Returns whose log variance is an autoregression, by its standardised shocks (Stan's guide, section 2.5)."""
    mu = ac.sample("mu", dist.Normal(0, 5))
    phi = ac.sample("phi", dist.Uniform(-1, 1))
    sigma = ac.sample("sigma", dist.HalfNormal(1))
    with ac.plate("time", len(y)):
        z = ac.sample("z", dist.Normal(0, 1))

        def step(deviation, shock):
            deviation = phi * deviation + sigma * shock
            return deviation, deviation

        first = sigma * z[0] / jnp.sqrt(1 - phi**2)
        _, later = jax.lax.scan(step, first, z[1:])
        log_variance = mu + jnp.concatenate([first[None], later])
        ac.sample("y", dist.Normal(0, jnp.exp(log_variance / 2)), obs=y)


@ac.model
def item_response(y):
    """The two-parameter logistic model; `y`: 0 or 1, shape (persons, questions)."""
    with ac.plate("person", y.shape[0]):
        ability = ac.sample("ability", dist.Normal(0, 1))
    with ac.plate("question", y.shape[1]):
        discrimination = ac.sample("discrimination", dist.LogNormal(0, 0.5))
        difficulty = ac.sample("difficulty", dist.Normal(0, 2))
    logits = discrimination * (ability[:, None] - difficulty)
    ac.sample("y", dist.Bernoulli(logits=logits), obs=y)


@ac.model
def logistic(X, y):
    """Logistic regression."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    with ac.plate("predictor", X.shape[1]):
        beta = ac.sample("beta", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Bernoulli(logits=intercept + X @ beta), obs=y)
