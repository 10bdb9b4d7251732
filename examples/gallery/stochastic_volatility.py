"""Follow a market's volatility day by day, and two weeks ahead: stochastic volatility with `ac.scan`.

There are three hundred daily returns whose sizes come in clusters: after a large one, another is likely. The
logarithm of the variance follows an autoregression with an unknown value for each day, so there are as many unknowns
as observations. `ac.scan` writes one day as a function with sites, given the day before. `reparam.LocScale` samples
each day's shock instead of its value, so that the sampled values do not depend on each other a priori. The forecast
is a second scan that begins where the first one ended.

Data: simulated by `simulate()`. Model: Kim, Shephard & Chib (1998), Stochastic volatility, Review of Economic Studies
65(3), 361-393.

    python examples/gallery/stochastic_volatility.py
    accord sample examples/gallery/stochastic_volatility.py --data examples/gallery/stochastic_volatility.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam

TRUTH = {"level": 0.0, "persistence": 0.9, "volatility": 0.5}


@ac.model
def stochastic_volatility(returns, horizon=0):
    """`returns`: in percent, by day, shape (300,); `horizon`: number of days to forecast."""
    level = ac.sample("level", dist.Normal(0, 2))  # of the log variance, in the long run
    persistence = ac.sample("persistence", dist.Beta(20, 2))
    volatility = ac.sample("volatility", dist.HalfNormal(0.5))  # of the log variance, from day to day

    def day(deviation, observed):
        deviation = ac.sample("deviation", dist.Normal(persistence * deviation, volatility))
        sd = ac.deterministic("sd", jnp.exp((level + deviation) / 2))
        ac.sample("return", dist.Normal(0, sd), obs=observed)
        return deviation, None

    # The day before the first has the stationary distribution, and so have all days.
    before = ac.sample("before", dist.Normal(0, 1)) * volatility / jnp.sqrt(1 - persistence**2)
    day = handlers.reparam(day, {"deviation": reparam.LocScale()})
    last, _ = ac.scan(day, before, returns, name="day")
    if horizon:
        with handlers.scope(prefix="future"):
            ac.scan(day, last, length=horizon, name="day")


def simulate():
    """Simulate the data in the JSON file."""
    rng = np.random.default_rng(1998)
    log_variance = np.zeros(300)
    log_variance[0] = rng.normal(0, TRUTH["volatility"] / np.sqrt(1 - TRUTH["persistence"] ** 2))
    for day in range(1, 300):
        shock = rng.normal(0, TRUTH["volatility"])
        log_variance[day] = TRUTH["persistence"] * log_variance[day - 1] + shock
    return {"returns": np.round(rng.normal(0, np.exp((TRUTH["level"] + log_variance) / 2)), 3)}


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, find when volatility was high, and forecast two weeks."""
    draws = infer.sample(stochastic_volatility(**data()), infer.NUTS(target_accept=0.95), seed=1)
    print(draws.summary())

    sd = draws["sd"].mean(axis=(0, 1))
    print(
        f"calmest on day {sd.argmin()} (sd {sd.min():.1f}%), most nervous on {sd.argmax()} ({sd.max():.1f}%)"
    )
    half_life = np.log(0.5) / np.log(draws["persistence"])
    print(f"half of a shock is gone after {np.median(half_life):.0f} days")
    ahead = infer.predict(draws, stochastic_volatility(**data(), horizon=14))
    loss = np.quantile(ahead["future/return"].sum(axis=-1), 0.01)
    print(f"over the next 14 days, a loss of more than {-loss:.0f}% has a probability of 1%")

    # Check
    for name, truth in TRUTH.items():
        low, high = np.quantile(draws[name], [0.05, 0.95])
        print(f"{name}: {low:.2f} to {high:.2f} (90%), true {truth}")
    return draws


def plot(draws):
    """Draw the returns, and the 90% band of their standard deviation, two weeks ahead too."""
    from matplotlib.figure import Figure

    ahead = infer.predict(draws, stochastic_volatility(**data(), horizon=14))["future/sd"]
    sd = np.concatenate([draws["sd"], ahead], axis=-1)
    low, middle, high = np.quantile(sd, [0.05, 0.5, 0.95], axis=(0, 1))
    days = np.arange(len(middle))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="day", ylabel="return (%)")
    axes.vlines(days[:300], 0, data()["returns"], color="#8a8a8a", linewidth=0.8)
    axes.axvline(299.5, color="#e4793a", linestyle="--", linewidth=1)
    for sign in (-1, 1):
        axes.fill_between(days, sign * low, sign * high, color="#3f88c5", alpha=0.25, linewidth=0)
        axes.plot(days, sign * middle, color="#3f88c5", linewidth=1)
    return figure


if __name__ == "__main__":
    main()
