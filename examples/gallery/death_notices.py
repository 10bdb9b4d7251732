"""Split three years of death notices into summer and winter days without a calendar: a finite mixture of two rates.

The Times of London printed between zero and nine deaths of women over eighty a day, on 1096 days. A single Poisson
distribution does not fit, because its variance equals its mean. A mixture of two rates does. The rate of each day is
unknown, and `MixtureSameFamily` sums it out. The rates are in increasing order, which identifies the two components.

Data: Hasselblad (1969), Estimation of finite mixtures of distributions from the exponential family, JASA 64(328),
1459-1471, with the maximum likelihood estimates (to four digits in Titterington, Smith & Makov, 1985, section 4.3).

    python examples/gallery/death_notices.py
    accord sample examples/gallery/death_notices.py --data examples/gallery/death_notices.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import handlers, infer

PUBLISHED = {"share": 0.3599, "low rate": 1.2561, "high rate": 2.6634}


@ac.model
def death_notices(deaths, days):
    """Mix two Poisson rates: `days` counts the days with each number of `deaths`, both of shape (10,)."""
    share = ac.sample("share", dist.Beta(2, 2))  # of days with the lower rate
    log_rates = ac.sample("log_rates", dist.ordered(dist.Normal(0, 1).expand((2,)).to_event(1)), dims="rate")
    ac.deterministic("rates", jnp.exp(log_rates), dims="rate")
    components = dist.MixtureSameFamily(
        dist.Categorical(jnp.stack([share, 1 - share])), dist.LogPoisson(log_rates)
    )
    # Days with the same number are equivalent, so each number is weighted by its frequency.
    with ac.plate("number", len(deaths)), handlers.scale(scale=days):
        ac.sample("deaths", components, obs=deaths)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, look at the components, and compare maximum likelihood with the published estimates."""
    draws = infer.sample(death_notices(**data()), infer.NUTS(target_accept=0.95), draws=2000, seed=1)
    print(draws.summary())

    # To which component does a day with so many deaths belong? Bayes' rule, draw by draw.
    share, rates, number = draws["share"][..., None], draws["rates"], data()["deaths"]
    weights = [
        part * np.exp(-rates[..., k, None]) * rates[..., k, None] ** number
        for k, part in enumerate([share, 1 - share])
    ]
    for deaths, low in zip(number, (weights[0] / sum(weights)).mean(axis=(0, 1)), strict=True):
        print(f"a day with {deaths} deaths has the lower rate with probability {low:.2f}")

    # Check
    mode = infer.find_mode(death_notices(**data()), "mle")
    found = [mode.values["share"], *mode.deterministics["rates"]]
    for (name, published), value in zip(PUBLISHED.items(), found, strict=True):
        print(f"{name}: {value:.4f}, published {published:.4f}")
    return draws


if __name__ == "__main__":
    main()
