"""Predict batting averages by partial pooling: eighteen players after 45 at bats (hierarchical binomial).

In April 1970 eighteen major league players had been at bat 45 times each. How good is each player, and how will the
rest of the season go? The averages so far are too far apart, because much of their spread is chance. In this model
each player's skill comes from a population with an unknown spread, so extreme averages are pulled towards the mean as
far as the data suggest. Each player has little data, so `handlers.reparam` samples the standardised deviation from
the mean; the model stays as written.

Data: Efron & Morris (1975), Data analysis using Stein's estimator, JASA 70(350), 311-319, table 1.

    python examples/gallery/baseball.py
    accord sample examples/gallery/baseball.py --data examples/gallery/baseball.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam

PLAYERS = """Clemente F.Robinson F.Howard Johnstone Berry Spencer Kessinger Alvarado Santo Swoboda Unser Williams
Scott Petrocelli E.Rodriguez Campaneris Munson Alvis""".split()  # noqa: SIM905 - a table
# Averages over the remainder of the season, about 370 at bats each.
LATER = (
    np.array([346, 298, 276, 222, 273, 270, 263, 210, 269, 230, 264, 256, 303, 264, 226, 285, 316, 200])
    / 1000
)
# Factor by which Stein's estimator reduces the squared error of the averages so far (Efron & Morris).
PUBLISHED_GAIN = 3.5


@ac.model
def baseball(at_bats, hits=None):
    """`at_bats`, `hits`: counts by player, shape (18,). Skill is the log odds of a hit."""
    mean = ac.sample("mean", dist.Normal(-1, 1))
    spread = ac.sample("spread", dist.HalfNormal(0.5))
    with ac.plate("player", len(at_bats), coords=PLAYERS):
        skill = ac.sample("skill", dist.Normal(mean, spread))
        ac.sample("hits", dist.Binomial(at_bats, logits=skill), obs=hits)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def gain(draws, hits, at_bats):
    """Divide the squared prediction error of the averages so far by the error of the pooled ones."""
    pooled = (1 / (1 + np.exp(-draws["skill"]))).mean(axis=(0, 1))
    return np.sum((hits / at_bats - LATER) ** 2) / np.sum((pooled - LATER) ** 2)


def main():
    """Fit, look at the skills, and check the model against its data and against the rest of the season."""
    model = handlers.reparam(baseball(**data()), {"skill": reparam.LocScale()})
    draws = infer.sample(model, infer.NUTS(target_accept=0.9), seed=1)
    print(draws.summary())

    # Each row is a player: so far 0.400 to 0.156, pooled within a few points of the mean.
    probability = 1 / (1 + np.exp(-draws["skill"]))
    for player, hits, pooled in zip(PLAYERS, data()["hits"], probability.mean(axis=(0, 1)), strict=True):
        print(f"{player:12} so far {hits / 45:.3f}, pooled {pooled:.3f}")

    # Does the model predict data like these? Near 0 or 1, the best or the worst player is a surprise.
    replicated = infer.predict(draws)["hits"]
    for name, extreme in {"most": np.max, "fewest": np.min}.items():
        share = np.mean(extreme(replicated, axis=-1) >= extreme(data()["hits"]))
        print(f"{name} hits: at least as many as observed in {share:.0%} of replications")

    # Check: the rest of the season is predicted much better by pooling.
    print(f"squared error {gain(draws, **data()):.1f} times smaller, published {PUBLISHED_GAIN}")
    return draws


def plot(draws):
    """Draw the observations over the model's predictions: a picture of the check above."""
    return infer.predict(draws).plot()


if __name__ == "__main__":
    main()
