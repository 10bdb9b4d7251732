"""Follow the level of the Nile through a century: a local level model, integrated by a Kalman filter.

Each year's flow is a level plus noise, and the level changes from year to year. Everything is normal, so the levels
can be integrated out: `dist.LinearGaussianStateSpace` is the distribution of the flows alone, and leaves two
parameters. `smooth` recovers the levels: their means and standard deviations, given all flows and the two parameters
of a draw.

Data: Cobb (1978), Biometrika 65(2), 243-251; flow at Aswan, 1871 to 1970, in 10^8 cubic metres. Maximum likelihood
estimates: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, section 2.10.

    python examples/gallery/nile.py
    accord sample examples/gallery/nile.py --data examples/gallery/nile.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {"noise": 15099.0, "wander": 1469.1}  # variances
FIRST = 1871


@ac.model
def nile(flow):
    """`flow`: by year, shape (100,)."""
    flow = jnp.asarray(flow, float)[:, None]  # one observation a year
    noise = ac.sample("noise", dist.HalfNormal(200))
    wander = ac.sample("wander", dist.HalfNormal(100))  # of the level, from year to year
    flows = dist.LinearGaussianStateSpace(
        len(flow),
        transition_matrix=np.eye(1),
        observation_matrix=np.eye(1),
        transition_scale=wander * np.eye(1),
        observation_scale=noise * np.eye(1),
        # The first level has a wide prior: the first flow determines it, and says nothing about the variances.
        initial_mean=flow[0],
        initial_scale=1e5 * np.eye(1),
    )
    ac.sample("flow", flows, obs=flow)
    level = flows.smooth(flow)
    years = {"year": range(FIRST, FIRST + len(flow))}
    ac.deterministic("level", level.mean[:, 0], dims=years)
    ac.deterministic("level_sd", jnp.sqrt(level.covariance[:, 0, 0]), dims="year")


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read when the level fell, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(nile(**data()), seed=1)
    print(draws.summary())

    level = draws["level"].mean(axis=(0, 1))
    fall = np.argmin(np.diff(level))
    print(
        f"the level fell most from {FIRST + fall} to {FIRST + fall + 1}; the dam at Aswan was begun in 1898"
    )
    print(f"on average {level[:28].mean():.0f} until then, {level[28:].mean():.0f} later")

    # Check
    mode = infer.find_mode(nile(**data()), "mle")
    for name, published in PUBLISHED.items():
        print(f"variance of {name}: {mode.values[name] ** 2:.1f}, published {published}")
    return draws


def plot(draws):
    """Draw the flows, and the level with its 90% band."""
    from matplotlib.figure import Figure

    years = FIRST + np.arange(len(data()["flow"]))
    # Each draw has a normal distribution of the level: a value from each makes the band.
    normal = np.random.default_rng(0).normal(size=draws["level"].shape)
    low, high = np.quantile(draws["level"] + draws["level_sd"] * normal, [0.05, 0.95], axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="flow")
    axes.plot(years, data()["flow"], ".", color="#8a8a8a")
    axes.fill_between(years, low, high, color="#3f88c5", alpha=0.25, linewidth=0)
    axes.plot(years, draws["level"].mean(axis=(0, 1)), color="#3f88c5")
    return figure


if __name__ == "__main__":
    main()
