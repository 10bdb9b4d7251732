"""Follow the level of the Nile through a century: a local level model, integrated out by a Kalman filter.

Each year's flow is a level plus noise, and the level wanders from year to year. All is normal, so that the levels can
be integrated out: the Kalman filter, a loop over years, leaves two unknowns. The levels come back by a property of
normal laws: a year's expected level is its flow plus the variance of the noise times the derivative of the log
likelihood by that flow.

Data: Cobb (1978), Biometrika 65(2), 243-251; flow at Aswan, 1871 to 1970, in 10^8 cubic metres. Maximum likelihood
estimates: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, section 2.10.

    python examples/gallery/nile.py
    accord sample examples/gallery/nile.py --data examples/gallery/nile.json
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

PUBLISHED = {"noise": 15099.0, "wander": 1469.1}  # variances
FIRST = 1871


def log_likelihood(flow, noise, wander):
    """The Kalman filter: the log density of all flows but the first, levels integrated out.

    The first level may be anything, so that the first flow says where it is, and nothing of the variances.
    """

    def step(state, flow):
        # mean, variance: of this year's level given the flows before.
        mean, variance = state
        total = variance + noise**2
        surprise = flow - mean
        gain = variance / total
        log_density = -0.5 * (jnp.log(2 * jnp.pi * total) + surprise**2 / total)
        return (mean + gain * surprise, variance * (1 - gain) + wander**2), log_density

    start = (flow[0], noise**2 + wander**2)
    return jax.lax.scan(step, start, flow[1:])[1].sum()


@ac.model
def nile(flow):
    """`flow`: by year, shape (100,)."""
    flow = jnp.asarray(flow, float)
    noise = ac.sample("noise", dist.HalfNormal(200))
    wander = ac.sample("wander", dist.HalfNormal(100))  # of the level, from year to year
    ac.factor("flow", log_likelihood(flow, noise, wander))
    score = jax.grad(log_likelihood)(flow, noise, wander)
    ac.deterministic("level", flow + noise**2 * score, dims={"year": range(FIRST, FIRST + len(flow))})


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
    """Draw the flows and the expected level."""
    from matplotlib.figure import Figure

    years = FIRST + np.arange(len(data()["flow"]))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="flow")
    axes.plot(years, data()["flow"], ".", color="#8a8a8a")
    axes.plot(years, draws["level"].mean(axis=(0, 1)), color="#3f88c5")
    return figure


if __name__ == "__main__":
    main()
