"""Evaluate models of formulas by Bambi, for the tests to compare with: `python benchmarks/formulas_bambi.py`.

Needs `pip install bambi` in an environment of its own, since Bambi pins an older formulae. Writes data, points and log
densities to `tests/interop/bambi.json`: the log density of Bambi's model with its default priors, without the Jacobians
of its transformations, at three random points. `python benchmarks/formulas_bambi.py posteriors` samples some of the
models with PyMC and adds means and standard deviations.
"""

import json
import sys
from pathlib import Path

import bambi as bmb
import numpy as np
import pandas as pd
import pymc as pm

PATH = Path(__file__).parents[1] / "tests" / "interop" / "bambi.json"
ROWS = 60

# Name: formula, family, further arguments. Group terms are independent in Bambi, as with `||` in accord.
CASES = {
    "gaussian": ("y ~ x + h", "gaussian", {}),
    "t, interaction": ("y ~ x * h", "t", {}),
    "groups": ("y ~ x + (x|g)", "gaussian", {}),
    "no intercept": ("y ~ 0 + h + z", "gaussian", {}),
    "bernoulli": ("b ~ x + h", "bernoulli", {}),
    "probit": ("b ~ x", "bernoulli", {"link": "probit"}),
    "binomial": ("prop(k, n) ~ z + (1|g)", "binomial", {}),
    # Not bs(x, df=4): formulae 0.9 centres its columns, and the version that Bambi takes leaves one out.
    "polynomial and offset": ("c ~ poly(x, 2) + offset(lz)", "poisson", {}),
    "nested": ("c ~ x + (1|g/w)", "negativebinomial", {}),
    "gamma": ("p ~ x", "gamma", {"link": "log"}),
    "beta": ("u ~ x", "beta", {}),
    "categorical": ("h ~ x + w", "categorical", {}),
    "zero-inflated poisson": ("c ~ x", "zero_inflated_poisson", {}),
    "zero-inflated negative binomial": ("c ~ x", "zero_inflated_negativebinomial", {}),
    "zero-inflated binomial": ("prop(k, n) ~ x", "zero_inflated_binomial", {}),
    "hurdle poisson": ("c ~ x", "hurdle_poisson", {}),
    "hurdle negative binomial": ("c ~ x", "hurdle_negativebinomial", {}),
    "hurdle gamma": ("q ~ x", "hurdle_gamma", {}),
}
SAMPLED = (
    "gaussian",
    "groups",
    "no intercept",
    "bernoulli",
    "probit",
    "binomial",
    "polynomial and offset",
    "nested",
    "gamma",
    "beta",
)


PARAMETERS = (
    *("Intercept", "x", "h", "z", "poly(x, 2)", "sigma", "alpha"),
    *("1|g_sigma", "x|g_sigma", "1|g:w_sigma"),
)


def table() -> pd.DataFrame:
    """Simulate columns of many kinds."""
    rng = np.random.default_rng(5)
    x, z = rng.normal(3, 1, ROWS), rng.uniform(1, 2, ROWS)
    g = np.tile(np.arange(6), ROWS // 6)
    h = rng.choice(["red", "green", "blue"], ROWS)
    effect = rng.normal(0, 0.7, 6)[g]
    mean = 1 + 0.5 * x + effect + (h == "red")
    p = np.round(rng.gamma(2, np.exp(0.3 * x)), 6)
    frame = {
        "x": np.round(x, 6),
        "z": np.round(z, 6),
        "lz": np.round(np.log(z), 6),
        "g": [f"g{each}" for each in g],
        "w": rng.choice(["u", "v"], ROWS),
        "h": h,
        "y": np.round(rng.normal(mean, 1), 6),
        "b": (rng.random(ROWS) < 1 / (1 + np.exp(2 - 0.8 * x))).astype(int),
        "n": rng.integers(5, 10, ROWS),
        "c": rng.poisson(np.exp(0.2 * x + 0.5 * effect)),
        "p": p,
        "q": np.where(rng.random(ROWS) < 0.3, 0.0, p),
        "u": np.round(rng.beta(2, 3, ROWS), 6),
    }
    frame["k"] = rng.binomial(frame["n"], 0.4)
    return pd.DataFrame(frame)


def points(model: pm.Model) -> list[dict]:
    """Draw three points of Bambi's model near its prior: values and log density."""
    rng = np.random.default_rng(11)
    density = model.compile_logp(jacobian=False)
    found = []
    for _ in range(3):
        values, moved = {}, {}
        for rv in model.free_RVs:
            shape = tuple(rv.shape.eval())
            name = rv.name
            positive = any(name.endswith(end) for end in ("sigma", "alpha", "kappa", "nu"))
            value = rng.uniform(0.4, 0.6, shape) if name == "psi" else rng.normal(0, 0.3, shape)
            value = np.round(np.exp(value) + 0.2 if positive else value, 6)
            transform = model.rvs_to_transforms[rv]
            to = value if transform is None else transform.forward(value, *rv.owner.inputs).eval()
            values[name] = value.tolist()
            moved[model.rvs_to_values[rv].name] = to
        found.append({"values": values, "log_density": float(density(moved))})
    return found


def main() -> None:
    """Write log densities, or add posteriors."""
    frame = table()
    if sys.argv[1:] == ["posteriors"]:
        written = json.loads(PATH.read_text(encoding="utf-8"))
        for name in SAMPLED:
            formula, family, options = CASES[name]
            model = bmb.Model(formula, frame, family=family, **options)
            idata = model.fit(draws=5000, tune=2000, chains=4, cores=1, random_seed=1, target_accept=0.95)
            own = {}
            for site in PARAMETERS:
                if site in idata.posterior:
                    values = idata.posterior[site].to_numpy()
                    flat = values.reshape(-1, *values.shape[2:])
                    own[site] = {"mean": flat.mean(0).tolist(), "sd": flat.std(0).tolist()}
            written["cases"][name]["posterior"] = own
            print(name, list(own), flush=True)
        PATH.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
        return
    cases = {}
    for name, (formula, family, options) in CASES.items():
        model = bmb.Model(formula, frame, family=family, **options)
        model.build()
        cases[name] = {"formula": formula, "family": family, **options, "points": points(model.backend.model)}
        print(name, cases[name]["points"][0]["log_density"], flush=True)
    written = {"bambi": bmb.__version__, "data": frame.to_dict("list"), "cases": cases}
    PATH.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
