"""Use rows in which a covariate is missing, instead of dropping them: imputation as part of the model.

For 200 patients, age and an outcome are known. Blood pressure is known for most of those whose outcome was bad,
because they were measured more often. Without the incomplete rows, the remaining sample depends on the outcome, and
the slope is biased. A model of pressure given age makes each missing pressure an unknown. It is inferred from age and
outcome, and its uncertainty is carried on.

Data: simulated by `simulate()`. Theory: Little & Rubin (2019), Statistical Analysis with Missing Data, chapter 6.

    python examples/gallery/missing.py
    accord sample examples/gallery/missing.py --data examples/gallery/missing.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"slope": 1.0, "age_effect": 0.5, "noise": 1.0, "pressure_by_age": 0.6, "pressure_noise": 0.8}


@ac.model
def missing(age, pressure, is_measured, outcome=None):
    """Regress standardised outcomes on age and pressure, by patient, shape (200,).

    `pressure` is ignored where `is_measured` is 0.
    """
    pressure_by_age = ac.sample("pressure_by_age", dist.Normal(0, 1))
    pressure_noise = ac.sample("pressure_noise", dist.HalfNormal(1))
    level = ac.sample("level", dist.Normal(0, 1))
    slope = ac.sample("slope", dist.Normal(0, 1))
    age_effect = ac.sample("age_effect", dist.Normal(0, 1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    with ac.plate("patient", len(age)):
        distribution = dist.Normal(pressure_by_age * age, pressure_noise)
        pressure = ac.sample("pressure", distribution, obs=pressure, obs_mask=np.asarray(is_measured) == 1)
        mean = level + slope * pressure + age_effect * age
        ac.sample("outcome", dist.Normal(mean, noise), obs=outcome)


def simulate():
    """Simulate the data in the JSON file: the higher the outcome, the likelier the pressure was measured."""
    rng = np.random.default_rng(2019)
    age = rng.normal(size=200)
    pressure = TRUTH["pressure_by_age"] * age + rng.normal(0, TRUTH["pressure_noise"], 200)
    mean = TRUTH["slope"] * pressure + TRUTH["age_effect"] * age
    outcome = mean + rng.normal(0, TRUTH["noise"], 200)
    is_measured = (rng.random(200) < 1 / (1 + np.exp(-1 - 2 * outcome))).astype(int)
    shown = np.where(is_measured == 1, np.round(pressure, 3), 0.0)
    return {
        "age": np.round(age, 3),
        "pressure": shown,
        "is_measured": is_measured,
        "outcome": np.round(outcome, 3),
    }


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def complete_cases(age, pressure, is_measured, outcome):
    """Return the least-squares slope from complete rows only."""
    columns = np.stack([np.ones_like(age), pressure, age], axis=1)[is_measured == 1]
    return np.linalg.lstsq(columns, outcome[is_measured == 1], rcond=None)[0][1]


def main():
    """Fit, and compare with dropping rows."""
    draws = infer.sample(missing(**data()), seed=1)
    print(draws.summary())

    is_measured = data()["is_measured"] == 1
    imputed = draws["pressure_unobserved"].mean(axis=(0, 1))
    print(
        f"pressure was measured for {is_measured.sum()} of 200, on average "
        f"{data()['pressure'][is_measured].mean():+.2f}"
    )
    print(f"the missing ones are inferred to be {imputed.mean():+.2f} on average")

    # Check
    low, high = np.quantile(draws["slope"], [0.05, 0.95])
    print(
        f"slope {low:.2f} to {high:.2f} (90%), true {TRUTH['slope']}; "
        f"complete rows alone {complete_cases(**data()):.2f}"
    )
    return draws


if __name__ == "__main__":
    main()
