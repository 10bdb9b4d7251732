"""Fit a curve of unknown form through noisy points: a Gaussian process, exact and by basis functions.

Sixty points of an unknown function, with noise. A Gaussian process assumes only how fast the function changes (the
length scale) and how far (its height); both are estimated. `gp.marginal` integrates the function out and leaves three
parameters; `gp.conditional` recovers the function at any place. The cost is the cube of the number of points.
`by_basis` writes the function as a sum of sines on a wider interval, with unknown weights. It costs points times
sines, works with any likelihood, and gives the same answer.

Data: simulated by `simulate()`. Method: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, chapter
2; Solin & Sarkka (2020), Hilbert space methods for reduced-rank Gaussian process regression, Statistics and Computing
30, 419-446.

    python examples/gallery/gaussian_process.py
    accord sample examples/gallery/gaussian_process.py:gaussian_process --data examples/gallery/gaussian_process.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import gp, infer

TRUTH = {"noise": 0.3}
PLACES = np.linspace(0, 10, 41)  # where to predict the function
BASIS = gp.SineBasis.around(PLACES, lengthscales=(0.8, 5.0), covariance=gp.SquaredExponential)


def function(x):
    """Return the true function."""
    return np.sin(1.3 * x) + 0.5 * np.cos(0.5 * x)


@ac.model
def process():
    """Covariance of the function, and noise: part of both models."""
    # The data give no information about lengths shorter than the spacing or longer than the range.
    length = ac.sample("length", dist.InverseGamma(5, 8))
    height = ac.sample("height", dist.HalfNormal(2))
    noise = ac.sample("noise", dist.HalfNormal(1))
    return gp.SquaredExponential(height, length), noise


@ac.model
def gaussian_process(x, y=None, places=None):
    """`x`: places, `y`: noisy values there, both of shape (60,); `places`: where to predict the function."""
    covariance, noise = ac.submodel(process(), prefix=None)
    ac.sample("y", gp.marginal(covariance, x, noise=noise), obs=y)
    if places is not None:
        # The function itself: the smallest noise that keeps the matrix positive definite.
        conditional = gp.conditional(covariance, x, y, places, noise=noise, noise_new=1e-3)
        ac.sample("function", conditional, dims="place")


@ac.model
def by_basis(x, y=None):
    """Approximate the Gaussian process by basis functions."""
    covariance, noise = ac.submodel(process(), prefix=None)
    weights = gp.weights("weights", covariance, BASIS)
    ac.deterministic("function", BASIS(PLACES) @ weights, dims="place")
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(BASIS(x) @ weights, noise), obs=y)


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(0, 10, 60))
    y = function(x) + rng.normal(0, TRUTH["noise"], 60)
    return {"x": np.round(x, 3), "y": np.round(y, 3)}


def data():
    """Read the arguments of the models, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def values_at(places, draws):
    """Draw the function's values at `places`: one function for each draw; shape (chain, draw, places)."""
    return infer.predict(draws, gaussian_process(**data(), places=places), sites=["function"], quiet=True)[
        "function"
    ]


def main():
    """Fit both, and look at the function between the points."""
    draws = infer.sample(gaussian_process(**data()), seed=1)
    print(draws.summary())

    functions = values_at(PLACES, draws)
    low, middle, high = np.quantile(functions, [0.05, 0.5, 0.95], axis=(0, 1))
    for k in range(0, len(PLACES), 8):
        print(
            f"f({PLACES[k]:.0f}) = {middle[k]:+.2f} ({low[k]:+.2f} to {high[k]:+.2f}), true {function(PLACES[k]):+.2f}"
        )

    # Check: the 90% band covers the true function nearly everywhere, and the approximation has the same function.
    inside = (low < function(PLACES)) & (function(PLACES) < high)
    print(
        f"covered at {inside.mean():.0%} of places; noise {draws['noise'].mean():.2f}, true {TRUTH['noise']}"
    )
    approximate = infer.sample(by_basis(**data()), infer.NUTS(target_accept=0.95), seed=1)
    apart = np.abs(functions.mean(axis=(0, 1)) - approximate["function"].mean(axis=(0, 1)))
    print(f"{BASIS.num_functions} sines: the function is at most {apart.max():.3f} away from the exact one")
    return draws


def plot(draws):
    """Draw the points, the 90% band, and the true function."""
    from matplotlib.figure import Figure

    places = np.linspace(0, 10, 101)
    low, middle, high = np.quantile(values_at(places, draws), [0.05, 0.5, 0.95], axis=(0, 1))
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
