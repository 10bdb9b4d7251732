"""Separate death from not being seen: survival of marked birds (capture-recapture).

European dippers were marked in seven years, and looked for in the years after. A bird that is not seen again may be
dead, or alive and overlooked. Whether it lives is a discrete state of every bird in every year. With the states
summed out, the year in which a released bird is first seen again has a multinomial distribution: alive until then,
overlooked before, seen now.

Data: Marzolff, in Lebreton, Burnham, Clobert & Anderson (1992), Modeling survival and testing biological hypotheses
using marked animals, Ecological Monographs 62(1), 67-118, with the maximum likelihood estimates (both rates
constant).

    python examples/gallery/dipper.py
    accord sample examples/gallery/dipper.py --data examples/gallery/dipper.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

# Estimate and standard error.
PUBLISHED = {"survival": (0.560, 0.025), "sighting": (0.903, 0.029)}


@ac.model
def dipper(released, recaptured):
    """`released`: by year, shape (6,); `recaptured`: of these, how many were first seen in each later year, (6, 6)."""
    survival = ac.sample("survival", dist.Uniform(0, 1))  # from one year to the next
    sighting = ac.sample("sighting", dist.Uniform(0, 1))  # of a bird that is alive
    num_years = len(released)
    # Years from release to sighting less one; negative below the diagonal, where nothing can be seen.
    overlooked = np.arange(num_years) - np.arange(num_years)[:, None]
    is_possible = overlooked >= 0
    chance = survival * sighting * (survival * (1 - sighting)) ** np.where(is_possible, overlooked, 0)
    seen = jnp.where(is_possible, chance, 0.0)
    never = 1 - seen.sum(axis=1, keepdims=True)
    ac.deterministic("life", -1 / jnp.log(survival))  # expected years, for a constant hazard
    with ac.plate("year", num_years):
        counts = jnp.concatenate([recaptured, (released - recaptured.sum(axis=1))[:, None]], axis=1)
        probs = jnp.concatenate([seen, never], axis=1)
        ac.sample("seen", dist.Multinomial(released, probs=probs), obs=counts)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read both rates, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(dipper(**data()), seed=1)
    print(draws.summary())

    naive = data()["recaptured"].sum() / data()["released"].sum()
    print(
        f"{naive:.0%} of released birds were ever seen again; {draws['survival'].mean():.0%} live through a year"
    )

    # Check
    mode = infer.find_mode(dipper(**data()), "mle")
    for name, (estimate, error) in PUBLISHED.items():
        found = f"{mode.values[name]:.3f} ({mode.standard_errors[name]:.3f})"
        print(f"{name}: {found}, published {estimate:.3f} ({error:.3f})")
    return draws


if __name__ == "__main__":
    main()
