"""Fit a growth line to each of thirty rats, with correlated effects: a multilevel model with an LKJ prior.

Thirty young rats were weighed on five days. Each rat has its own weight at the middle of the time and its own growth
per day. Both come from a population and may be correlated: do heavy rats grow faster? The correlation has an LKJ
prior, and each rat's two effects form a vector with that correlation. Five weights say much about a rat, so
`reparam.propose` proposes no other form and the effects are sampled directly.

Data: Gelfand, Hills, Racine-Poon & Smith (1990), Illustration of Bayesian inference in normal data models using Gibbs
sampling, JASA 85(412), 972-985, section 6.

    python examples/gallery/rats.py
    accord sample examples/gallery/rats.py --data examples/gallery/rats.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer, reparam

MIDDLE = 22.0  # days
EFFECTS = ["weight", "growth"]


@ac.model
def rats(days, weight=None):
    """`days`: shape (5,); `weight`: grams, by rat and day, shape (30, 5)."""
    num_rats = 30 if weight is None else weight.shape[0]
    factor = ac.sample("factor", dist.LKJCholesky(2, 2.0))
    with ac.plate("effect", 2, coords=EFFECTS):
        mean = ac.sample("mean", dist.Normal(jnp.array([240.0, 6.0]), jnp.array([50.0, 3.0])))
        spread = ac.sample("spread", dist.HalfNormal(jnp.array([20.0, 2.0])))
    ac.deterministic("correlation", factor[1, 0])
    with ac.plate("rat", num_rats, dim=-1):
        distribution = dist.MultivariateNormal(mean, scale_tril=spread[:, None] * factor)
        effects = ac.sample("effects", distribution, dims={"effect_of": EFFECTS})
    noise = ac.sample("noise", dist.HalfNormal(10))
    expected = effects[:, :1] + effects[:, 1:] * (days - MIDDLE)
    with ac.plate("rat", num_rats, dim=-2), ac.plate("day", len(days), dim=-1):
        ac.sample("weight", dist.Normal(expected, noise), obs=weight)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def least_squares(days, weight):
    """Return mean weight and growth of lines fitted to each rat; in a balanced design, also the overall means."""
    columns = np.stack([np.ones(len(days)), days - MIDDLE], axis=1)
    return np.linalg.lstsq(columns, weight.T, rcond=None)[0].mean(axis=1)


def main():
    """Fit, read means and correlation, and compare with least squares."""
    print(reparam.propose(rats(**data())))
    # Weights are far from the numbers near 0 at which chains begin by default, and spreads are found from there last.
    draws = infer.sample(rats(**data()), init=infer.from_prior(), seed=1)
    print(draws.summary())

    correlation = draws["correlation"]
    print(
        f"heavy rats grow faster: correlation {correlation.mean():.2f}, positive in {np.mean(correlation > 0):.0%}"
    )
    at_birth = draws["mean"][..., 0] - MIDDLE * draws["mean"][..., 1]
    print(f"weight at birth, extrapolated: {at_birth.mean():.1f} g")

    # Check
    for name, found, exact in zip(
        EFFECTS, draws["mean"].mean(axis=(0, 1)), least_squares(**data()), strict=True
    ):
        print(f"mean {name}: {found:.2f}, least squares {exact:.2f}")
    return draws


def plot(draws):
    """Draw the rats' expected weights and growths over the least-squares estimates for each rat."""
    from matplotlib.figure import Figure

    days, weight = data().values()
    columns = np.stack([np.ones(len(days)), days - MIDDLE], axis=1)
    alone = np.linalg.lstsq(columns, weight.T, rcond=None)[0]
    pooled = draws["effects"].mean(axis=(0, 1)).T
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="weight on day 22 (g)", ylabel="growth (g per day)")
    axes.plot(*np.stack([alone, pooled]).transpose(1, 0, 2), color="#8a8a8a", linewidth=0.8)
    axes.plot(*alone, "o", fillstyle="none", color="#8a8a8a", label="each rat by itself")
    axes.plot(*pooled, "o", color="#3f88c5", label="partially pooled")
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
