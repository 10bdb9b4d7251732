"""Draw a curve through noisy points without saying what curve: exact Gaussian process regression.

Sixty points of an unknown function, with noise. A Gaussian process says only how fast the function may change (the
length scale) and how far (its height); both are learnt. The function itself is integrated out, so that three unknowns
are left, and is found again, at any place, by the normal law of some of its values given others.

Data: simulated by `simulate()`. Method: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, chapter
2.

    python examples/gallery/gaussian_process.py
    accord sample examples/gallery/gaussian_process.py --data examples/gallery/gaussian_process.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"noise": 0.3}
PLACES = np.linspace(0, 10, 41)  # where the function is wanted


def function(x):
    """What the points come from."""
    return np.sin(1.3 * x) + 0.5 * np.cos(0.5 * x)


def covariance(a, b, height, length):
    """Of the function's values at `a` and at `b`, shape (len(a), len(b)): squared exponential."""
    distance = (a[:, None] - b[None, :]) / length
    return height**2 * jnp.exp(-(distance**2) / 2)


@ac.model
def gaussian_process(x, y=None):
    """`x`: places, `y`: noisy values there, both of shape (60,)."""
    # No length shorter than the distance of neighbours, or longer than the range, could be told from the data.
    length = ac.sample("length", dist.InverseGamma(5, 8))
    height = ac.sample("height", dist.HalfNormal(2))
    noise = ac.sample("noise", dist.HalfNormal(1))
    total = covariance(x, x, height, length) + noise**2 * jnp.eye(len(x))
    ac.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), total), obs=y)


def simulate():
    """Make the data that is in the file."""
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(0, 10, 60))
    y = function(x) + rng.normal(0, TRUTH["noise"], 60)
    return {"x": np.round(x, 3), "y": np.round(y, 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def values_at(places, draws, x, y, seed=0):
    """Draw the function's values at `places`: one function for every tenth draw; shape (functions, places)."""
    rng, functions = np.random.default_rng(seed), []
    rows = zip(*(draws[name][:, ::10].ravel() for name in ("height", "length", "noise")), strict=True)
    for height, length, noise in rows:
        # Equations 2.23 and 2.24 of Rasmussen & Williams.
        total = np.asarray(covariance(x, x, height, length)) + noise**2 * np.eye(len(x))
        to_places = np.asarray(covariance(x, places, height, length))
        weights = np.linalg.solve(total, to_places).T
        spread = np.asarray(covariance(places, places, height, length)) - weights @ to_places
        functions.append(rng.multivariate_normal(weights @ y, spread, method="eigh", check_valid="ignore"))
    return np.stack(functions)


def main():
    """Fit, and look at the function between the points."""
    draws = infer.sample(gaussian_process(**data()), seed=1)
    print(draws.summary())

    functions = values_at(PLACES, draws, **data())
    low, middle, high = np.quantile(functions, [0.05, 0.5, 0.95], axis=0)
    for k in range(0, len(PLACES), 8):
        print(
            f"f({PLACES[k]:.0f}) = {middle[k]:+.2f} ({low[k]:+.2f} to {high[k]:+.2f}), true {function(PLACES[k]):+.2f}"
        )

    # Check: the band of 90% covers the true function nearly everywhere.
    inside = (low < function(PLACES)) & (function(PLACES) < high)
    print(
        f"covered at {inside.mean():.0%} of places; noise {draws['noise'].mean():.2f}, true {TRUTH['noise']}"
    )
    return draws


def plot(draws):
    """Draw the points, the band of 90%, and the true function."""
    from matplotlib.figure import Figure

    places = np.linspace(0, 10, 101)
    low, middle, high = np.quantile(values_at(places, draws, **data()), [0.05, 0.5, 0.95], axis=0)
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="x", ylabel="y")
    axes.fill_between(places, low, high, color="#3f88c5", alpha=0.25, linewidth=0)
    axes.plot(places, middle, color="#3f88c5", label="median, 90% band")
    axes.plot(places, function(places), color="#e4793a", linestyle="--", label="truth")
    axes.plot(*data().values(), ".", color="#8a8a8a", label="data")
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
