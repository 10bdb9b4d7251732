"""Make a small data frame of columns of many kinds, for the tests of formulas."""

import numpy as np
import pandas as pd


def table(num_rows: int = 60) -> pd.DataFrame:
    """Return numbers `x, z`, words `h, w`, groups `g`, and an outcome for each kind of family."""
    rng = np.random.default_rng(3)
    g = np.tile(list("abcdef"), num_rows // 6)
    x, h = rng.normal(3, 1, num_rows), rng.choice(["red", "green", "blue"], num_rows)
    effect = dict(zip("abcdef", rng.normal(0, 0.7, 6), strict=True))
    frame = pd.DataFrame({"x": x, "z": rng.uniform(1, 2, num_rows), "h": h, "g": g})
    frame["w"] = rng.choice(["u", "v"], num_rows)
    frame["y"] = 1 + 0.5 * x + frame["g"].map(effect) + rng.normal(0, 0.5, num_rows)
    frame["count"] = rng.poisson(np.exp(0.2 * x))
    frame["trials"] = rng.integers(5, 10, num_rows)
    frame["hits"] = rng.binomial(frame["trials"], 0.4)
    frame["yes"] = rng.random(num_rows) < 0.4
    frame["share"] = rng.beta(2, 3, num_rows)
    frame["positive"] = rng.gamma(2, np.exp(0.3 * x))
    frame["often_zero"] = np.where(rng.random(num_rows) < 0.3, 0.0, frame["positive"])
    frame["grade"] = pd.Categorical(
        rng.choice(["low", "mid", "high"], num_rows), categories=["low", "mid", "high"], ordered=True
    )
    return frame
