"""Separate a law's effect from trend and season: Gaussian processes by basis functions, three kinds of casualties.

From 31 January 1983, drivers and front-seat passengers in Great Britain had to wear seat belts; passengers in the
rear did not. How did the numbers killed or seriously injured change? They have a season and a trend of unknown form,
both smooth functions of time. The trend is a process with a length scale of years, by sines on an interval wider than
the data. The season is a periodic process, by harmonics of a year. Some tens of weights replace a matrix of all
months by all months. The law is a step, which neither trend nor season can imitate.

Data: Harvey (1989), Forecasting, Structural Time Series Models and the Kalman Filter, pages 519-523, January 1969 to
December 1984; as in R (datasets::Seatbelts). Estimates with which it is compared: Harvey & Durbin (1986), The effects
of seat belt legislation on British road casualties, J. Royal Statistical Society A 149(3), 187-227. Method:
Riutort-Mayol et al. (2023), Practical Hilbert space approximate Bayesian Gaussian processes, Statistics and Computing
33, 17.

    python examples/gallery/seat_belts.py
    accord sample examples/gallery/seat_belts.py --data examples/gallery/seat_belts.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import gp, infer

SEATS = ["drivers", "front", "rear"]
PUBLISHED = {"drivers": -0.23, "front": -0.30, "rear": 0.03}  # by how much the law changed the numbers
YEARS = 1969 + np.arange(192) / 12
LAW = 1983 + 1 / 12
TREND = gp.SineBasis.around(YEARS, lengthscales=(2.0, 8.0), covariance=gp.Matern52)
SEASON = gp.HarmonicBasis(period=1.0, size=5)
# Deviations from the mean of a year: the trend holds the constant.
WAVES = SEASON(YEARS) - SEASON(YEARS).mean(axis=0)


@ac.model
def seat_belts(drivers, front, rear):
    """Numbers killed or seriously injured by month, shape (192,) each."""
    counts = jnp.stack([drivers, front, rear]).astype(float)
    level = jnp.log(counts).mean(axis=1)  # the reference level of the trends
    # Common to all seats: length scales of the trend and of the season, in years.
    years = ac.sample("years", dist.InverseGamma(8, 28))
    turn = ac.sample("turn", dist.InverseGamma(5, 5))
    with ac.plate("seat", 3, coords=SEATS, dim=-1):
        law = ac.sample("law", dist.Normal(0, 0.5))
        height = ac.sample("height", dist.HalfNormal(0.5))
        swing = ac.sample("swing", dist.HalfNormal(0.5))
        noise = ac.sample("noise", dist.HalfNormal(0.2))
        # One process of height 1 for each seat.
        trend = gp.weights("trend", gp.Matern52(1.0, years), TREND)
        season = gp.weights("season", gp.Periodic(1.0, turn, period=1.0), SEASON)
        ac.deterministic("change", jnp.expm1(law))
    smooth = level[:, None] + height[:, None] * (trend @ TREND(YEARS).T)
    step = law[:, None] * (YEARS > LAW - 0.01)
    yearly = swing[:, None] * (season @ WAVES.T)
    with ac.plate("seat", 3, dim=-2, coords=SEATS), ac.plate("month", 192, dim=-1):
        ac.deterministic("underlying", jnp.exp(smooth + step))
        ac.sample("counts", dist.LogNormal(smooth + step + yearly, noise[:, None]), obs=counts)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, and compare what the law did with the published estimates."""
    draws = infer.sample(seat_belts(**data()), seed=1)
    print(draws.summary())

    # Check
    low, middle, high = np.quantile(draws["change"], [0.05, 0.5, 0.95], axis=(0, 1))
    for k, seat in enumerate(SEATS):
        print(
            f"{seat}: {middle[k]:+.0%} ({low[k]:+.0%} to {high[k]:+.0%}, 90%), published {PUBLISHED[seat]:+.0%}"
        )
    return draws


def plot(draws):
    """Draw the numbers, and 90% bands of the expected numbers without season."""
    from matplotlib.figure import Figure

    low, high = np.quantile(draws["underlying"], [0.05, 0.95], axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="killed or seriously injured", yscale="log")
    for k, color in enumerate(["#3f88c5", "#e4793a", "#5b8c5a"]):
        axes.plot(YEARS, data()[SEATS[k]], ".", color=color, markersize=2)
        axes.fill_between(YEARS, low[k], high[k], color=color, alpha=0.35, linewidth=0, label=SEATS[k])
    axes.axvline(LAW, color="#8a8a8a", linestyle="--", linewidth=1)
    axes.minorticks_off()
    axes.set(ylim=(150, 3000), yticks=[250, 500, 1000, 2000], yticklabels=[250, 500, 1000, 2000])
    axes.legend(frameon=False, ncols=3, loc="lower left")
    return figure


if __name__ == "__main__":
    main()
