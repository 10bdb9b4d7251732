"""Use measurements below a detection limit: censored observations, or truncated data.

A pollutant was measured in 120 wells. Many had less than the laboratory can detect, reported as "below 1". Replacing
these by 1 biases mean and spread. A censored distribution uses the information that the value lies below the limit.
If such wells are not reported at all, the distribution of the others is truncated, and less is known.

Data: simulated by `simulate()`. Theory: Helsel (2012), Statistics for Censored Environmental Data, chapter 6.

    python examples/gallery/detection_limit.py
    accord sample examples/gallery/detection_limit.py:detection_limit --data examples/gallery/detection_limit.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"centre": 0.3, "spread": 1.0}  # of the logarithm
LIMIT = 1.0


@ac.model
def detection_limit(concentration):
    """`concentration`: by well, shape (120,); the limit itself where there was less."""
    centre = ac.sample("centre", dist.Normal(0, 2))
    spread = ac.sample("spread", dist.HalfNormal(2))
    with ac.plate("well", len(concentration)):
        distribution = dist.LogNormal(centre, spread)
        below = concentration <= LIMIT
        ac.sample(
            "concentration", dist.LeftCensoredDistribution(distribution, censored=below), obs=concentration
        )


@ac.model
def reported_only(concentration):
    """Model data without the wells below the limit; `concentration`: shape (n,)."""
    centre = ac.sample("centre", dist.Normal(0, 2))
    spread = ac.sample("spread", dist.HalfNormal(2))
    with ac.plate("well", len(concentration)):
        distribution = dist.LeftTruncatedDistribution(dist.LogNormal(centre, spread), low=LIMIT)
        ac.sample("concentration", distribution, obs=concentration)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2012)
    value = np.exp(rng.normal(TRUTH["centre"], TRUTH["spread"], 120))
    return {"concentration": np.maximum(np.round(value, 3), LIMIT)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit both models, and compare with replacing values by the limit."""
    concentration = data()["concentration"]
    draws = infer.sample(detection_limit(concentration), seed=1)
    print(draws.summary())
    others = infer.sample(reported_only(concentration[concentration > LIMIT]), seed=1)

    replaced = np.log(concentration)
    print(f"{np.mean(concentration <= LIMIT):.0%} of wells are below the limit")
    print(f"with the limit in their place: centre {replaced.mean():.2f}, spread {replaced.std():.2f}")

    # Check
    for name, truth in TRUTH.items():
        for kind, found in {"censored": draws[name], "truncated": others[name]}.items():
            low, high = np.quantile(found, [0.05, 0.95])
            print(f"{name}, {kind}: {low:.2f} to {high:.2f} (90%), true {truth}")
    return draws


if __name__ == "__main__":
    main()
