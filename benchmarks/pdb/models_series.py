"""Write the time series of the database with states of their own."""

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from entry import Data, Entry, take

constraints = dist.constraints


@ac.model
def covid19imperial(deaths, is_counted, SI, f, X, pop, N0):
    """Deaths by an epidemic in several countries, from infections that earlier ones cause.

    `deaths`: shape (days, countries); `is_counted`: where they are observed; `SI`: chance that an infection causes
    another so many days later (from 1), shape (days,); `f`: chance to die so many days later, shape (days, countries);
    `X`: measures in force, shape (countries, days, measures); `pop`: shape (countries,); `N0`: days that are seeded.
    """
    num_days, num_countries = deaths.shape
    kappa = ac.sample("kappa", dist.HalfNormal(0.5))
    phi = ac.sample("phi", dist.HalfNormal(5))
    tau = ac.sample("tau", dist.Exponential(0.03))
    with ac.plate("measure", X.shape[2]):
        alpha_hier = ac.sample("alpha_hier", dist.Gamma(0.1667, 1))
    with ac.plate("country", num_countries):
        y = ac.sample("y", dist.Exponential(1 / tau))
        ifr_noise = ac.sample("ifr_noise", dist.TruncatedNormal(1, 0.1, low=0.0))
        # The database's program does not divide the prior by its mass above 0, which depends on kappa.
        mu = ac.sample("mu", dist.ImproperUniform(constraints.positive, (), ()))
    ac.factor("mu_prior", dist.Normal(3.28, kappa).log_prob(mu).sum())

    Rt = (mu[:, None] * jnp.exp(-X @ (alpha_hier - jnp.log(1.05) / 6))).T
    lags = np.arange(num_days)[:, None] - np.arange(num_days) - 1
    infectivity = jnp.where(lags >= 0, SI[np.maximum(lags, 0)], 0)

    def step(carry, day):
        prediction, cumm_sum = carry
        cumm_sum = cumm_sum + prediction[day - 1]
        susceptible = (pop - cumm_sum) / pop
        prediction = prediction.at[day].set(susceptible * Rt[day] * (infectivity[day] @ prediction))
        return (prediction, cumm_sum), None

    seeded = jnp.zeros((num_days, num_countries)).at[:N0].set(y)
    (prediction, _), _ = jax.lax.scan(step, (seeded, (N0 - 1) * y), jnp.arange(N0, num_days))
    fatality = jnp.where(lags[:, :, None] >= 0, f[np.maximum(lags, 0)], 0)
    E_deaths = ifr_noise * jnp.einsum("ijm,jm->im", fatality, prediction)
    E_deaths = E_deaths.at[0].set(1e-15 * prediction[0])
    ac.sample("deaths", dist.NegativeBinomial2(E_deaths, phi).mask(is_counted), obs=deaths)


def covid19imperial_arguments(data: Data):
    """Mark the days from the start of the epidemic to the last one that was observed."""
    day = np.arange(1, len(data["deaths"]) + 1)[:, None]
    is_counted = (day >= data["EpidemicStart"]) & (day <= data["N"])
    deaths = np.where(is_counted, data["deaths"], 0)
    return take("SI", "f", "X", "pop", "N0")(data) | {"deaths": deaths, "is_counted": is_counted}


@ac.model
def state_space_stochastic_level_stochastic_seasonal(y, x, w):
    """A level and a season that change with every month, and two predictors; `y`, `x`, `w`: shape (months,)."""
    num_months, spread = len(y), 3 * jnp.std(y, ddof=1)
    level = constraints.interval(jnp.mean(y) - spread, jnp.mean(y) + spread)
    mu = ac.sample("mu", dist.ImproperUniform(level, (), (num_months,)))
    seasonal = ac.sample("seasonal", dist.ImproperUniform(constraints.real, (), (num_months,)))
    beta = ac.sample("beta", dist.ImproperUniform(constraints.real, (), ()))
    lambda_ = ac.sample("lambda", dist.ImproperUniform(constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(constraints.positive_ordered_vector, (), (3,)))
    ac.factor("sigma_prior", dist.StudentT(4, 0, 1).log_prob(sigma).sum())
    last_eleven = sum(seasonal[lag : num_months - 11 + lag] for lag in range(11))
    ac.factor("seasonal_prior", dist.Normal(-last_eleven, sigma[0]).log_prob(seasonal[11:]).sum())
    ac.factor("mu_prior", dist.Normal(mu[:-1], sigma[1]).log_prob(mu[1:]).sum())
    ac.sample("y", dist.Normal(mu + beta * x + lambda_ * w + seasonal, sigma[2]), obs=y)


@ac.model
def state_space_by_innovations(y, x, w):
    """The level and the season in the non-centred form: what is new in each month is standard normal.

    Of the levels only the first has bounds. `y`, `x`, `w`: shape (months,).
    """
    num_months, spread = len(y), 3 * jnp.std(y, ddof=1)
    level = constraints.interval(jnp.mean(y) - spread, jnp.mean(y) + spread)
    beta = ac.sample("beta", dist.ImproperUniform(constraints.real, (), ()))
    lambda_ = ac.sample("lambda", dist.ImproperUniform(constraints.real, (), ()))
    sigma = ac.sample("sigma", dist.ImproperUniform(constraints.positive_ordered_vector, (), (3,)))
    ac.factor("sigma_prior", dist.StudentT(4, 0, 1).log_prob(sigma).sum())
    mu_first = ac.sample("mu_first", dist.ImproperUniform(level, (), (1,)))
    mu_new = ac.sample("mu_new", dist.Normal(0, 1).expand((num_months - 1,)))
    mu = mu_first + sigma[1] * jnp.concatenate([jnp.zeros(1), jnp.cumsum(mu_new)])
    seasonal_first = ac.sample("seasonal_first", dist.ImproperUniform(constraints.real, (), (11,)))
    seasonal_new = ac.sample("seasonal_new", dist.Normal(0, 1).expand((num_months - 11,)))

    def step(last_eleven, new):
        seasonal = sigma[0] * new - last_eleven.sum()
        return jnp.append(last_eleven[1:], seasonal), seasonal

    later = jax.lax.scan(step, seasonal_first, seasonal_new)[1]
    seasonal = jnp.concatenate([seasonal_first, later])
    ac.sample("y", dist.Normal(mu + beta * x + lambda_ * w + seasonal, sigma[2]), obs=y)


ENTRIES: dict[str, Entry] = {
    # The database's program of this name is that of the next one; the dimensions that it gives are of another program.
    "covid19imperial_v3": Entry(covid19imperial, covid19imperial_arguments),
    "covid19imperial_v2": Entry(covid19imperial, covid19imperial_arguments),
    "state_space_stochastic_level_stochastic_seasonal": Entry(
        state_space_stochastic_level_stochastic_seasonal, take("y", "x", "w")
    ),
}
