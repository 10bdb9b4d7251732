"""Extrapolate the risk of damaged seals to a cold morning: logistic regression by mode, Laplace and draws.

The space shuttle Challenger was lost on a morning of 31 degrees Fahrenheit. Of the 23 flights before, seven had
damaged O-rings, most of them in cold weather. What risk could have been predicted the night before? With 23
observations, how much do maximum likelihood, the posterior mode, Laplace's approximation and posterior draws differ?

Data: Dalal, Fowlkes & Hoadley (1989), Risk analysis of the space shuttle: pre-Challenger prediction of failure, JASA
84(408), 945-957. Maximum likelihood estimates: Agresti (2002), Categorical Data Analysis, exercise 5.9 (intercept
15.043, slope -0.232).

    python examples/gallery/challenger.py
    accord sample examples/gallery/challenger.py --data examples/gallery/challenger.json
"""

import json
from pathlib import Path

import jax
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {"intercept": 15.043, "slope": -0.232}
COLD = 31.0  # degrees Fahrenheit


@ac.model
def challenger(temperature, damaged=None):
    """By flight, shape (23,): `temperature` in degrees Fahrenheit; `damaged`: 1 if any O-ring was, else 0."""
    at_70 = ac.sample("at_70", dist.Normal(0, 5))
    slope = ac.sample("slope", dist.Normal(0, 1))
    ac.deterministic("intercept", at_70 - 70 * slope)
    ac.deterministic("risk", jax.nn.sigmoid(at_70 + slope * (COLD - 70)))
    with ac.plate("flight", len(temperature)):
        ac.sample("damaged", dist.Bernoulli(logits=at_70 + slope * (temperature - 70)), obs=damaged)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Find both modes, approximate, draw, and compare the four answers."""
    model = challenger(**data())
    likelihood = infer.find_mode(model, "mle")
    print(likelihood)
    posterior = infer.find_mode(model)
    laplace = posterior.laplace(draws=4000, seed=1)
    draws = infer.sample(model, seed=1)
    print(draws.summary())

    # The risk at 31 degrees: a point estimate hides that low risks are possible too.
    print(f"maximum likelihood {likelihood.deterministics['risk']:.3f}")
    print(f"mode of the posterior {posterior.deterministics['risk']:.3f}")
    for name, risk in {"Laplace": laplace["risk"], "draws": draws["risk"]}.items():
        low, middle, high = np.quantile(risk, [0.05, 0.5, 0.95])
        print(f"{name}: median {middle:.3f}, 90% between {low:.3f} and {high:.3f}")

    # Check: maximum likelihood agrees with the published estimates.
    found = {**likelihood.values, **likelihood.deterministics}
    for name, published in PUBLISHED.items():
        print(f"{name}: {found[name]:.3f}, published {published:.3f}")
    return draws


if __name__ == "__main__":
    main()
