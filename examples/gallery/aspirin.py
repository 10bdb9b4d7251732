"""Compare two groups of a trial: an A/B test with 22,071 physicians.

Half of them took aspirin, half a placebo; heart attacks were counted. A test of significance does not answer the
practical questions: How probable is it that aspirin prevents heart attacks? How many does it prevent? How many people
must take it to prevent one?

Data: Steering Committee of the Physicians' Health Study Research Group (1989), New England J. of Medicine 321(3),
129-135.

    python examples/gallery/aspirin.py
    accord sample examples/gallery/aspirin.py --data examples/gallery/aspirin.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

GROUPS = ["placebo", "aspirin"]
PUBLISHED = 0.56  # relative risk of a heart attack


@ac.model
def aspirin(people, attacks=None):
    """Two groups: numbers of `people`, and of those with heart `attacks`, shape (2,)."""
    with ac.plate("group", 2, coords=GROUPS):
        # Heart attacks in five years are rare: 3% expected, up to about 10% plausible.
        risk = ac.sample("risk", dist.Beta(1, 32))
        ac.sample("attacks", dist.Binomial(people, risk), obs=attacks)
    ac.deterministic("relative_risk", risk[1] / risk[0])
    ac.deterministic("prevented_per_1000", 1000 * (risk[0] - risk[1]))


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def exact(people, attacks):
    """Compute the mean of both risks and of their ratio: the posteriors are independent beta distributions."""
    a, b = 1 + attacks, 32 + people - attacks
    inverse = (a[0] + b[0] - 1) / (a[0] - 1)  # the mean of 1 / risk under placebo
    return {"risk": a / (a + b), "relative_risk": a[1] / (a[1] + b[1]) * inverse}


def main():
    """Fit, answer the three questions, and compare with the exact answer."""
    draws = infer.sample(aspirin(**data()), seed=1)
    print(draws.summary())

    prevented = draws["prevented_per_1000"]
    print(f"aspirin prevents heart attacks: {np.mean(prevented > 0):.2%} of draws")
    print(
        f"{prevented.mean():.1f} of them among 1000 people, so that one in {1000 / prevented.mean():.0f} is helped"
    )
    # A decision needs the cost of being wrong: here, aspirin must halve the risk to be worth its side effects.
    print(f"the risk is at most half: {np.mean(draws['relative_risk'] < 0.5):.0%}")

    # Check
    found, answer = draws["relative_risk"].mean(), exact(**data())["relative_risk"]
    print(f"relative risk {found:.3f}, exact {answer:.3f}, published {PUBLISHED}")
    return draws


if __name__ == "__main__":
    main()
