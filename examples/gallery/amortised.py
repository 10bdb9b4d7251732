"""Fit a mixed model with many groups in seconds: effects of groups that a guide computes from their data.

Six hundred wards counted infections in five months each, at known numbers of patients. Wards differ: each has an effect
of its own. With an unknown for each ward, a sampler takes longer the more wards there are. Here the guide computes the
distribution of a ward's effect from its data, by a few numbers that all wards share. It is fitted on parts of the
wards, and tells of a new ward at once. How far is it from draws of the posterior?

Data: simulated by `simulate()`. Method: Agrawal & Domke (2021), "Amortized variational inference for simple
hierarchical models", NeurIPS.

    python examples/gallery/amortised.py
    accord sample examples/gallery/amortised.py --data examples/gallery/amortised.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.distributions import constraints

TRUTH = {"level": -3.0, "spread": 0.7}


@ac.model
def amortised(patients, infections, size=None):
    """`patients`, `infections`: shape (ward, month). `size`: the number of wards at a time."""
    level = ac.sample("level", dist.Normal(0, 5))
    spread = ac.sample("spread", dist.LogNormal(0, 1))
    with ac.plate("ward", len(patients), subsample_size=size):
        effect = ac.sample("effect", dist.Normal(0, 1))
        seen = ac.subsample(infections, 1)
        rate = ac.subsample(patients, 1) * jnp.exp(level + spread * effect)[:, None]
        ac.sample("infections", dist.Poisson(rate).to_event(1), obs=seen)


@ac.model
def guide(patients, infections, size=None):
    """Normal distributions: of each effect by the ward's data, given level and spread."""
    loc, scale = (
        ac.param("loc", np.zeros(2)),
        ac.param("scale", 0.1 * np.ones(2), constraint=constraints.positive),
    )
    level = ac.sample("level", dist.Normal(-2 + loc[0], scale[0]))
    spread = ac.sample("spread", dist.LogNormal(loc[1], scale[1]))
    shift = ac.param("shift", np.zeros(3))
    width = ac.param("width", np.zeros(2))
    with ac.plate("ward", len(patients), subsample_size=size):
        count = ac.subsample(infections, 1).sum(axis=1)
        expected = ac.subsample(patients, 1).sum(axis=1) * jnp.exp(level)
        # Of a normal prior and about `count` counts: how much the data say, beside the prior.
        weight = spread**2 * (count + jnp.exp(shift[0]))
        ratio = jnp.log((count + jnp.exp(shift[1])) / (expected + jnp.exp(shift[2])))
        own = weight / (1 + weight) * ratio / spread
        ac.sample("effect", dist.Normal(own, jnp.exp(width[0]) / jnp.sqrt(1 + jnp.exp(width[1]) * weight)))


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(2021)
    patients = rng.integers(5, 40, (600, 5))
    rate = np.exp(TRUTH["level"] + TRUTH["spread"] * rng.normal(size=(600, 1)))
    return {"patients": patients, "infections": rng.poisson(patients * rate)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, compare with draws of the posterior, and look at a ward that was not there."""
    given = data()
    fit = infer.fit(amortised(**given, size=100), guide(**given, size=100), seed=1)
    print(fit)
    drawn = fit.draw(1000, seed=1)
    print(drawn.summary(["level", "spread"]))

    # Check: draws of the posterior itself.
    draws = infer.sample(amortised(**given), draws=500, seed=1)
    for name, true in TRUTH.items():
        print(
            f"{name}: guide {drawn[name].mean():.3f} +- {drawn[name].std():.3f}, "
            f"draws {draws[name].mean():.3f} +- {draws[name].std():.3f}, true {true}"
        )
    apart = drawn["effect"].mean(axis=(0, 1)) - draws["effect"].mean(axis=(0, 1))
    print(f"effects: {np.abs(apart).max():.2f} apart at most, {np.abs(apart).mean():.3f} on average")

    # A new ward, whose data the fit has not seen, needs no step.
    new = {"patients": np.array([[20, 20, 20, 20, 20]]), "infections": np.array([[5, 4, 6, 3, 5]])}
    effect = fit.draw_for(amortised(**new), guide(**new))["effect"]
    print(f"a ward with 23 infections in 100 patients: effect {effect.mean():.2f} +- {effect.std():.2f}")
    return fit


if __name__ == "__main__":
    main()
