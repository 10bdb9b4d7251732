"""Compare a mean field with draws for the weights of a network: bands, held-out rows, and what is lost.

Two hundred noisy points of a curve, with a gap in the middle, and a network with one layer of twenty units. A mean
field on parts of the data scales to any number of rows, and takes all weights as independent. But weights of a unit,
and units among each other, depend on each other strongly. How good are its predictions, for new points among the data
and in the gap, beside draws of the same posterior?

The mean field loses where data are: it follows the curve half as closely, misses its turns at both ends, and takes
what it misses for noise. So its bands of predictions are wide, and hold somewhat more of the new points than they
should; the log density of new points shows the loss, and Pareto k says that the guide is far from the posterior. In
the gap its band is narrower, which is a known fault of mean fields; but there the prior decides, and new points of
this curve are no better told by the draws. The draws are no perfect measure either: chains move slowly between
arrangements of the units, so that single weights have not converged, as notices say. The curve has.

Data: simulated by `simulate()`. Method: Blundell, Cornebise, Kavukcuoglu & Wierstra (2015), "Weight uncertainty in
neural networks", ICML. Of gaps: Foong, Burt, Li & Turner (2020), "On the expressiveness of approximate inference in
Bayesian neural networks", NeurIPS. The example `neural_network` removes the symmetry of units, for NUTS alone.

    python examples/gallery/network.py
"""

import json
import time
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

TRUTH = {"noise": 0.3}
UNITS = 20
GAP = (-0.7, 0.5)
PLACES = np.linspace(-2, 2, 81)
NETWORK = eqx.nn.MLP("scalar", "scalar", UNITS, 1, activation=jnp.tanh, key=jax.random.key(0))
PRIORS = {
    "layers[0].*": dist.Normal(0, 2),
    "layers[1].weight": dist.Normal(0, 2 / UNITS**0.5),  # a sum of units varies alike, however many they are
    "layers[1].bias": dist.Normal(0, 1),
}


@ac.model
def network(x, y=None, size=None):
    """`x`, `y`: shape (n,), both of order one. `size`: the number of rows at a time."""
    curve = jax.vmap(ac.module("net", NETWORK, PRIORS))
    noise = ac.sample("noise", dist.HalfNormal(0.5))
    with ac.plate("row", len(x), subsample_size=size):
        mean = ac.deterministic("mean", curve(ac.subsample(x)))
        ac.sample("y", dist.Normal(mean, noise), obs=None if y is None else ac.subsample(y))


def function(x):
    """Return the true function."""
    return np.sin(3 * x) * np.exp(-x / 4)


def noisy(rng, x):
    """Return points at x, shape (n,), with noise."""
    return {"x": np.round(x, 3), "y": np.round(function(x) + rng.normal(0, TRUTH["noise"], len(x)), 3)}


def outside(rng, n):
    """Return n places on both sides of the gap."""
    return np.where(rng.random(n) < 0.5, rng.uniform(-2, GAP[0], n), rng.uniform(GAP[1], 2, n))


def simulate():
    """Simulate the data in the JSON file: nothing in the gap."""
    rng = np.random.default_rng(2020)
    return noisy(rng, np.sort(outside(rng, 200)))


def held_out():
    """Simulate new points, among the data and in the gap."""
    rng = np.random.default_rng(2021)
    return {"among the data": noisy(rng, outside(rng, 500)), "in the gap": noisy(rng, rng.uniform(*GAP, 500))}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit on fifty rows at a time, draw, and compare predictions of new points; return results by method."""
    given = data()
    # Units can change places, so that R-hat and the notices of single weights say little. Judge predictions instead.
    methods = {
        "MeanField": lambda: infer.fit(network(**given, size=50), seed=1),
        "NUTS": lambda: infer.sample(
            network(**given), infer.NUTS(max_tree_depth=8), draws=300, warmup=300, chains=2, seed=1
        ),
    }
    results = {}
    for name, method in methods.items():
        began = time.perf_counter()
        results[name] = method()
        print(f"{name}: {time.perf_counter() - began:.0f} s with compilation")

    # Check
    print(f"Pareto k of the mean field {results['MeanField'].pareto_k:.1f}")
    for name, result in results.items():
        print(f"{name}: noise {draws_of(result)['noise'].mean():.2f}, true {TRUTH['noise']}")
        for where, points in held_out().items():
            print(
                f"  {where}: "
                + ", ".join(f"{what} {each:.2f}" for what, each in judge(result, points).items())
            )
    return results


def draws_of(result):
    """Return draws from a fit or a run."""
    return result.draw(1000) if hasattr(result, "draw") else result


def judge(result, points):
    """Judge predictions of new points: their log density, and how many of them lie in bands.

    "error" is the root mean squared distance of the mean curve from the true one, "width" the mean width of its 90%
    band, and "50%" and "90%" the shares of points that lie in the bands of predictions.
    """
    draws, x, y = draws_of(result), *points.values()
    ahead = infer.predict(draws, network(x), quiet=True)
    density = np.exp(infer.log_likelihood(draws, network(x, y))["y"]).mean(axis=(0, 1))
    low, high = np.quantile(ahead["mean"], [0.05, 0.95], axis=(0, 1))
    inner = np.quantile(ahead["y"], [0.25, 0.75], axis=(0, 1))
    outer = np.quantile(ahead["y"], [0.05, 0.95], axis=(0, 1))
    return {
        "log density": np.mean(np.log(density)),
        "error": np.sqrt(np.mean((ahead["mean"].mean(axis=(0, 1)) - function(x)) ** 2)),
        "width": np.mean(high - low),
        "50%": np.mean((inner[0] < y) & (y < inner[1])),
        "90%": np.mean((outer[0] < y) & (y < outer[1])),
    }


def plot(results):
    """Draw the 90% bands of curve and predictions beside data and true curve, by method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, result) in zip(panels, results.items(), strict=True):
        ahead = infer.predict(draws_of(result), network(PLACES), quiet=True)
        for site, shade in (("y", 0.12), ("mean", 0.35)):
            low, high = np.quantile(ahead[site], [0.05, 0.95], axis=(0, 1))
            axes.fill_between(PLACES, low, high, color="#3f88c5", alpha=shade, linewidth=0)
        axes.plot(PLACES, ahead["mean"].mean(axis=(0, 1)), color="#3f88c5", label="mean, 90% bands")
        axes.plot(PLACES, function(PLACES), color="#e4793a", linestyle="--", label="truth")
        axes.plot(*data().values(), ".", color="#8a8a8a", markersize=3, label="data")
        axes.set(title=name, xlabel="x")
    panels[0].set_ylabel("y")
    panels[1].legend(frameon=False, loc="upper right", fontsize="small", markerscale=2)
    return figure


if __name__ == "__main__":
    main()
