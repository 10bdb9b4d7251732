"""Write the nine models of `fresh.py` in accord's language, as their users do: centred where that is usual."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def poststratification(state, age, education, y):
    """Logistic regression with effects of states, ages and educations; non-centred."""
    intercept = ac.sample("intercept", dist.Normal(0, 1))
    with ac.plate("kind", 3):
        scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("state", 50):
        of_state = ac.sample("of_state", dist.Normal(0, 1))
    with ac.plate("age", 6):
        of_age = ac.sample("of_age", dist.Normal(0, 1))
    with ac.plate("education", 5):
        of_education = ac.sample("of_education", dist.Normal(0, 1))
    effects = scale[0] * of_state[state] + scale[1] * of_age[age] + scale[2] * of_education[education]
    ac.sample("y", dist.Bernoulli(logits=intercept + effects), obs=y)


@ac.model
def crossed_effects(x, person, item, y):
    """Logistic regression with effects of persons, with slopes, and of items; centred."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    slope = ac.sample("slope", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(3)).to_event(1))
    with ac.plate("person", 60):
        of_person = ac.sample("of_person", dist.Normal(0, scale[0]))
        slope_of_person = ac.sample("slope_of_person", dist.Normal(0, scale[1]))
    with ac.plate("item", 40):
        of_item = ac.sample("of_item", dist.Normal(0, scale[2]))
    logits = intercept + of_person[person] + of_item[item] + (slope + slope_of_person[person]) * x
    ac.sample("y", dist.Bernoulli(logits=logits), obs=y)


@ac.model
def random_walk(y):
    """A normal random walk with normal noise, by its levels."""
    step = ac.sample("step", dist.HalfNormal(1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    level = ac.sample("level", dist.ImproperUniform(dist.constraints.real_vector, (), (len(y),)))
    ac.factor("walk", dist.Normal(level[:-1], step).log_prob(level[1:]).sum())
    ac.factor("start", dist.Normal(0, 10).log_prob(level[0]))
    ac.sample("y", dist.Normal(level, noise), obs=y)


@ac.model
def stochastic_volatility(y):
    """Returns whose log variance is an autoregression of order one, by its levels."""
    mean = ac.sample("mean", dist.Normal(-1, 2))
    persistence = ac.sample("persistence", dist.Beta(20.0, 1.5))
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    log_variance = ac.sample(
        "log_variance", dist.ImproperUniform(dist.constraints.real_vector, (), (len(y),))
    )
    expected = mean + persistence * (log_variance[:-1] - mean)
    ac.factor("later", dist.Normal(expected, scale).log_prob(log_variance[1:]).sum())
    first = dist.Normal(mean, scale / jnp.sqrt(1 - persistence**2))
    ac.factor("first", first.log_prob(log_variance[0]))
    ac.sample("y", dist.Normal(0, jnp.exp(log_variance / 2)), obs=y)


@ac.model
def stochastic_volatility_by_innovations(y):
    """Stochastic volatility in the non-centred form: what is new at each time is standard normal."""
    mean = ac.sample("mean", dist.Normal(-1, 2))
    persistence = ac.sample("persistence", dist.Beta(20.0, 1.5))
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    new = ac.sample("new", dist.Normal(0, 1).expand((len(y),)))

    def step(deviation, noise):
        deviation = persistence * deviation + noise
        return deviation, deviation

    first = new[0] / jnp.sqrt(1 - persistence**2)
    later = jax.lax.scan(step, first, new[1:])[1]
    log_variance = mean + scale * jnp.append(first, later)
    ac.sample("y", dist.Normal(0, jnp.exp(log_variance / 2)), obs=y)


@ac.model
def regularised_horseshoe(X, y):
    """Linear regression with few large slopes among many (Piironen & Vehtari 2017); non-centred."""
    noise = ac.sample("noise", dist.HalfNormal(2))
    tau = ac.sample("tau", dist.HalfCauchy(0.1))
    slab = ac.sample("slab", dist.InverseGamma(2.0, 8.0))
    with ac.plate("column", X.shape[1]):
        scale = ac.sample("scale", dist.HalfCauchy(1))
        z = ac.sample("z", dist.Normal(0, 1))
    scale = jnp.sqrt(slab) * scale / jnp.sqrt(slab + tau**2 * scale**2)
    ac.sample("y", dist.Normal(X @ (z * tau * scale), noise), obs=y)


@ac.model
def multivariate_probit(sign):
    """Correlated normal numbers of which only the signs are seen, by their sizes; `sign`: shape (rows, columns)."""
    rows, columns = sign.shape
    mean = ac.sample("mean", dist.Normal(jnp.zeros(columns), 1).to_event(1))
    correlation = ac.sample("correlation", dist.LKJCholesky(columns, 2.0))
    size = ac.sample("size", dist.ImproperUniform(dist.constraints.positive, (), (rows, columns)))
    latent = dist.MultivariateNormal(mean, scale_tril=correlation)
    ac.factor("latent", latent.log_prob(size * sign).sum())


@ac.model
def spline_counts(basis, y):
    """Counts whose log rate is a smooth curve, by weights that are a random walk."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    step = ac.sample("step", dist.HalfCauchy(1))
    with ac.plate("knot", basis.shape[1]):
        z = ac.sample("z", dist.Normal(0, 1))
    ac.sample("y", dist.Poisson(jnp.exp(intercept + basis @ (step * jnp.cumsum(z)))), obs=y)


@ac.model
def spatial_counts(left, right, y):
    """Counts on a grid with a spatial and an independent effect (Riebler et al. 2016)."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    scale = ac.sample("scale", dist.HalfNormal(1))
    share = ac.sample("share", dist.Beta(0.5, 0.5))
    with ac.plate("cell", len(y)):
        independent = ac.sample("independent", dist.Normal(0, 1))
    spatial = ac.sample("spatial", dist.ImproperUniform(dist.constraints.real_vector, (), (len(y),)))
    ac.factor("neighbours", -0.5 * jnp.sum((spatial[left] - spatial[right]) ** 2))
    ac.factor("sum_to_zero", dist.Normal(0, 0.001 * len(y)).log_prob(spatial.sum()))
    effect = jnp.sqrt(1 - share) * independent + jnp.sqrt(share) * spatial
    ac.sample("y", dist.Poisson(jnp.exp(intercept + scale * effect)), obs=y)


@ac.model
def growth_curves(time, y):
    """Curves that rise to a level, at a rate, both of their own; `y`: shape (curves, times); centred."""
    mean_level = ac.sample("mean_level", dist.Normal(2, 1))
    mean_rate = ac.sample("mean_rate", dist.Normal(-1, 1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.full(2, 0.5)).to_event(1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("curve", len(y)):
        log_level = ac.sample("log_level", dist.Normal(mean_level, scale[0]))
        log_rate = ac.sample("log_rate", dist.Normal(mean_rate, scale[1]))
    curves = jnp.exp(log_level)[:, None] * (1 - jnp.exp(-jnp.exp(log_rate)[:, None] * time))
    ac.sample("y", dist.Normal(curves, noise), obs=y)
