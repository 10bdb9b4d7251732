"""Fit a plane to a plant's ammonia losses with some odd days: robust regression with Student-t noise.

The data are twenty-one days of a plant that oxidises ammonia. How does the loss depend on air flow, the cooling
water's temperature and the acid's concentration? Four days (1, 3, 4 and 21) have long been called outliers. Instead
of removing them by hand, the model gives the noise heavy tails of unknown weight: the less a day fits, the less
influence it has.

Data: Brownlee (1965), Statistical Theory and Methodology, section 13.12. Which days are odd: Daniel & Wood (1980).

    python examples/gallery/stackloss.py
    accord sample examples/gallery/stackloss.py --data examples/gallery/stackloss.json
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import accord as ac
import accord.distributions as dist
from accord import infer

COLUMNS = ["air_flow", "water", "acid"]
ODD_DAYS = (1, 3, 4, 21)


@ac.model
def stackloss(air_flow, water, acid, loss=None):
    """By day, shape (21,): three covariates, and `loss` of ammonia in tenths of a percent."""
    columns = [(column - column.mean()) / column.std() for column in (air_flow, water, acid)]
    level = ac.sample("level", dist.Normal(20, 20))
    with ac.plate("column", 3, coords=COLUMNS):
        slopes = ac.sample("slopes", dist.Normal(0, 10))  # by standard deviation of the covariate
    scale = ac.sample("scale", dist.HalfNormal(5))
    df = ac.sample("df", dist.Gamma(2, 0.1))
    with ac.plate("day", len(air_flow)):
        plane = level + jnp.stack(columns, axis=1) @ slopes
        ac.deterministic("plane", plane)
        ac.sample("loss", dist.StudentT(df, plane, scale), obs=loss)


def data():
    """Read the arguments of the model, arrays by name."""
    text = Path(__file__).with_suffix(".json").read_text()
    return {name: np.array(values) for name, values in json.loads(text).items()}


def weights(draws, loss):
    """Return the weight of each day in least squares, shape (chain, draw, 21)."""
    residual = (loss - draws["plane"]) / draws["scale"][..., None]
    df = draws["df"][..., None]
    return (df + 1) / (df + residual**2)


def main():
    """Fit, read slopes and weights, and check which days are odd."""
    draws = infer.sample(stackloss(**data()), seed=1)
    print(draws.summary())

    # Air flow and water matter; even the sign of acid is uncertain.
    for column, share in zip(COLUMNS, (draws["slopes"] > 0).mean(axis=(0, 1)), strict=True):
        print(f"loss rises with {column}: {share:.0%}")

    # Check: the days with the smallest weights are the known outliers.
    lightest = 1 + np.argsort(weights(draws, data()["loss"]).mean(axis=(0, 1)))[:4]
    print("days of least weight", sorted(lightest.tolist()), "known as odd", ODD_DAYS)
    return draws


if __name__ == "__main__":
    main()
