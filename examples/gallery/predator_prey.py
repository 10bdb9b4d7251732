"""Follow lynxes and hares through two of their cycles: the Lotka-Volterra equations, solved within the model.

The Hudson's Bay Company recorded the pelts that it bought. Hares multiply and are eaten by lynxes; lynxes die, and
multiply by eating hares. Two differential equations describe this with four rates, and have cycles as solutions.
`ode.solve` computes the numbers of each year, with gradients, so rates, initial numbers and the noise of the counts
can be inferred. The equations are solved for logarithms, so that numbers stay positive.

Data: pelts in thousands, 1900 to 1920, as Howard (2009) has them. Analysis with which it is compared, of the same
model: Carpenter (2018), Predator-prey population dynamics, a case study of Stan; means and standard deviations from
the reference draws of posteriordb (hudson_lynx_hare-lotka_volterra), BSD-3-Clause, as are the data there.

    python examples/gallery/predator_prey.py
    accord sample examples/gallery/predator_prey.py --data examples/gallery/predator_prey.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer, ode

RATES = ["hare birth", "hare predation", "lynx death", "lynx growth"]  # per year, per thousand of the others
SPECIES = ["hare", "lynx"]
# Posterior means, and their Monte Carlo standard errors.
PUBLISHED = {
    "rates": ([0.54686, 0.027747, 0.80010, 0.024086], [6.3e-4, 4.2e-5, 8.9e-4, 3.6e-5]),
    "first": ([34.035, 5.9359], [0.030, 0.0054]),
    "noise": ([0.24806, 0.25102], [4.4e-4, 4.4e-4]),
}


def slope(year, log_numbers, rates):
    """Return the derivatives of the logarithms of hares and lynxes."""
    hare, lynx = jnp.exp(log_numbers)
    birth, predation, death, growth = rates
    return jnp.stack([birth - predation * lynx, growth * hare - death])


@ac.model
def predator_prey(years, pelts=None):
    """`years`: shape (21,); `pelts`: thousands, by year and species, shape (21, 2)."""
    with ac.plate("rate", 4, coords=RATES):
        loc, scale = jnp.array([1.0, 0.05, 1.0, 0.05]), jnp.array([0.5, 0.05, 0.5, 0.05])
        rates = ac.sample("rates", dist.TruncatedNormal(loc, scale, low=0.0))
    with ac.plate("species", 2, dim=-1, coords=SPECIES):
        first = ac.sample("first", dist.LogNormal(np.log(10.0), 1.0))  # numbers in the first year
        noise = ac.sample("noise", dist.LogNormal(-1.0, 1.0))
        # The counts have errors of a quarter: six digits are enough.
        log_numbers = ode.solve(slope, jnp.log(first), 0.0, years - years[0], rates, rtol=1e-6, atol=1e-6)
        with ac.plate("year", len(years), dim=-2):
            ac.deterministic("numbers", jnp.exp(log_numbers))
            ac.sample("pelts", dist.LogNormal(log_numbers, noise), obs=pelts)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def main():
    """Fit, read the balance of the two species, and compare with the published analysis."""
    draws = infer.sample(predator_prey(**data()), draws=500, seed=1)
    print(draws.summary())

    # Where the slopes are zero, the numbers are constant: they are the averages of hares and lynxes over a cycle.
    birth, predation, death, growth = np.moveaxis(draws["rates"], -1, 0)
    for species, balance in {"hares": death / growth, "lynxes": birth / predation}.items():
        low, high = np.quantile(balance, [0.05, 0.95])
        print(f"{species} in balance: {np.median(balance):.0f} thousand (90%: {low:.0f} to {high:.0f})")

    # Check
    for name, (means, _) in PUBLISHED.items():
        found = ", ".join(f"{each:.4f}" for each in draws[name].mean(axis=(0, 1)))
        print(f"{name}: {found}; published {', '.join(f'{each:.4f}' for each in means)}")
    return draws


def plot(draws):
    """Draw the pelts, and bands of 90% of the numbers."""
    from matplotlib.figure import Figure

    years, pelts = data().values()
    low, middle, high = np.quantile(draws["numbers"], [0.05, 0.5, 0.95], axis=(0, 1))
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="pelts (thousands)", xticks=years[::5])
    for k, color in enumerate(["#3f88c5", "#e4793a"]):
        axes.fill_between(years, low[:, k], high[:, k], color=color, alpha=0.25, linewidth=0)
        axes.plot(years, middle[:, k], color=color, label=SPECIES[k])
        axes.plot(years, pelts[:, k], "o", color=color, markersize=3)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
