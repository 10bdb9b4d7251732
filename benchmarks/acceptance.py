"""Compare acceptances to aim at where scales are those of the marginals, by how long the gradients of a chain get.

    python benchmarks/acceptance.py --database PDB [--posteriors a,b] [--limits 0.135,0,inf] [--seeds 3]

A chain whose gradients spread less than the limit aims at 0.9, any other at 0.97: with 0 none does, with `inf` all
whose draws of the last window hardly diverged. Limits are paired by posterior and seed; the others are compared with
the first. Effective draws are the smallest bulk ESS over all unknowns; gradients are those of warm-up and sampling.
"""

import argparse
import collections
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from accord import infer
from accord.adaptation.metric import curvature
from accord.report import ess_bulk, r_hat

sys.path.append(str(Path(__file__).resolve().parent / "pdb"))

from database import Database
from registry import bind, problems

POSTERIORS = (
    "lsat_data-lsat_model",
    "Mth_data-Mth_model",
    "Mtbh_data-Mtbh_model",
    "Mh_data-Mh_model",
    "irt_2pl-irt_2pl",
    "radon_mn-radon_variable_slope_noncentered",
    "simulated-discrete_choice",
    "simulated-random_walk",
    "simulated-multivariate_probit",
    "simulated-growth_curves",
    "simulated-latent_autoregression",
    "simulated-crossed_effects",
)
_SPREAD = re.compile(r"spread by ([\d.]+)")


def main() -> None:
    """Print a row for each posterior and limit, then the ratios of each limit to the first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--database", type=Path, required=True, help="a clone of github.com/stan-dev/posteriordb"
    )
    parser.add_argument("--posteriors", default=",".join(POSTERIORS), help="separated by commas")
    parser.add_argument("--limits", default=f"{curvature.EVEN},0,inf", help="separated by commas")
    parser.add_argument("--seeds", type=int, default=3, help="how many")
    options = parser.parse_args()
    there, limits = problems(Database(options.database)), [float(each) for each in options.limits.split(",")]
    ratios: dict[float, list[np.ndarray]] = collections.defaultdict(list)
    print(
        "| posterior | limit | spread | chains at 0.9 | ESS | ESS per 1000 gradients | R-hat | divergences |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.posteriors.split(","):
        problem = there[name]
        model = bind(problem.module, problem.model, problem.data)
        found = {limit: [_run(model, limit, seed) for seed in range(options.seeds)] for limit in limits}
        for limit, runs in found.items():
            print(_row(name, limit, runs), flush=True)
            ratios[limit] += [
                np.log([run["ess"] / first["ess"], run["pace"] / first["pace"]])
                for run, first in zip(runs, found[limits[0]], strict=True)
            ]
    for limit in limits:
        ess, pace = np.exp(np.mean(ratios[limit], axis=0))
        print(
            f"\nlimit {limit:g}: {ess:.2f} of the first's effective draws, {pace:.2f} of those for each gradient"
        )


def _run(model: Any, limit: float, seed: int) -> dict[str, Any]:
    curvature.EVEN = limit  # the rule itself, for this process alone
    draws = infer.sample(model, seed=seed, progress=False, quiet=True)
    columns = [array.reshape(*array.shape[:2], -1) for array in draws.sites.values()]
    ess = min(float(np.nanmin(ess_bulk(each))) for each in columns)
    spreads = [_SPREAD.search(str(reason)) for reason in draws.tuning["metric_reason"]]
    return {
        "ess": ess,
        "pace": 1000 * ess / (draws.work["warmup"] + draws.work["sample"]),
        "r_hat": max(float(np.nanmax(r_hat(each))) for each in columns),
        "divergences": int(draws.stats["diverging"].sum()),
        "spreads": [float(each[1]) for each in spreads if each],
        "little": int(np.sum(np.isclose(draws.tuning["target_accept"], 0.9))),
    }


def _row(name: str, limit: float, runs: list[dict[str, Any]]) -> str:
    """Write a row of the table: the range of spreads, and ESS and R-hat by seed."""
    spreads = [each for run in runs for each in run["spreads"]]
    span = f"{min(spreads):.2f} to {max(spreads):.2f}" if spreads else ""
    chains = sum(run["little"] for run in runs)
    ess = ", ".join(f"{run['ess']:.0f}" for run in runs)
    pace = np.exp(np.mean([np.log(run["pace"]) for run in runs]))
    r_hats = ", ".join(f"{run['r_hat']:.3f}" for run in runs)
    divergences = sum(run["divergences"] for run in runs)
    return f"| {name} | {limit:g} | {span} | {chains} | {ess} | {pace:.2f} | {r_hats} | {divergences} |"


if __name__ == "__main__":
    main()
