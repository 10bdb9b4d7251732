"""Fit a curve by a small neural network with a posterior for its weights: a Bayesian neural network.

Eighty noisy points of a curve, with a gap in the middle. A network with one layer of six units can follow the curve
in many ways, and its draws differ where there is no data, as they should. The network is an ordinary module of
Equinox, and `ac.module` makes its arrays sites, with a prior for each. Exchanging two units, or the signs of one,
does not change the curve, so the posterior would have 6! 2^6 equal modes. Positive weights into the layer and places
in increasing order leave one.

Data: simulated by `simulate()`. Method: Neal (1996), Bayesian Learning for Neural Networks, chapter 1.

    python examples/gallery/neural_network.py
    accord sample examples/gallery/neural_network.py --data examples/gallery/neural_network.json
"""

import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"noise": 0.15}
UNITS = 6
PLACES = np.linspace(-2, 2, 41)


def function(x):
    """Return the true function."""
    return np.sin(2 * x)


class Network(eqx.Module):
    """One layer of tanh units. A unit is steepest at its place, which is its offset divided by its weight."""

    weight_in: jax.Array
    place: jax.Array
    weight_out: jax.Array
    level: jax.Array

    def __call__(self, x):
        return self.level + jnp.tanh(self.weight_in * (x - self.place)) @ self.weight_out


# A prototype: it defines the structure, and the sites have the values.
PROTOTYPE = Network(np.ones(UNITS), np.zeros(UNITS), np.ones(UNITS), np.zeros(()))
PRIORS = {
    "weight_in": dist.HalfNormal(3),
    "place": dist.ordered(dist.Normal(0, 1.5).expand((UNITS,)).to_event(1)),
    "weight_out": dist.Normal(0, 2),
    "level": dist.Normal(0, 1),
}


@ac.model
def neural_network(x, y=None):
    """`x`, `y`: shape (80,), both of order one."""
    curve = jax.vmap(ac.module("net", PROTOTYPE, PRIORS))
    noise = ac.sample("noise", dist.HalfNormal(0.5))
    ac.deterministic("curve", curve(PLACES), dims="grid")
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(curve(x), noise), obs=y)


def simulate():
    """Simulate the data in the JSON file: nothing between 0.5 and 1."""
    rng = np.random.default_rng(1996)
    x = np.sort(np.concatenate([rng.uniform(-2, 0.5, 60), rng.uniform(1, 2, 20)]))
    return {"x": np.round(x, 3), "y": np.round(function(x) + rng.normal(0, TRUTH["noise"], 80), 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, and look at the curve, inside and outside of the gap."""
    draws = infer.sample(neural_network(**data()), infer.NUTS(target_accept=0.9), draws=500, seed=1)
    print(draws.summary())

    # Weights are hard to interpret and slow to sample, as notices say. Judge the curve instead: in the summary,
    # `curve` has many effective draws.
    low, middle, high = np.quantile(draws["curve"], [0.05, 0.5, 0.95], axis=(0, 1))
    for k in range(0, len(PLACES), 5):
        print(
            f"f({PLACES[k]:+.1f}) = {middle[k]:+.2f} ({low[k]:+.2f} to {high[k]:+.2f}), true {function(PLACES[k]):+.2f}"
        )

    # Check
    inside = (low < function(PLACES)) & (function(PLACES) < high)
    print(
        f"covered at {inside.mean():.0%} of places; noise {draws['noise'].mean():.3f}, true {TRUTH['noise']}"
    )
    return draws


def plot(draws):
    """Draw the points, the 90% band, and the true curve."""
    from matplotlib.figure import Figure

    low, middle, high = np.quantile(draws["curve"], [0.05, 0.5, 0.95], axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="x", ylabel="y")
    axes.fill_between(PLACES, low, high, color="#3f88c5", alpha=0.25, linewidth=0)
    axes.plot(PLACES, middle, color="#3f88c5", label="median, 90% band")
    axes.plot(PLACES, function(PLACES), color="#e4793a", linestyle="--", label="truth")
    axes.plot(*data().values(), ".", color="#8a8a8a", label="data")
    axes.legend(frameon=False, loc=(0.25, 0.68))
    return figure


if __name__ == "__main__":
    main()
