"""Write the ten models of `applied.py` in accord's language, as their users do: centred where that is usual."""

import jax
import jax.numpy as jnp

import accord as ac
import accord.distributions as dist


@ac.model
def network_of_trials(trial, treatment, size, deaths):
    """Deaths in the arms of trials of six treatments: effects of trials and treatments. Arguments: shape (arms,)."""
    scale = ac.sample("scale", dist.HalfNormal(1))
    with ac.plate("treatments", 5):
        effect = ac.sample("effect", dist.Normal(0, 1))
    with ac.plate("trials", 30):
        baseline = ac.sample("baseline", dist.Normal(-1, 2))
    with ac.plate("arm", len(trial)):
        deviation = ac.sample("deviation", dist.Normal(0, scale))
        of_treatment = jnp.concatenate([jnp.zeros(1), effect])[treatment]
        logits = baseline[trial] + of_treatment + deviation
        ac.sample("deaths", dist.Binomial(size, logits=logits), obs=deaths)


@ac.model
def panel_of_visits(time, treated, y):
    """Counts of visits of persons over time, with intercepts and slopes of persons; centred.

    `time`: shape (times,); `treated`: shape (persons,); `y`: shape (persons, times).
    """
    mean = ac.sample("mean", dist.Normal(jnp.zeros(2), 2).to_event(1))
    effect = ac.sample("effect", dist.Normal(0, 1))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(2)).to_event(1))
    dispersion = ac.sample("dispersion", dist.Exponential(0.2))
    with ac.plate("person", len(treated)):
        intercept = ac.sample("intercept", dist.Normal(mean[0], scale[0]))
        slope = ac.sample("slope", dist.Normal(mean[1], scale[1]))
    log_rate = intercept[:, None] + (slope + effect * treated)[:, None] * time
    ac.sample("y", dist.NegativeBinomial2(jnp.exp(log_rate), dispersion).to_event(2), obs=y)


@ac.model
def gaussian_process_classes(x, y):
    """Answers of yes or no by a smooth function of two predictors, non-centred; `x`: shape (points, 2)."""
    amplitude = ac.sample("amplitude", dist.HalfNormal(2))
    length = ac.sample("length", dist.InverseGamma(3 * jnp.ones(2), 3).to_event(1))
    z = ac.sample("z", dist.Normal(jnp.zeros(len(x)), 1).to_event(1))
    gap = (x[:, None] - x[None]) / length
    kernel = amplitude**2 * jnp.exp(-0.5 * jnp.sum(gap**2, -1)) + 1e-6 * jnp.eye(len(x))
    ac.sample("y", dist.Bernoulli(logits=jnp.linalg.cholesky(kernel) @ z).to_event(1), obs=y)


@ac.model
def vector_autoregression(y):
    """Three series by two lags of each, with correlated shocks; `y`: shape (times, 3)."""
    intercept = ac.sample("intercept", dist.Normal(jnp.zeros(3), 1).to_event(1))
    tightness = ac.sample("tightness", dist.HalfNormal(0.5))
    lags = ac.sample("lags", dist.Normal(jnp.zeros((2, 3, 3)), tightness).to_event(3))
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(3)).to_event(1))
    correlation = ac.sample("correlation", dist.LKJCholesky(3, 2.0))
    mean = intercept + y[1:-1] @ lags[0].T + y[:-2] @ lags[1].T
    shocks = dist.MultivariateNormal(mean, scale_tril=scale[:, None] * correlation)
    ac.sample("y", shocks.to_event(1), obs=y[2:])


@ac.model
def volatility_with_far_tails(returns):
    """Student t returns whose log variance is an autoregression, by what is new; `returns`: shape (times,)."""
    mean = ac.sample("mean", dist.Normal(-1, 2))
    persistence = ac.sample("persistence", dist.Beta(20, 1.5))
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    freedom = ac.sample("freedom", dist.Gamma(2.0, 0.1))
    with ac.plate("time", len(returns)):
        new = ac.sample("new", dist.Normal(0, 1))

    def step(level, shock):
        level = persistence * level + scale * shock
        return level, level

    first = scale * new[0] / jnp.sqrt(1 - persistence**2)
    _, levels = jax.lax.scan(step, first, new[1:])
    deviation = jnp.exp((mean + jnp.concatenate([first[None], levels])) / 2)
    ac.sample("returns", dist.StudentT(2 + freedom, 0.0, deviation).to_event(1), obs=returns)


@ac.model
def shares_of_variance(X, y):
    """Regression with an R2D2 prior: predictors have shares of the variance explained; `X`: shape (rows, 40)."""
    intercept = ac.sample("intercept", dist.Normal(0, 5))
    noise = ac.sample("noise", dist.HalfNormal(3))
    explained = ac.sample("explained", dist.Beta(1.0, 1.0))
    share = ac.sample("share", dist.Dirichlet(0.5 * jnp.ones(X.shape[1])))
    z = ac.sample("z", dist.Normal(jnp.zeros(X.shape[1]), 1).to_event(1))
    slope = z * noise * jnp.sqrt(share * explained / (1 - explained))
    ac.sample("y", dist.Normal(intercept + X @ slope, noise).to_event(1), obs=y)


@ac.model
def grades_by_rater(film, rater, grade):
    """Grades from 0 to 4 of films by raters, with effects of both; centred. Arguments: shape (ratings,)."""
    scale = ac.sample("scale", dist.HalfNormal(jnp.ones(2)).to_event(1))
    thresholds = ac.sample("thresholds", dist.ImproperUniform(dist.constraints.ordered_vector, (), (4,)))
    ac.factor("thresholds_prior", dist.Normal(0, 2).log_prob(thresholds).sum())
    with ac.plate("films", 60):
        quality = ac.sample("quality", dist.Normal(0, scale[0]))
    with ac.plate("raters", 40):
        severity = ac.sample("severity", dist.Normal(0, scale[1]))
    with ac.plate("rating", len(grade)):
        ac.sample("grade", dist.OrderedLogistic(quality[film] - severity[rater], thresholds), obs=grade)


@ac.model
def oral_dose(time, dose, weight, concentration):
    """Concentrations of a drug after an oral dose, one compartment, persons with correlated log parameters.

    `time`: shape (times,); `dose`, `weight`: shape (persons,); `concentration`: shape (persons, times).
    """
    typical = ac.sample("typical", dist.Normal(jnp.array([0.5, 1.0, 3.5]), 0.5).to_event(1))
    by_weight = ac.sample("by_weight", dist.Normal(0.75, 0.25))
    scale = ac.sample("scale", dist.HalfNormal(0.5 * jnp.ones(3)).to_event(1))
    correlation = ac.sample("correlation", dist.LKJCholesky(3, 2.0))
    noise = ac.sample("noise", dist.HalfNormal(0.3))
    with ac.plate("person", len(dose)):
        z = ac.sample("z", dist.Normal(jnp.zeros(3), 1).to_event(1))
    own = typical + z @ (scale[:, None] * correlation).T
    absorption, volume = jnp.exp(own[:, 0, None]), jnp.exp(own[:, 2, None])
    elimination = jnp.exp(own[:, 1] + by_weight * jnp.log(weight / 70))[:, None] / volume
    rate = absorption / (absorption - elimination)
    level = dose[:, None] / volume * rate * (jnp.exp(-elimination * time) - jnp.exp(-absorption * time))
    ac.sample("concentration", dist.LogNormal(jnp.log(jnp.abs(level)), noise).to_event(2), obs=concentration)


@ac.model
def hazard_by_month(x, month, exposure, is_event):
    """Survival whose log hazard walks from month to month, by what is new.

    `x`: shape (rows, 2), of person-months; the others: shape (rows,), `month` from 0 to 23.
    """
    start = ac.sample("start", dist.Normal(-3, 1))
    scale = ac.sample("scale", dist.HalfNormal(0.5))
    slope = ac.sample("slope", dist.Normal(jnp.zeros(2), 1).to_event(1))
    with ac.plate("step", 23):
        new = ac.sample("new", dist.Normal(0, 1))
    walk = start + scale * jnp.concatenate([jnp.zeros(1), jnp.cumsum(new)])
    rate = exposure * jnp.exp(walk[month] + x @ slope)
    ac.sample("is_event", dist.Poisson(rate).to_event(1), obs=is_event)


@ac.model
def paths_among_factors(y):
    """Two factors behind three indicators each, one by the other, scores as unknowns; `y`: shape (persons, 6)."""
    path = ac.sample("path", dist.Normal(0, 1))
    loading = ac.sample("loading", dist.LogNormal(jnp.zeros(4), 0.5).to_event(1))
    intercept = ac.sample("intercept", dist.Normal(jnp.zeros(6), 2).to_event(1))
    noise = ac.sample("noise", dist.HalfNormal(jnp.ones(6)).to_event(1))
    spread = ac.sample("spread", dist.HalfNormal(jnp.ones(2)).to_event(1))
    with ac.plate("person", len(y)):
        cause = ac.sample("cause", dist.Normal(0, spread[0]))
        effect = ac.sample("effect", dist.Normal(path * cause, spread[1]))
    one = jnp.ones(1)
    loadings = jnp.concatenate([one, loading[:2], one, loading[2:]])
    scores = jnp.concatenate([jnp.tile(cause[:, None], 3), jnp.tile(effect[:, None], 3)], axis=1)
    ac.sample("y", dist.Normal(intercept + loadings * scores, noise).to_event(2), obs=y)
