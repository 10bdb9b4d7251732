"""Run the page on libraries of JAX with those that are installed, and compare what they find with the exact posterior.

Means lie within six standard errors, which are estimated: at 2e-9 for each of three, a sound library seems wrong once
in a hundred million runs.
"""

import re
from pathlib import Path

import jax
import numpy as np
import pytest

from accord.report import mcse_mean

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "jax_libraries.md"
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST = ("BlackJAX, optax and flowMC", "A function of a tree")


def run_page(section):
    """Run the first sections of the page and this one, as a process in JAX's own settings would."""
    parts = dict(re.findall(r"^#+ (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    names = {"__name__": "document"}
    with (
        jax.enable_x64(False),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        for title in (*FIRST, section):
            for code in BLOCK.findall(parts[title]):
                exec(compile(code, title, "exec"), names)
    return names


def exact_means(names):
    """Integrate over mu and log tau, given which the other unknowns are normal."""
    y, sigma = names["y"], names["sigma"]
    mu, log_tau = np.meshgrid(np.linspace(-25, 30, 801), np.linspace(-12, 5, 1201), indexing="ij")
    tau = np.exp(log_tau)
    log_density = -0.5 * (mu / 5) ** 2 - np.log1p((tau / 5) ** 2) + log_tau
    for value, scale in zip(y, sigma, strict=True):
        variance = scale**2 + tau**2
        log_density += -0.5 * (value - mu) ** 2 / variance - 0.5 * np.log(variance)
    weights = np.exp(log_density - log_density.max())
    shrunk = (mu * sigma[0] ** 2 + y[0] * tau**2) / (sigma[0] ** 2 + tau**2)
    sites = {"mu": mu, "log tau": log_tau, "theta[0]": shrunk}
    return {name: (weights * value).sum() / weights.sum() for name, value in sites.items()}


def check_means(values, wanted):
    """Compare draws with exact means; their shape is `(chain, draw)`, or `(draw,)` of one chain."""
    found = {
        "mu": values["mu"],
        "log tau": np.log(values["tau"]),
        "theta[0]": values["theta"][..., 0],
    }
    draws = np.stack([np.atleast_2d(np.asarray(each, np.float64)) for each in found.values()], axis=-1)
    gaps = draws.mean((0, 1)) - [wanted[name] for name in found]
    assert (np.abs(gaps) < 6 * mcse_mean(draws)).all(), dict(zip(found, gaps / mcse_mean(draws), strict=True))


def test_blackjax_draws_from_the_posterior():
    pytest.importorskip("blackjax")
    names = run_page("BlackJAX")
    assert names["positions"]["z"].shape == (4000, 8)
    check_means(names["values"], exact_means(names))


def test_optax_climbs_to_the_peak():
    pytest.importorskip("optax")
    names = run_page("optax")
    slopes = jax.grad(names["density"].__call__)(names["flat"](names["position"]))
    assert np.abs(slopes).max() < 0.01
    assert names["of_tree"](names["position"]) > names["of_tree"](names["start"])


def test_flowmc_draws_from_the_posterior(tmp_path, monkeypatch):
    pytest.importorskip("flowMC")
    monkeypatch.chdir(tmp_path)
    names = run_page("flowMC")
    assert names["positions"].shape[0] == 20
    check_means(names["values"], exact_means(names))
