"""Date the year in which coal mines became safer: a change point, summed out.

Disasters in British coal mines were frequent until some year in the nineteenth century, and rarer later. When did the
rate change, and by how much? The year is a discrete unknown with as many values as there are years, and is written as
such: accord sums it out, and samples the two rates. Each draw has a year, drawn given its rates;
`infer.predict(draws, kind="probabilities")` has the probability of every year, which varies less.

Data: Jarrett (1979), A note on the intervals between coal-mining disasters, Biometrika 66(1), 191-193; by year, 1851
to 1962. First analysed so by Carlin, Gelfand & Smith (1992), Applied Statistics 41(2), 389-405.

    python examples/gallery/coal.py
    accord sample examples/gallery/coal.py --data examples/gallery/coal.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

import accord as ac
import accord.distributions as dist
from accord import infer

FIRST = 1851
SHAPE, RATE = 2.0, 1.0  # of both gamma priors


@ac.model
def coal(disasters):
    """`disasters`: by year, shape (112,)."""
    years = FIRST + np.arange(len(disasters))
    early = ac.sample("early", dist.Gamma(SHAPE, RATE))
    late = ac.sample("late", dist.Gamma(SHAPE, RATE))
    last_early = ac.sample("last_early", dist.DiscreteUniform(years[0], years[-2]))
    with ac.plate("year", len(years), coords=years):
        rate = jnp.where(years <= last_early, early, late)
        ac.sample("disasters", dist.Poisson(rate), obs=disasters)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def exact(disasters):
    """Compute expected rates and the probability of every year: gamma priors give gamma posteriors."""
    num_early = np.arange(1, len(disasters))
    count = np.cumsum(disasters)[:-1]
    a, b = SHAPE + count, RATE + num_early
    c, d = SHAPE + disasters.sum() - count, RATE + len(disasters) - num_early
    log_weight = gammaln(a) - a * np.log(b) + gammaln(c) - c * np.log(d)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return {"early": weight @ (a / b), "late": weight @ (c / d), "last_early": weight}


def probabilities(draws):
    """Return the posterior probability of every year, from 1851."""
    return infer.predict(draws, kind="probabilities")["last_early"].mean(axis=(0, 1))


def main():
    """Fit, read the year and the rates, and compare with the exact answer."""
    draws = infer.sample(coal(**data()), seed=1)
    print(draws.summary())

    years = probabilities(draws)
    print(f"the last year of the early rate: {FIRST + years.argmax()} ({years.max():.0%})")
    likely = FIRST + np.flatnonzero(years > 0.02)
    print(f"between {likely.min()} and {likely.max()} with probability {years[likely - FIRST].sum():.0%}")
    ratio = draws["early"] / draws["late"]
    print(f"disasters were {ratio.mean():.1f} times as frequent before")

    # Check
    answer = exact(**data())
    for name in ("early", "late"):
        print(f"{name}: {draws[name].mean():.3f}, exact {answer[name]:.3f}")
    print(
        f"probabilities of years: at most {abs(years - answer['last_early']).max():.3f} from the exact ones"
    )
    return draws


def plot(draws):
    """Draw the counts, and the probability of every year."""
    from matplotlib.figure import Figure

    disasters = data()["disasters"]
    years = FIRST + np.arange(len(disasters))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="disasters")
    axes.bar(years, disasters, color="#8a8a8a", width=0.8)
    beside = axes.twinx()
    beside.fill_between(years[:-1], probabilities(draws), color="#e4793a", alpha=0.5, linewidth=0)
    beside.set(ylim=(0, None), ylabel="probability of the change")
    return figure


if __name__ == "__main__":
    main()
