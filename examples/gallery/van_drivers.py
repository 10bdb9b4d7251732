"""Estimate what a seat belt law did for drivers of vans: Poisson counts with a level that changes every month.

Between two and seventeen van drivers were killed in a month on the roads of Great Britain. Such small counts are not
normal, so a Kalman filter is not exact: each month's level is an unknown, one step from the level of the month
before. `ac.scan` writes one month, with its level and its count as sites; the program stays one month long, however
many months there are. The steps are small, and the data say little about each, so the level is sampled in units of
its step.

Data: Harvey (1989), Forecasting, Structural Time Series Models and the Kalman Filter, pages 519-523: drivers of light
goods vehicles killed, January 1969 to December 1984; as in R (datasets::Seatbelts). The law came into force on 31
January 1983. Estimate of its effect: Durbin & Koopman (2012), Time Series Analysis by State Space Methods, section
14.2.

    python examples/gallery/van_drivers.py
    accord sample examples/gallery/van_drivers.py --data examples/gallery/van_drivers.json
"""

import json
from pathlib import Path

import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer, reparam

PUBLISHED = -0.278  # the effect, in logarithms: 24.3% fewer deaths
LAW = 169  # February 1983


@ac.model
def van_drivers(killed=None, months=192):
    """`killed`: counts by month, shape (months,)."""
    effect = ac.sample("effect", dist.Normal(0, 1))  # of the law
    season = ac.sample("season", dist.ZeroSumNormal(0.5, (12,)), dims="month_of_year")
    wander = ac.sample("wander", dist.HalfNormal(0.1))  # of the level, from month to month
    before = ac.sample("before", dist.Normal(2, 1))

    def month(level, inputs):
        known, killed = inputs
        level = ac.sample("level", dist.Normal(level, wander))
        ac.sample("killed", dist.LogPoisson(level + known), obs=killed)
        return level, None

    time = np.arange(months)
    known = season[time % 12] + effect * (time >= LAW)
    month = handlers.reparam(month, {"level": reparam.LocScale()})
    ac.scan(month, before, (known, killed), name="month", length=months)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Look at the prior, fit, read what the law did, and compare with the published estimate."""
    # What do the priors alone predict for a month? Plausible numbers, with more spread than the data.
    low, high = np.quantile(van_drivers().prior(draws=500, seed=1)["killed"], [0.05, 0.95])
    print(f"before any data, {low:.0f} to {high:.0f} deaths in nine of ten months")

    draws = infer.sample(van_drivers(**data()), seed=1)
    print(draws.summary())

    # Lives saved in the 23 months with the law: expected deaths at the same level without it, less expected deaths.
    level = draws["level"] + draws["season"][..., np.arange(192) % 12]
    saved = (np.exp(level) * (1 - np.exp(draws["effect"][..., None])))[..., LAW:].sum(axis=-1)
    low, high = np.quantile(saved, [0.05, 0.95])
    print(f"{saved.mean():.0f} lives saved until the end of 1984 (90%: {low:.0f} to {high:.0f})")
    print(f"the law saved lives with probability {np.mean(draws['effect'] < 0):.3f}")

    # Check
    effect = draws["effect"]
    print(f"effect: {effect.mean():.3f} +- {effect.std():.3f}, published {PUBLISHED}")
    return draws


def plot(draws):
    """Draw the counts, and the 90% band of the rate without its season."""
    from matplotlib.figure import Figure

    years = 1969 + np.arange(192) / 12
    law = draws["effect"][..., None] * (np.arange(192) >= LAW)
    low, middle, high = np.quantile(np.exp(draws["level"] + law), [0.05, 0.5, 0.95], axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="van drivers killed in a month")
    axes.plot(years, data()["killed"], ".", color="#8a8a8a")
    axes.fill_between(years, low, high, color="#3f88c5", alpha=0.25, linewidth=0)
    axes.plot(years, middle, color="#3f88c5")
    axes.axvline(years[LAW], color="#e4793a", linestyle="--", linewidth=1)
    return figure


if __name__ == "__main__":
    main()
