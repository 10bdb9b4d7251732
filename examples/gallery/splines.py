"""Fit a smooth curve as a sum of bumps with related heights: penalised B-splines.

There are a hundred points of a curve that is flat, then steep. Twenty cubic B-splines can follow anything, noise
included. A random walk with an unknown step size as prior keeps the height of each spline near the heights of its
neighbours, and the data determine how near.

Data: simulated by `simulate()`. Method: Eilers & Marx (1996), Flexible smoothing with B-splines and penalties,
Statistical Science 11(2), 89-121; with a prior, Lang & Brezger (2004), J. of Computational and Graphical Statistics
13(1), 183-212.

    python examples/gallery/splines.py
    accord sample examples/gallery/splines.py --data examples/gallery/splines.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"noise": 0.2}
BUMPS = 20
PLACES = np.linspace(0, 1, 41)


def function(x):
    """Return the true function."""
    return 2 / (1 + np.exp(-20 * (x - 0.6))) + 0.3 * np.sin(6 * x)


def basis(x):
    """Evaluate every cubic B-spline at `x`, on equally spaced knots; shape (len(x), BUMPS). Rows sum to one."""
    spacing = 1 / (BUMPS - 3)
    distance = jnp.abs(x[:, None] / spacing - (np.arange(BUMPS) - 1))
    near = (4 - 6 * distance**2 + 3 * distance**3) / 6
    far = jnp.maximum(2 - distance, 0.0) ** 3 / 6
    return jnp.where(distance < 1, near, far)


@ac.model
def splines(x, y=None):
    """`x`: in [0, 1]; `y`: both of shape (100,)."""
    level = ac.sample("level", dist.Normal(0, 5))
    step = ac.sample("step", dist.HalfNormal(1))
    noise = ac.sample("noise", dist.HalfNormal(1))
    walk = ac.sample("walk", dist.GaussianRandomWalk(step, BUMPS - 1), dims="bump")
    heights = level + jnp.append(0.0, walk)
    ac.deterministic("curve", basis(PLACES) @ heights, dims="grid")
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(basis(x) @ heights, noise), obs=y)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(1996)
    x = np.sort(rng.uniform(0, 1, 100))
    return {"x": np.round(x, 3), "y": np.round(function(x) + rng.normal(0, TRUTH["noise"], 100), 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, and look at the curve."""
    draws = infer.sample(splines(**data()), seed=1)
    print(draws.summary())

    low, middle, high = np.quantile(draws["curve"], [0.05, 0.5, 0.95], axis=(0, 1))
    for k in range(0, len(PLACES), 5):
        print(
            f"f({PLACES[k]:.3f}) = {middle[k]:+.2f} ({low[k]:+.2f} to {high[k]:+.2f}), true {function(PLACES[k]):+.2f}"
        )
    slope = np.diff(draws["curve"], axis=-1) / np.diff(PLACES)
    steepest = PLACES[slope.argmax(axis=-1)]
    print(f"steepest at {np.median(steepest):.2f}, the true curve at about 0.6")

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
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
