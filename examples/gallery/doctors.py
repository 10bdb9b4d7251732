"""Compare deaths of smokers and non-smokers per person-year: Poisson regression with an offset.

Fifty thousand British doctors were asked whether they smoked, and their deaths from coronary disease were counted in
five age groups. The groups differ in size, so the model is about the rate per person-year. The logarithm of the rate
is linear, and the logarithm of the person-years enters as an offset, without a coefficient. Does smoking matter, and
is its effect the same at all ages?

Data: Doll & Hill (1966); Breslow & Day (1987), table 1.1. Maximum likelihood estimates: Dobson & Barnett (2018), An
Introduction to Generalized Linear Models, section 9.2.1.

    python examples/gallery/doctors.py
    accord sample examples/gallery/doctors.py --data examples/gallery/doctors.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

# Estimate and standard error.
PUBLISHED = {
    "age_effect": (2.376, 0.208),
    "age_squared": (-0.198, 0.027),
    "smoking": (1.441, 0.372),
    "smoking_by_age": (-0.308, 0.097),
}


@ac.model
def doctors(age, smoker, person_years, deaths=None):
    """By group, shape (10,): `age`: 1 is 35 to 44, ..., 5 is 75 to 84; `smoker`: 0 or 1; `deaths` in `person_years`."""
    intercept = ac.sample("intercept", dist.Normal(-10, 5))
    age_effect = ac.sample("age_effect", dist.Normal(0, 5))
    age_squared = ac.sample("age_squared", dist.Normal(0, 1))
    smoking = ac.sample("smoking", dist.Normal(0, 2))
    smoking_by_age = ac.sample("smoking_by_age", dist.Normal(0, 1))
    log_rate = intercept + age_effect * age + age_squared * age**2
    log_rate += smoking * smoker + smoking_by_age * smoker * age
    with ac.plate("group", len(age)):
        ac.deterministic("per_1000", 1000 * jnp.exp(log_rate))
        # On the log scale, a rate neither overflows nor underflows.
        ac.sample("deaths", dist.LogPoisson(log_rate + jnp.log(person_years)), obs=deaths)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read the ratio of rates by age, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(doctors(**data()), seed=1)
    print(draws.summary())

    # The ratio of smokers' to others' rates falls with age, as more and more deaths are due to age itself.
    for age, years in enumerate(["35-44", "45-54", "55-64", "65-74", "75-84"], start=1):
        ratio = np.exp(draws["smoking"] + age * draws["smoking_by_age"])
        low, high = np.quantile(ratio, [0.05, 0.95])
        print(f"{years}: smokers die {np.median(ratio):.1f} times as often (90%: {low:.1f} to {high:.1f})")

    # Check
    mode = infer.find_mode(doctors(**data()), "mle")
    for name, (estimate, error) in PUBLISHED.items():
        found = f"{mode.values[name]:.3f} ({mode.standard_errors[name]:.3f})"
        print(f"{name}: {found}, published {estimate:.3f} ({error:.3f})")
    return draws


if __name__ == "__main__":
    main()
