"""Find quiet and active decades in a century of great earthquakes: a hidden Markov model of two states.

Each year's number of earthquakes of magnitude 7 or more is Poisson, with one of two rates. From year to year the
state stays or changes. The model says just that: `ac.scan` carries the state, a discrete site, from year to year.
Accord sums the states out (by the forward algorithm) and samples rates and transition probabilities.
`infer.predict(draws, kind="probabilities")` has the probability of each state in each year.

Data: Zucchini, MacDonald & Langrock (2016), Hidden Markov Models for Time Series, table 1.1 and appendix, 1900 to
2006, with the maximum likelihood estimates of section 3.

    python examples/gallery/earthquakes.py
    accord sample examples/gallery/earthquakes.py --data examples/gallery/earthquakes.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {"quiet": 15.472, "active": 26.125, "minus log likelihood": 342.3183}


@ac.model
def earthquakes(counts):
    """`counts`: earthquakes by year, shape (years,)."""
    counts = jnp.asarray(counts)
    log_rates = ac.sample("log_rates", dist.ordered(dist.Normal(3, 1).expand((2,)).to_event(1)), dims="state")
    ac.deterministic("rates", jnp.exp(log_rates), dims={"state": ["quiet", "active"]})
    to_active = ac.sample("to_active", dist.Beta(1, 4))  # from a quiet year to an active one
    to_quiet = ac.sample("to_quiet", dist.Beta(1, 4))
    # The first year is like any other: its state has the stationary distribution.
    first = to_active / (to_quiet + to_active)
    chance = jnp.stack([to_active, 1 - to_quiet, first])  # to be active, by the state before

    def year(before, count):
        is_active = ac.sample("is_active", dist.Bernoulli(chance[before])).astype(int)
        ac.sample("count", dist.LogPoisson(log_rates[is_active]), obs=count)
        return is_active, None

    ac.scan(year, 2, counts, name="year", coords=range(1900, 1900 + len(counts)))


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def probabilities(draws):
    """Return the posterior probability that each year was active."""
    return infer.predict(draws, kind="probabilities")["is_active"][..., 1].mean(axis=(0, 1))


def main():
    """Fit, read when the earth was active, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(earthquakes(**data()), seed=1)
    print(draws.summary())

    active = probabilities(draws)
    for year in range(1900, 2000, 10):
        decade = active[year - 1900 : year - 1890]
        print(f"{year}s: {np.sum(decade > 0.5)} of 10 years probably active")
    print(f"an active spell lasts {np.mean(1 / draws['to_quiet']):.0f} years on average")

    # Check
    mode = infer.find_mode(earthquakes(**data()), "mle")
    found = [*mode.deterministics["rates"], -mode.log_density]
    for (name, published), value in zip(PUBLISHED.items(), found, strict=True):
        print(f"{name}: {value:.3f}, published {published:.3f}")
    return draws


def plot(draws):
    """Draw the counts, and the probability that each year was active."""
    from matplotlib.figure import Figure

    counts = data()["counts"]
    years = 1900 + np.arange(len(counts))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="earthquakes")
    axes.plot(years, counts, ".", color="#8a8a8a")
    axes.set_ylim(0, None)
    beside = axes.twinx()
    beside.fill_between(years, probabilities(draws), color="#e4793a", alpha=0.3, linewidth=0)
    beside.set(ylim=(0, 1), ylabel="probability of being active")
    return figure


if __name__ == "__main__":
    main()
