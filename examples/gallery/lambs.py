"""Explain more zeros than a Poisson distribution has: zero-inflated counts of a lamb's movements before birth.

A fetal lamb's movements were counted by ultrasound in 240 intervals of five seconds; 182 had none. If the lamb sleeps
in some intervals, these are certain zeros, and the others are Poisson. What share of the time does it sleep?

Data: Leroux & Puterman (1992), Maximum-penalized-likelihood estimation for independent and Markov-dependent mixture
models, Biometrics 48(2), 545-558, table 1; here without the order of the spells.

    python examples/gallery/lambs.py
    accord sample examples/gallery/lambs.py --data examples/gallery/lambs.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer


@ac.model
def lambs(movements=None):
    """`movements`: by interval, shape (240,)."""
    asleep = ac.sample("asleep", dist.Beta(1, 1))  # share of intervals
    rate = ac.sample("rate", dist.Gamma(2, 1))  # movements in an interval awake
    with ac.plate("spell", 240):
        ac.sample("movements", dist.ZeroInflatedPoisson(asleep, rate), obs=movements)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def maximum_likelihood(movements):
    """Solve the score equations: expected zeros and mean equal the observed ones; the rate by fixed-point iteration."""
    above = movements[movements > 0].mean()
    rate = above
    for _ in range(200):
        rate = above * (1 - np.exp(-rate))
    return {"asleep": 1 - movements.mean() / rate, "rate": rate}


def main():
    """Fit, check whether zeros are explained, and compare maximum likelihood with its equations."""
    draws = infer.sample(lambs(**data()), seed=1)
    print(draws.summary())

    # Does the model predict as many zeros, and as large counts? Near 0 or 1 it does not: it does not explain the
    # interval with seven movements.
    replicated, movements = infer.predict(draws)["movements"], data()["movements"]
    zeros = np.mean(np.sum(replicated == 0, axis=-1) >= np.sum(movements == 0))
    largest = np.mean(replicated.max(axis=-1) >= movements.max())
    print(
        f"at least as many zeros in {zeros:.0%} of replications, a spell as lively as the liveliest in {largest:.0%}"
    )

    # Check
    mode = infer.find_mode(lambs(**data()), "mle")
    for name, expected in maximum_likelihood(**data()).items():
        print(f"{name}: {mode.values[name]:.4f}, by the score equations {expected:.4f}")
    return draws


def plot(draws):
    """Draw the observations over the model's predictions."""
    return infer.predict(draws).plot()


if __name__ == "__main__":
    main()
