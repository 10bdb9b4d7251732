"""Write the eight models of `unseen.py` in accord's language, as their users do: centred where that is usual."""

import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def survival_with_frailty(x, clinic, time, is_event):
    """Weibull regression of censored times, with a normal effect of each clinic; centred. `x`: shape (rows, 3)."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    slope = ac.sample("slope", dist.Normal(jnp.zeros(3), 1).to_event(1))
    shape = ac.sample("shape", dist.Gamma(2.0, 1.0))
    scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("clinic", 40):
        of_clinic = ac.sample("of_clinic", dist.Normal(0, scale))
    log_hazard = intercept + x @ slope + of_clinic[clinic]
    events = is_event * (log_hazard + jnp.log(shape) + (shape - 1) * jnp.log(time))
    ac.factor("times", (events - jnp.exp(log_hazard) * time**shape).sum())


@ac.model
def discrete_choice(attributes, chosen):
    """Choices among four alternatives, whose slopes are correlated within persons.

    `attributes`: shape (persons, choices, 4, 3); `chosen`: shape (persons, choices).
    """
    mean = ac.sample("mean", dist.Normal(jnp.zeros(3), 2).to_event(1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(3)).to_event(1))
    correlation = ac.sample("correlation", dist.LKJCholesky(3, 2.0))
    with ac.plate("person", len(chosen)):
        z = ac.sample("z", dist.Normal(jnp.zeros(3), 1).to_event(1))
    slope = mean + z @ (scale[:, None] * correlation).T
    utility = jnp.einsum("pcak,pk->pca", attributes, slope)
    ac.sample("chosen", dist.Categorical(logits=utility).to_event(2), obs=chosen)


@ac.model
def football(home, away, home_goals, away_goals):
    """Goals of matches by the attack and the defence of teams; centred. Arguments: shape (matches,)."""
    at_home = ac.sample("at_home", dist.Normal(0, 1))
    intercept = ac.sample("intercept", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(2)).to_event(1))
    with ac.plate("team", 20):
        attack = ac.sample("attack", dist.Normal(0, scale[0]))
        defence = ac.sample("defence", dist.Normal(0, scale[1]))
    home_rate = jnp.exp(intercept + at_home + attack[home] - defence[away])
    away_rate = jnp.exp(intercept + attack[away] - defence[home])
    ac.sample("home_goals", dist.Poisson(home_rate).to_event(1), obs=home_goals)
    ac.sample("away_goals", dist.Poisson(away_rate).to_event(1), obs=away_goals)


@ac.model
def factor_analysis(y):
    """Two factors behind ten indicators, summed out, with loadings of one sign; `y`: shape (rows, 10)."""
    diagonal = ac.sample("diagonal", dist.HalfNormal(jnp.ones(2)).to_event(1))
    below = ac.sample("below", dist.Normal(jnp.zeros(17), 1).to_event(1))
    noise = ac.sample("noise", dist.HalfNormal(jnp.ones(10)).to_event(1))
    rows, columns = jnp.tril_indices(10, -1, 2)
    loadings = jnp.zeros((10, 2)).at[jnp.arange(2), jnp.arange(2)].set(diagonal).at[rows, columns].set(below)
    covariance = loadings @ loadings.T + jnp.diag(noise**2)
    with ac.plate("row", len(y)):
        ac.sample("y", dist.MultivariateNormal(jnp.zeros(10), covariance_matrix=covariance), obs=y)


@ac.model
def counts_with_a_trend(y):
    """Overdispersed counts whose log rate has a level and a trend that change, by what is new; `y`: shape (times,)."""
    level = ac.sample("level", dist.Normal(1, 1))
    trend = ac.sample("trend", dist.Normal(0, 0.1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.array([0.2, 0.05])).to_event(1))
    concentration = ac.sample("concentration", dist.Gamma(2.0, 0.1))
    with ac.plate("time", len(y)):
        of_level = ac.sample("of_level", dist.Normal(0, 1))
        of_trend = ac.sample("of_trend", dist.Normal(0, 1))
    trends = trend + scale[1] * jnp.cumsum(of_trend)
    log_rate = level + jnp.cumsum(trends + scale[0] * of_level)
    ac.sample("y", dist.NegativeBinomial2(jnp.exp(log_rate), concentration).to_event(1), obs=y)


@ac.model
def dose_response(dose, y):
    """Sigmoid curves, of which each subject has its own top and middle; centred. `y`: shape (subjects, doses)."""
    mean = ac.sample("mean", dist.Normal(jnp.zeros(2), 1).to_event(1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.full(2, 0.5)).to_event(1))
    steepness = ac.sample("steepness", dist.LogNormal(0.5, 0.5))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("subject", len(y)):
        top = ac.sample("top", dist.LogNormal(mean[0] + jnp.log(10.0), scale[0]))
        middle = ac.sample("middle", dist.LogNormal(mean[1] + jnp.log(5.0), scale[1]))
    response = top[:, None] / (1 + (middle[:, None] / dose) ** steepness)
    ac.sample("y", dist.Normal(response, noise).to_event(2), obs=y)


@ac.model
def proportions(x, group, y):
    """Beta regression with an effect of each group, and a precision of each; centred. `x`: shape (rows,)."""
    intercept = ac.sample("intercept", dist.Normal(0, 2))
    slope = ac.sample("slope", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(2)).to_event(1))
    log_precision = ac.sample("log_precision", dist.Normal(2, 1))
    with ac.plate("group", 40):
        of_group = ac.sample("of_group", dist.Normal(0, scale[0]))
        precision_of_group = ac.sample("precision_of_group", dist.Normal(log_precision, scale[1]))
    mean = 1 / (1 + jnp.exp(-(intercept + slope * x + of_group[group])))
    precision = jnp.exp(precision_of_group)[group]
    ac.sample("y", dist.Beta(mean * precision, (1 - mean) * precision).to_event(1), obs=y)


@ac.model
def robust_regression(X, y):
    """Regression on correlated predictors, with Student t noise of unknown degrees of freedom."""
    intercept = ac.sample("intercept", dist.Normal(0, 5))
    slope = ac.sample("slope", dist.Normal(jnp.zeros(X.shape[1]), 2).to_event(1))
    noise = ac.sample("noise", dist.HalfNormal(5))
    df = ac.sample("df", dist.Gamma(2.0, 0.1))
    ac.sample("y", dist.StudentT(df, intercept + X @ slope, noise).to_event(1), obs=y)
