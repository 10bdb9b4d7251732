"""Model log radon in houses by county, pooled to different degrees (Gelman & Hill, 2007, chapter 12)."""

import accord as ac
import accord.distributions as dist
from entry import Entry, take


@ac.model
def radon_county(county, y, J):
    """Hierarchical means of `J` counties; `county`, `y`: shape (n,)."""
    mu_a = ac.sample("mu_a", dist.Normal(0, 1))
    sigma_a = ac.sample("sigma_a", dist.Uniform(0, 100))
    sigma_y = ac.sample("sigma_y", dist.Uniform(0, 100))
    with ac.plate("county", J):
        a = ac.sample("a", dist.Normal(mu_a, sigma_a))
    ac.sample("y", dist.Normal(a[county], sigma_y), obs=y)


@ac.model
def radon_pooled(floor_measure, log_radon):
    """One line for all counties."""
    alpha = ac.sample("alpha", dist.Normal(0, 10))
    beta = ac.sample("beta", dist.Normal(0, 10))
    sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
    ac.sample("log_radon", dist.Normal(alpha + beta * floor_measure, sigma_y), obs=log_radon)


@ac.model
def radon_county_intercept(county_idx, floor_measure, log_radon, J):
    """An intercept for each county, without pooling."""
    with ac.plate("county", J):
        alpha = ac.sample("alpha", dist.Normal(0, 10))
    beta = ac.sample("beta", dist.Normal(0, 10))
    sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
    mu = alpha[county_idx] + beta * floor_measure
    ac.sample("log_radon", dist.Normal(mu, sigma_y), obs=log_radon)


def centred(name, J):
    """Sample effects of `J` counties, with their mean and standard deviation, as they are."""
    mu = ac.sample(f"mu_{name}", dist.Normal(0, 10))
    sigma = ac.sample(f"sigma_{name}", dist.HalfNormal(1))
    with ac.plate(f"county_{name}", J):
        return ac.sample(name, dist.Normal(mu, sigma))


def noncentred(name, J):
    """Sample effects of `J` counties in units of their standard deviation."""
    mu = ac.sample(f"mu_{name}", dist.Normal(0, 10))
    sigma = ac.sample(f"sigma_{name}", dist.HalfNormal(1))
    with ac.plate(f"county_{name}", J):
        raw = ac.sample(f"{name}_raw", dist.Normal(0, 1))
        return ac.deterministic(name, mu + sigma * raw)


def pooled_partially(effects):
    """Make the model of county means alone."""

    @ac.model
    def radon_partially_pooled(county_idx, log_radon, J):
        alpha = effects("alpha", J)
        sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
        ac.sample("log_radon", dist.Normal(alpha[county_idx], sigma_y), obs=log_radon)

    return radon_partially_pooled


def variable_intercept(effects):
    """Make the model of county intercepts and one slope."""

    @ac.model
    def radon_variable_intercept(county_idx, floor_measure, log_radon, J):
        alpha = effects("alpha", J)
        beta = ac.sample("beta", dist.Normal(0, 10))
        sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
        mu = alpha[county_idx] + floor_measure * beta
        ac.sample("log_radon", dist.Normal(mu, sigma_y), obs=log_radon)

    return radon_variable_intercept


def variable_slope(effects):
    """Make the model of one intercept and county slopes."""

    @ac.model
    def radon_variable_slope(county_idx, floor_measure, log_radon, J):
        alpha = ac.sample("alpha", dist.Normal(0, 10))
        beta = effects("beta", J)
        sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
        mu = alpha + floor_measure * beta[county_idx]
        ac.sample("log_radon", dist.Normal(mu, sigma_y), obs=log_radon)

    return radon_variable_slope


def variable_intercept_slope(effects):
    """Make the model of county intercepts and county slopes."""

    @ac.model
    def radon_variable_intercept_slope(county_idx, floor_measure, log_radon, J):
        alpha = effects("alpha", J)
        beta = effects("beta", J)
        sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
        mu = alpha[county_idx] + floor_measure * beta[county_idx]
        ac.sample("log_radon", dist.Normal(mu, sigma_y), obs=log_radon)

    return radon_variable_intercept_slope


def hierarchical_intercept(effects):
    """Make the model of county intercepts that depend on the county's uranium, too."""

    @ac.model
    def radon_hierarchical_intercept(county_idx, log_uppm, floor_measure, log_radon, J):
        alpha = effects("alpha", J)
        with ac.plate("coefficient", 2):
            beta = ac.sample("beta", dist.Normal(0, 10))
        sigma_y = ac.sample("sigma_y", dist.HalfNormal(1))
        mu = alpha[county_idx] + log_uppm * beta[0] + floor_measure * beta[1]
        ac.sample("log_radon", dist.Normal(mu, sigma_y), obs=log_radon)

    return radon_hierarchical_intercept


FORMS = {"centered": centred, "noncentered": noncentred}
_COUNTIES = ("county_idx",)
_FLOORS = take("floor_measure", "log_radon", "J", zero_based=_COUNTIES)

ENTRIES = {
    "radon_county": Entry(radon_county, take("y", "J", zero_based=("county",))),
    "radon_pooled": Entry(radon_pooled, take("floor_measure", "log_radon")),
    "radon_county_intercept": Entry(radon_county_intercept, _FLOORS),
}
for form, effects in FORMS.items():
    ENTRIES |= {
        f"radon_partially_pooled_{form}": Entry(
            pooled_partially(effects), take("log_radon", "J", zero_based=_COUNTIES)
        ),
        f"radon_variable_intercept_{form}": Entry(variable_intercept(effects), _FLOORS),
        f"radon_variable_slope_{form}": Entry(variable_slope(effects), _FLOORS),
        f"radon_variable_intercept_slope_{form}": Entry(variable_intercept_slope(effects), _FLOORS),
        f"radon_hierarchical_intercept_{form}": Entry(
            hierarchical_intercept(effects),
            take("log_uppm", "floor_measure", "log_radon", "J", zero_based=_COUNTIES),
        ),
    }
