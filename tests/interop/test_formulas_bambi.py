"""Compare models of formulas with those of Bambi, by log densities and posteriors that `formulas_bambi.py` recorded.

Default priors are Bambi's, but for some that the cases name. Numbers from the data are rounded to six digits in the
code of a model, which moves a log density by less than 1e-4 here.
"""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import accord as ac
from accord import infer
from accord.report import ess_bulk

pytest.importorskip("formulae")

RECORDED = json.loads(Path(__file__).with_name("bambi.json").read_text(encoding="utf-8"))
CASES = RECORDED["cases"]


def model_of(name: str) -> ac.Model:
    case = CASES[name]
    formula = re.sub(r"\(x ?\| ?g\)", "(x || g)", case["formula"])  # Bambi has no correlations
    return ac.glm(formula, RECORDED["data"], case["family"], link=case.get("link"), centred=False)


def named(values: dict, model: ac.Model) -> dict:
    """Give values of Bambi's parameters the names that accord has for them."""
    sites = {site.name for site in model.sites()}
    found = {}
    for name, value in values.items():
        own = re.sub(r"_sigma$", "_sd", re.sub(r"_offset$", "_base", name))
        if name == "Intercept" and "Intercept_centred" in sites:
            own = "Intercept_centred"
        found[own] = np.asarray(value, float)
    return found


SAMPLED = [name for name in CASES if "posterior" in CASES[name]]
LEAST_ESS = 1000  # that Bambi's means have, of 20,000 draws


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_posterior_means_are_those_of_bambi(name):
    """Compare means by z-scores below 6: each has a false-alarm rate of 2e-9.

    Not of the concentration of counts, whose prior has no mean.
    """
    draws = infer.sample(
        model_of(name), infer.NUTS(target_accept=0.95), draws=2000, seed=3, quiet=True, progress=False
    )
    for site, recorded in CASES[name]["posterior"].items():
        if site == "alpha":
            continue
        values = draws[re.sub("_sigma$", "_sd", site)]
        mean, sd = np.asarray(recorded["mean"]), np.asarray(recorded["sd"])
        ess = ess_bulk(values.reshape(*values.shape[:2], -1)).reshape(mean.shape)
        error = sd * np.sqrt(1 / ess + 1 / LEAST_ESS)
        assert np.all(np.abs(values.mean((0, 1)) - mean) < 6 * error), site


@pytest.mark.parametrize("name", CASES)
def test_log_densities_are_those_of_bambi(name):
    model = model_of(name)
    for point in CASES[name]["points"]:
        values = {site: each[None, None] for site, each in named(point["values"], model).items()}
        found = infer.log_joint(values, model)
        assert math.isclose(float(np.squeeze(found)), point["log_density"], abs_tol=1e-4, rel_tol=0), found
