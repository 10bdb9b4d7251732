"""Estimate how fast influenza spread in a boarding school: an SIR model with its differential equations.

In January 1978 influenza broke out among the 763 boys of a boarding school in England. The number of boys in bed was
counted on fourteen days. Susceptible boys are infected at a rate that grows with the number of infectious boys;
infectious boys recover. `ode.solve` solves the equations to a tolerance, with gradients. The counts vary around the
solution by more than chance, as in a negative binomial distribution.

Data: British Medical Journal, 4 March 1978, page 587. Analysis with which it is compared: Grinsztajn, Semenova,
Margossian & Riou (2021), Bayesian workflow for disease transmission modeling in Stan, Statistics in Medicine 40(27),
6209-6234.

    python examples/gallery/influenza.py
    accord sample examples/gallery/influenza.py --data examples/gallery/influenza.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer, ode

BOYS = 763
# Posterior means of that analysis: infections and recoveries per day, and how many boys the first one infects.
PUBLISHED = {"infection": 1.73, "recovery": 0.54, "reproduction": 3.22}


def slope(day, log_state, rates):
    """Return the derivatives of the logarithms of susceptible and infectious boys."""
    (susceptible, infectious), (infection, recovery) = jnp.exp(log_state), rates
    return jnp.stack([-infection * infectious / BOYS, infection * susceptible / BOYS - recovery])


def course(infection, recovery, days):
    """Return susceptible and infectious boys at the end of each day, shape (days, 2); one is infectious at first."""
    start = np.log([BOYS - 1.0, 1.0])  # logarithms, since numbers stay positive
    return jnp.exp(ode.solve(slope, start, 0.0, np.arange(1.0, days + 1), (infection, recovery)))


@ac.model
def influenza(in_bed):
    """`in_bed`: boys on days 1 to 14, shape (14,)."""
    infection = ac.sample("infection", dist.TruncatedNormal(2, 1, low=0.0))
    recovery = ac.sample("recovery", dist.TruncatedNormal(0.4, 0.5, low=0.0))
    excess = ac.sample("excess", dist.Exponential(5))  # 1 / concentration; at 0, counts are Poisson
    ac.deterministic("reproduction", infection / recovery)
    with ac.plate("day", len(in_bed)):
        # If an epidemic dies out at once, the number of ill boys rounds to zero.
        expected = jnp.maximum(course(infection, recovery, len(in_bed))[:, 1], 1e-6)
        ac.deterministic("expected", expected)
        ac.sample("in_bed", dist.NegativeBinomial2(expected, 1 / excess), obs=in_bed)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read the course of the epidemic, and compare with the published analysis."""
    draws = infer.sample(influenza(**data()), init=infer.from_prior(), seed=1)
    print(draws.summary())

    # Days of illness, and the share of boys that must be immune to stop the epidemic.
    print(f"a boy is infectious for {np.mean(1 / draws['recovery']):.1f} days")
    immune = 1 - 1 / draws["reproduction"]
    print(f"the epidemic would not have begun with {immune.mean():.0%} immune")

    # Check
    for name, published in PUBLISHED.items():
        print(f"{name}: {draws[name].mean():.2f}, published {published}")
    return draws


def plot(draws):
    """Draw the counts, and the bands of 90% of the course and of counts like these."""
    from matplotlib.figure import Figure

    counts = data()["in_bed"]
    days = 1 + np.arange(len(counts))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="day", ylabel="boys in bed")
    for values, alpha in ((infer.predict(draws)["in_bed"], 0.15), (draws["expected"], 0.4)):
        low, high = np.quantile(values, [0.05, 0.95], axis=(0, 1))
        axes.fill_between(days, low, high, color="#3f88c5", alpha=alpha, linewidth=0)
    axes.plot(days, counts, "o", color="#8a8a8a")
    return figure


if __name__ == "__main__":
    main()
