"""Separate death from not being seen: survival of marked birds (capture-recapture).

European dippers were marked in seven years, and looked for in the years after. A bird that is not seen again may be
dead, or alive and overlooked. Whether it lives is a discrete state of every bird in every year: `by_bird` says just
that, and accord sums the states out. Summed by hand, the year in which a released bird is first seen again has a
multinomial distribution: alive until then, overlooked before, seen now. So `dipper` needs no states, and is faster;
`by_bird` takes covariates of birds, and also tells how probable it is that a bird lives.

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
from accord import handlers, infer

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


@ac.model
def by_bird(seen, is_sought):
    """`seen`, `is_sought`: in each of six years after its release, of each bird, shape (6, birds)."""
    survival = ac.sample("survival", dist.Uniform(0, 1))
    sighting = ac.sample("sighting", dist.Uniform(0, 1))

    def year(lived, now):
        seen, is_sought = now
        lives = ac.sample("lives", dist.Bernoulli(survival * lived)).astype(int)
        with handlers.mask(mask=is_sought):
            ac.sample("seen", dist.Bernoulli(sighting * lives), obs=seen)
        return lives, None

    num_birds = seen.shape[1]
    with ac.plate("bird", num_birds):
        ac.scan(year, jnp.ones(num_birds, int), (seen, is_sought))


def histories(released, recaptured):
    """Write counts as birds: a bird is sought until it is seen, when it is released once more, or to the last year."""
    seen, is_sought = [], []
    after = np.arange(6)  # years after release, less one
    for year in range(6):
        first = np.repeat(after, recaptured[year]) - year
        never = np.full(released[year] - len(first), 6)
        for when in [*first, *never]:
            seen.append(after == when)
            is_sought.append(after <= min(when, 5 - year))
    return {"seen": np.transpose(seen).astype(int), "is_sought": np.transpose(is_sought)}


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

    # Given both rates, is a bird alive in the first year in which it is not seen?
    one = by_bird(seen=np.zeros((6, 1), int), is_sought=np.arange(6)[:, None] < 1)
    lives = infer.predict(draws, one, kind="probabilities")["lives"].mean(axis=(0, 1))
    print(
        f"a bird that is not seen in the year after its release lives with probability {lives[0, 0, 1]:.0%}"
    )

    # Check
    mode = infer.find_mode(dipper(**data()), "mle")
    for name, (estimate, error) in PUBLISHED.items():
        found = f"{mode.values[name]:.3f} ({mode.standard_errors[name]:.3f})"
        print(f"{name}: {found}, published {estimate:.3f} ({error:.3f})")
    return draws


if __name__ == "__main__":
    main()
