"""Compare four cheeses by ratings on a scale of nine grades: ordered logistic regression.

Fifty-two tasters rated cheeses with four additives from 1 (strong dislike) to 9 (excellent). The grades are ordered,
but not necessarily equally far apart. So the model has a continuous liking, and a grade says between which of eight
thresholds it lies. Thresholds and effects of the additives are estimated together.

Data: McCullagh & Nelder (1989), Generalized Linear Models, section 5.6, with the maximum likelihood estimates
(additive D is zero).

    python examples/gallery/cheese.py
    accord sample examples/gallery/cheese.py --data examples/gallery/cheese.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

# How much less people like A, B and C than D.
PUBLISHED = {"A": 1.613, "B": 4.965, "C": 3.323}


@ac.model
def cheese(additive, grade=None):
    """By answer, shape (208,): `additive`: 0 to 3 for A to D; `grade`: 0 to 8."""
    with ac.plate("additive", 3, coords=["A", "B", "C"]):
        dislike = ac.sample("dislike", dist.Normal(0, 3))  # relative to D, which is at zero
    # Ordered thresholds with an exchangeable prior: the order gives no information about their positions.
    thresholds = ac.sample("thresholds", dist.ordered(dist.Normal(0, 5).expand((8,)).to_event(1)), dims="cut")
    with ac.plate("answer", len(additive)):
        liking = -jnp.append(dislike, 0.0)[additive]
        ac.sample("grade", dist.OrderedLogistic(liking, thresholds), obs=grade)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, order the cheeses, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(cheese(**data()), seed=1)
    print(draws.summary())

    # How many draws have the same order as the means, from the best to the worst?
    places = -np.append(draws["dislike"], np.zeros((*draws["dislike"].shape[:2], 1)), axis=-1)
    best_first = np.argsort(-places.mean(axis=(0, 1)))
    sure = np.mean(np.all(np.diff(places[..., best_first], axis=-1) < 0, axis=-1))
    print("best to worst:", " ".join("ABCD"[k] for k in best_first), f"({sure:.0%} sure)")

    # Check
    mode = infer.find_mode(cheese(**data()), "mle")
    rows = zip("ABC", mode.values["dislike"], mode.standard_errors["dislike"], strict=True)
    for name, estimate, error in rows:
        print(f"{name}: {estimate:.3f} ({error:.3f}), published {PUBLISHED[name]}")
    return draws


if __name__ == "__main__":
    main()
