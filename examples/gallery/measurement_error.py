"""Regress on a covariate that is measured with error: correct an attenuated slope.

Health depends on long-term exposure, but exposure is measured on one day only, with an error whose size is known from
repeated measurements. Least squares on the measured values underestimates the slope, because the error spreads the
covariate but not its effect. In this model every person's true exposure is an unknown.

Data: simulated by `simulate()`. Theory: Carroll, Ruppert, Stefanski & Crainiceanu (2006), Measurement Error in
Nonlinear Models, chapters 1 and 9.

    python examples/gallery/measurement_error.py
    accord sample examples/gallery/measurement_error.py --data examples/gallery/measurement_error.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"mean": 2.0, "spread": 1.0, "level": 1.0, "slope": 1.0, "noise": 1.0}
ERROR = 0.7  # standard deviation of one measurement, known


@ac.model
def measurement_error(measured, health):
    """By person, shape (200,): `measured` exposure, and `health`."""
    mean = ac.sample("mean", dist.Normal(0, 5))
    spread = ac.sample("spread", dist.HalfNormal(2))
    level = ac.sample("level", dist.Normal(0, 5))
    slope = ac.sample("slope", dist.Normal(0, 2))
    noise = ac.sample("noise", dist.HalfNormal(2))
    with ac.plate("person", len(measured)):
        exposure = ac.sample("exposure", dist.Normal(mean, spread))
        ac.sample("measured", dist.Normal(exposure, ERROR), obs=measured)
        ac.sample("health", dist.Normal(level + slope * exposure, noise), obs=health)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2006)
    exposure = rng.normal(TRUTH["mean"], TRUTH["spread"], 200)
    measured = exposure + rng.normal(0, ERROR, 200)
    health = TRUTH["level"] + TRUTH["slope"] * exposure + rng.normal(0, TRUTH["noise"], 200)
    return {"measured": np.round(measured, 3), "health": np.round(health, 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def slopes(measured, health):
    """Return the least-squares slope and its correction for attenuation, which is also maximum likelihood."""
    covariance = np.cov(measured, health, bias=True)
    naive = covariance[0, 1] / covariance[0, 0]
    return naive, covariance[0, 1] / (covariance[0, 0] - ERROR**2)


def main():
    """Fit, and compare with least squares and its correction."""
    draws = infer.sample(measurement_error(**data()), seed=1)
    print(draws.summary())

    # Extreme measurements are partly chance: the person's true exposure is nearer to the mean.
    highest = data()["measured"].argmax()
    exposure = draws["exposure"][..., highest].mean()
    print(
        f"the highest measurement is {data()['measured'].max():.1f}, that person's exposure about {exposure:.1f}"
    )

    # Check
    naive, corrected = slopes(**data())
    low, high = np.quantile(draws["slope"], [0.05, 0.95])
    print(f"slope {low:.2f} to {high:.2f} (90%), true {TRUTH['slope']}")
    print(f"least squares {naive:.2f}, corrected {corrected:.2f}")
    return draws


if __name__ == "__main__":
    main()
