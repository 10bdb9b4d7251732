"""Fit one guide to one posterior in this process, and write how far its moments are from those of reference draws.

    python benchmarks/pdb/with_guide.py --database FOLDER --posterior NAME --guide Flow --cpu-limit 300

It prints one line of JSON. Moments are those of 10,000 draws from a guide, and of the 1,000 that Pathfinder has chosen;
errors are in standard deviations of the posterior, the largest over all scalars that the reference has.
"""

import argparse
import time
from typing import Any

import numpy as np

from accord import infer
from against_reference import compared, end_with, finite, parser_of_posterior, within_limit

GUIDES = {
    "Pathfinder": None,
    "MeanField": infer.guides.MeanField,
    "LowRank": infer.guides.LowRank,
    "FullRank": infer.guides.FullRank,
    "Flow": infer.guides.Flow,
}
DRAWS = 10_000  # of a guide
QUIET: dict[str, Any] = dict(quiet=True, progress=False)


def main() -> None:
    """Fit, compare and print."""
    parser = parser_of_posterior()
    parser.add_argument("--guide", choices=GUIDES, required=True)
    options = parser.parse_args()
    model, known = within_limit(options)
    began, cpu_began = time.perf_counter(), time.process_time()
    found, draws = _path(model, options.seed) if options.guide == "Pathfinder" else _fit(model, options)
    times = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu_began}
    end_with(found | times | compared(draws(), known()))


def _fit(model: Any, options: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    fit = infer.fit(model, GUIDES[options.guide](), seed=options.seed, **QUIET)
    found = {
        "bound": fit.log_evidence_bound,
        "bound_error": fit.log_evidence_bound_error,
        "pareto_k": fit.pareto_k,
        "effective": fit.effective_draws,
        "converged": fit.converged,
        "steps": len(fit.losses[fit.best]) if fit.best in fit.losses else 0,
        "dim": fit.density.dim if fit.density else 0,
        "notices": [notice.code for notice in fit.notices],
    }
    return finite(found), lambda: fit.draw(DRAWS, seed=1)


def _path(model: Any, seed: int) -> tuple[dict[str, Any], Any]:
    paths = infer.pathfinder(model, seed=seed, **QUIET)
    found = {
        "bound": max(paths.bounds.values(), default=np.nan),
        "pareto_k": paths.pareto_k,
        "effective": paths.effective_draws,
        "converged": paths.complete,
        "notices": [notice.code for notice in paths.notices],
    }
    return finite(found), lambda: paths


if __name__ == "__main__":
    main()
