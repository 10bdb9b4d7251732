"""Fit a head's acceleration in a crash, and how far tests vary around it: a neural network with two outputs.

In simulated motorcycle accidents the acceleration of a head was measured over time. It is nearly constant before the
impact and changes abruptly after it; the scatter changes as much as the curve. A network of Equinox has two outputs:
the mean, and the logarithm of the standard deviation. `ac.module` makes its last layer sites, with estimated spreads,
and keeps the first layer fixed, a row of steps in time. With all weights unknown there would be many modes, between
which chains do not move.

Data: Silverman (1985), Some aspects of the spline smoothing approach to non-parametric regression curve fitting, J.
Royal Statistical Society B 47(1), 1-52; as in the R package MASS (mcycle).

    python examples/gallery/motorcycle.py
    accord sample examples/gallery/motorcycle.py --data examples/gallery/motorcycle.json
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

STEPS = np.linspace(5, 55, 26)  # ms: where a unit of the first layer goes from -1 to 1
WIDTH = 2.5
NETWORK = eqx.tree_at(
    lambda net: (net.layers[0].weight, net.layers[0].bias),
    eqx.nn.MLP("scalar", 2, len(STEPS), depth=1, activation=jnp.tanh, key=jax.random.key(0)),
    (np.full((len(STEPS), 1), 1 / WIDTH), -STEPS / WIDTH),
)
PLACES = np.linspace(2, 58, 57)


@ac.model
def motorcycle(time, acceleration=None):
    """`time`: milliseconds after the impact; `acceleration`: in g. Shape (133,)."""
    with ac.plate("output", 2, coords=["mean", "log sd"]):
        spread = ac.sample("spread", dist.HalfNormal(1))
    priors = {
        "layers[0].*": "fixed",
        "layers[1].weight": dist.Normal(0, spread[:, None]),
        "layers[1].bias": dist.Normal(0, 2),
    }
    network = jax.vmap(ac.module("network", NETWORK, priors))

    def curves(time):
        outputs = network(time)
        return 50 * outputs[:, 0], 20 * jnp.exp(outputs[:, 1])

    mean, sd = curves(jnp.asarray(PLACES))
    ac.deterministic("mean", mean, dims={"ms": PLACES})
    ac.deterministic("sd", sd, dims="ms")
    with ac.plate("measurement", len(time)):
        ac.sample("acceleration", dist.Normal(*curves(time)), obs=acceleration)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def averages(time, acceleration, width=3.0):
    """Return mean, its standard error and standard deviation of the measurements, in intervals of 3 ms."""
    spells = [acceleration[np.abs(time - middle) <= width / 2] for middle in PLACES]
    middles = [k for k, spell in enumerate(spells) if len(spell) >= 8]
    means = np.array([spells[k].mean() for k in middles])
    sds = np.array([spells[k].std(ddof=1) for k in middles])
    return np.array(middles), means, sds / np.sqrt([len(spells[k]) for k in middles]), sds


def main():
    """Fit, read curve and scatter, and compare with averages of the data."""
    draws = infer.sample(motorcycle(**data()), draws=500, seed=1)
    print(draws.summary())

    mean, sd = draws["mean"].mean(axis=(0, 1)), draws["sd"].mean(axis=(0, 1))
    for ms in (10, 16, 21, 32, 45):
        print(f"after {ms} ms: {mean[ms - 2]:+.0f} g, and single tests within +- {sd[ms - 2]:.0f} g")
    print(f"lowest {mean.min():.0f} g after {PLACES[mean.argmin()]:.0f} ms")

    # Check
    places, means, errors, _ = averages(**data())
    print(f"averages are {np.sqrt(np.mean(((mean[places] - means) / errors) ** 2)):.1f} of their errors away")
    predicted = infer.predict(draws)["acceleration"]
    low, high = np.quantile(predicted, [0.05, 0.95], axis=(0, 1))
    inside = (low <= data()["acceleration"]) & (data()["acceleration"] <= high)
    print(f"{inside.mean():.0%} of measurements are in the intervals of 90%")
    return draws


def plot(draws):
    """Draw the measurements, the mean curve with its 90% band, and where 90% of tests are expected."""
    from matplotlib.figure import Figure

    low, middle, high = np.quantile(draws["mean"], [0.05, 0.5, 0.95], axis=(0, 1))
    scatter = 1.645 * draws["sd"].mean(axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="time (ms)", ylabel="acceleration (g)")
    axes.fill_between(PLACES, middle - scatter, middle + scatter, color="#3f88c5", alpha=0.15, linewidth=0)
    axes.fill_between(PLACES, low, high, color="#3f88c5", alpha=0.4, linewidth=0)
    axes.plot(PLACES, middle, color="#3f88c5")
    axes.plot(*data().values(), ".", color="#8a8a8a")
    return figure


if __name__ == "__main__":
    main()
