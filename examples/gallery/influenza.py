"""Estimate how fast an influenza spread in a boarding school: an SIR model, its differential equations solved within.

In January 1978 influenza broke out among the 763 boys of a boarding school in England; how many were in bed was
counted on fourteen days. Susceptible boys are infected at a rate that grows with how many are infectious, and these
recover. The equations are solved by a fourth-order Runge-Kutta rule of fixed step, a loop that JAX differentiates;
the counts scatter around the solution by more than chance, as a negative binomial law.

Data: British Medical Journal, 4 March 1978, page 587. Analysis with which it is compared: Grinsztajn, Semenova,
Margossian & Riou (2021), Bayesian workflow for disease transmission modeling in Stan, Statistics in Medicine 40(27),
6209-6234.

    python examples/gallery/influenza.py
    accord sample examples/gallery/influenza.py --data examples/gallery/influenza.json
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

BOYS = 763
STEPS_A_DAY = 5
# Posterior means of that analysis: infections and recoveries per day, and how many boys the first one infects.
PUBLISHED = {"infection": 1.73, "recovery": 0.54, "reproduction": 3.22}


def infectious(infection, recovery, days):
    """How many boys are infectious at the end of each day; one is at the beginning of the first. Shape (days,)."""

    def slope(state):
        susceptible, ill = state
        infected = infection * susceptible * ill / BOYS
        return jnp.stack([-infected, infected - recovery * ill])

    def step(state, _):
        h = 1 / STEPS_A_DAY
        first = slope(state)
        second = slope(state + h / 2 * first)
        third = slope(state + h / 2 * second)
        fourth = slope(state + h * third)
        state = state + h / 6 * (first + 2 * second + 2 * third + fourth)
        return state, state[1]

    _, path = jax.lax.scan(step, jnp.array([BOYS - 1.0, 1.0]), length=days * STEPS_A_DAY)
    return path[STEPS_A_DAY - 1 :: STEPS_A_DAY]


@ac.model
def influenza(in_bed):
    """`in_bed`: boys on days 1 to 14, shape (14,)."""
    infection = ac.sample("infection", dist.TruncatedNormal(2, 1, low=0.0))
    recovery = ac.sample("recovery", dist.TruncatedNormal(0.4, 0.5, low=0.0))
    excess = ac.sample("excess", dist.Exponential(5))  # 1 / concentration; at 0, counts are Poisson
    ac.deterministic("reproduction", infection / recovery)
    with ac.plate("day", len(in_bed)):
        # The solution is positive; far from the data it rounds to less.
        expected = jnp.maximum(infectious(infection, recovery, len(in_bed)), 1e-6)
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


if __name__ == "__main__":
    main()
