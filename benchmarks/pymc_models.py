"""Compare accord with nutpie on nine models of PyMC: log densities, means, and effective draws per second.

Needs an environment with PyMC, nutpie and accord. Run `python benchmarks/pymc_models.py [NAME ...]`. Both sample four
chains of 1000 draws, one after the other on this machine; seconds are of the whole call, with compiling.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "doors"))
warnings.simplefilter("ignore")

DRAWS = 1000
CHAINS = 4


def main() -> None:
    """Print a line of JSON for each model."""
    from pymc_models import MODELS

    names = argparse.ArgumentParser(description=__doc__)
    names.add_argument("names", nargs="*", choices=[*MODELS, []], default=[*MODELS])
    for name in names.parse_args().names:
        print(json.dumps({"model": name, **compared(MODELS[name]())}), flush=True)


def compared(model) -> dict:
    """Sample a model by both; the largest difference of means is in Monte Carlo standard errors."""
    ours, seconds = timed(lambda: by_accord(model))
    theirs, their_seconds = timed(lambda: by_nutpie(model))
    names = [each.name for each in model.free_RVs]
    worst, least, their_least = 0.0, np.inf, np.inf
    for name in names:
        one, other = (np.asarray(tree["posterior"][name]) for tree in (ours, theirs))
        one, other = (each.reshape(*each.shape[:2], -1) for each in (one, other))
        for entry in range(one.shape[-1]):
            sizes = [ess(each[..., entry]) for each in (one, other)]
            error = np.hypot(
                *(each[..., entry].std() / np.sqrt(n) for each, n in zip((one, other), sizes, strict=True))
            )
            worst = (
                max(worst, abs(one[..., entry].mean() - other[..., entry].mean()) / error) if error else worst
            )
            least, their_least = min(least, sizes[0]), min(their_least, sizes[1])
    return {
        "log_density_error": log_density_error(model),
        "mean_difference": round(float(worst), 2),
        "seconds": {"accord": round(seconds, 1), "nutpie": round(their_seconds, 1)},
        "min_ess": {"accord": round(float(least)), "nutpie": round(float(their_least))},
        "ess_per_second": {
            "accord": round(float(least) / seconds, 1),
            "nutpie": round(float(their_least) / their_seconds, 1),
        },
    }


def by_accord(model):
    """Sample by accord."""
    from accord.interop import pymc as door

    return door.sample(model, draws=DRAWS, chains=CHAINS, quiet=True).to_arviz()


def by_nutpie(model):
    """Sample by nutpie, which compiles by numba."""
    import nutpie

    compiled = nutpie.compile_pymc_model(model)
    return nutpie.sample(compiled, draws=DRAWS, chains=CHAINS, cores=2, seed=1, progress_bar=False)


def log_density_error(model) -> float:
    """Return the largest relative difference from PyMC's log density at three points."""
    import jax

    from accord.interop import pymc as door

    density, theirs = door.target(model), model.compile_logp(mode="FAST_COMPILE")
    worst = 0.0
    for number in range(3):
        q = np.random.default_rng(number).normal(size=density.dim) * 0.5
        point = {
            model.rvs_to_values[each].name: q[entry.start : entry.stop].reshape(entry.unconstrained_shape)
            for each, entry in zip(model.free_RVs, density.layout.entries, strict=True)
        }
        with jax.enable_x64(True):
            found = float(density(q))
        wanted = float(theirs(point))
        worst = max(worst, abs(found - wanted) / max(abs(wanted), 1.0))
    return worst


def ess(draws: np.ndarray) -> float:
    """Return the bulk effective sample size of draws, shape `(chain, draw)`."""
    import arviz

    return float(arviz.ess(draws))


def timed(function):
    """Return what a function returns, and its seconds."""
    began = time.perf_counter()
    found = function()
    return found, time.perf_counter() - began


if __name__ == "__main__":
    main()
