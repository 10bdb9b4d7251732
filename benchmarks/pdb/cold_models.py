"""Write the eight models of `cold.py` in accord's language."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def varying_slopes(x, group, y, num_groups):
    """Linear regression whose intercept and slope vary together between groups; non-centred."""
    sigma = ac.sample("sigma", dist.Exponential(1))
    correlation = ac.sample("correlation", dist.LKJCholesky(2, 2.0))
    with ac.plate("coefficient", 2, dim=-1):
        mu = ac.sample("mu", dist.Normal(0, 2))
        tau = ac.sample("tau", dist.Exponential(1))
    with ac.plate("group", num_groups, dim=-2), ac.plate("coefficient", 2, dim=-1):
        z = ac.sample("z", dist.Normal(0, 1))
    beta = ac.deterministic("beta", mu + z @ (tau[:, None] * correlation).T)
    ac.sample("y", dist.Normal(beta[group, 0] + beta[group, 1] * x, sigma), obs=y)


@ac.model
def item_response_2pl(y):
    """The two-parameter logistic model; `y`: 0 or 1, shape (persons, questions)."""
    with ac.plate("person", y.shape[0]):
        ability = ac.sample("ability", dist.Normal(0, 1))
    with ac.plate("question", y.shape[1]):
        discrimination = ac.sample("discrimination", dist.LogNormal(0, 0.5))
        difficulty = ac.sample("difficulty", dist.Normal(0, 2))
    ac.sample("y", dist.Bernoulli(logits=discrimination * (ability[:, None] - difficulty)), obs=y)


@ac.model
def zero_inflated_counts(X, y):
    """Negative binomial counts with more zeros, whose mean and share of zeros both depend on predictors."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    intercept_zero = ac.sample("intercept_zero", dist.Normal(0, 2))
    concentration = ac.sample("concentration", dist.Gamma(2, 0.5))
    with ac.plate("predictor", X.shape[1]):
        beta = ac.sample("beta", dist.Normal(0, 1))
        beta_zero = ac.sample("beta_zero", dist.Normal(0, 1))
    mean = jnp.exp(intercept + X @ beta)
    gate = intercept_zero + X @ beta_zero
    ac.sample("y", dist.ZeroInflatedNegativeBinomial2(mean, concentration, gate_logits=gate), obs=y)


@ac.model
def ordinal_regression(X, y):
    """Ordered logistic regression; `y`: 0 to 4, shape (rows,)."""
    with ac.plate("predictor", X.shape[1]):
        beta = ac.sample("beta", dist.Normal(0, 1))
    cutpoints = ac.sample("cutpoints", dist.ImproperUniform(dist.constraints.ordered_vector, (), (4,)))
    ac.factor("cutpoints_prior", dist.Normal(0, 3).log_prob(cutpoints).sum())
    ac.sample("y", dist.OrderedLogistic(X @ beta, cutpoints), obs=y)


@ac.model
def mixture_of_normals(x):
    """Three normals in the plane, in the order of their first coordinates; `x`: shape (points, 2)."""
    weights = ac.sample("weights", dist.Dirichlet(jnp.full(3, 2.0)))
    first = ac.sample("first", dist.ImproperUniform(dist.constraints.ordered_vector, (), (3,)))
    ac.factor("first_prior", dist.Normal(0, 5).log_prob(first).sum())
    _points_in_the_plane(x, weights, first)


@ac.model
def mixture_of_normals_with_proper_priors(x):
    """Three normals in the plane, with a prior of their first coordinates from which one can draw; same posterior."""
    weights = ac.sample("weights", dist.Dirichlet(jnp.full(3, 2.0)))
    first = ac.sample("first", dist.OrderedDistribution(dist.Normal(0, 5).expand((3,)).to_event(1)))
    _points_in_the_plane(x, weights, first)


def _points_in_the_plane(x, weights, first):
    """The rest of both models, from the second coordinates on."""
    with ac.plate("component", 3):
        second = ac.sample("second", dist.Normal(0, 5))
        scale = ac.sample("scale", dist.HalfNormal(jnp.full(2, 2.0)).to_event(1))
        correlation = ac.sample("correlation", dist.LKJCholesky(2, 2.0))
    means = jnp.stack([first, second], axis=-1)
    components = dist.MultivariateNormal(means, scale_tril=scale[:, :, None] * correlation)
    with ac.plate("point", len(x)):
        ac.sample("x", dist.MixtureSameFamily(dist.Categorical(probs=weights), components), obs=x)


@ac.model
def latent_autoregression(y):
    """Counts whose log rate is an autoregression of order one, by its standardised shocks; `y`: shape (times,)."""
    mu = ac.sample("mu", dist.Normal(0, 2))
    phi = ac.sample("phi", dist.Uniform(-1, 1))
    sigma = ac.sample("sigma", dist.HalfNormal(1))
    with ac.plate("time", len(y)):
        z = ac.sample("z", dist.Normal(0, 1))

    def step(deviation, shock):
        deviation = phi * deviation + sigma * shock
        return deviation, deviation

    first = sigma * z[0] / jnp.sqrt(1 - phi**2)
    _, later = jax.lax.scan(step, first, z[1:])
    log_rate = mu + jnp.concatenate([first[None], later])
    ac.sample("y", dist.Poisson(jnp.exp(log_rate)), obs=y)


@ac.model
def latent_gaussian_process(x, y):
    """Counts whose log rate is a Gaussian process, by the Cholesky factor of its covariance; arguments: (points,)."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    length = ac.sample("length", dist.InverseGamma(5, 5))
    amplitude = ac.sample("amplitude", dist.HalfNormal(1))
    with ac.plate("point", len(x)):
        z = ac.sample("z", dist.Normal(0, 1))
    covariance = amplitude**2 * jnp.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + 1e-6 * jnp.eye(len(x))
    log_rate = ac.deterministic("log_rate", intercept + jnp.linalg.cholesky(covariance) @ z)
    ac.sample("y", dist.Poisson(jnp.exp(log_rate)), obs=y)


@ac.model
def logistic_horseshoe(X, y):
    """Logistic regression with a horseshoe on the slopes, non-centred."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    tau = ac.sample("tau", dist.HalfCauchy(0.1))
    with ac.plate("predictor", X.shape[1]):
        local = ac.sample("local", dist.HalfCauchy(1))
        z = ac.sample("z", dist.Normal(0, 1))
        beta = ac.deterministic("beta", tau * local * z)
    ac.sample("y", dist.Bernoulli(logits=intercept + X @ beta), obs=y)
