"""Fit one guide to one posterior in this process, and write how far its moments are from those of reference draws.

    python benchmarks/pdb/with_guide.py --database FOLDER --posterior NAME --guide Flow --cpu-limit 300

It prints one line of JSON. Moments are those of 10,000 draws from a guide, and of the 1,000 that Pathfinder has chosen;
errors are in standard deviations of the posterior, the largest over all scalars that the reference has.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from accord import infer
from database import Database, read_data
from reference_draws import unknowns
from registry import bind, problems

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
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--posterior", required=True)
    parser.add_argument("--guide", choices=GUIDES, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu-limit", type=int, required=True)
    options = parser.parse_args()
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = options.cpu_limit + round(used.ru_utime + used.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20))
    database = Database(options.database)
    problem = problems(database)[options.posterior]
    model = bind(problem.module, problem.model, problem.data)
    began, cpu_began = time.perf_counter(), time.process_time()
    found, draws = _path(model, options.seed) if options.guide == "Pathfinder" else _fit(model, options)
    times = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu_began}
    data = {} if problem.data is None else read_data(problem.data)
    reference = {
        name: value.reshape(-1, *value.shape[2:])
        for name, value in database.reference(problem.reference or "").items()
    }
    known = unknowns(problem.model, reference, data)
    print(json.dumps(found | times | compared(draws(), known)))
    sys.stdout.flush()
    os._exit(0)


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


def finite(found: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON can hold: what is infinite or not a number is None, and so is no number."""
    numbers = {name: float(each) for name, each in found.items() if isinstance(each, float | np.floating)}
    return found | {name: each if np.isfinite(each) else None for name, each in numbers.items()}


def compared(draws: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the largest errors of means and standard deviations, and where they are."""
    found: dict[str, Any] = {"scalars": 0, "mean_error": 0.0, "sd_error": 0.0, "mean_at": "", "sd_at": ""}
    for name, theirs in reference.items():
        if name not in draws or np.shape(draws[name])[2:] != theirs.shape[1:]:
            continue
        ours = np.asarray(draws[name], float).reshape(-1, *theirs.shape[1:])
        spread = theirs.std(axis=0)
        is_free = spread > 0  # entries that a support fixes are no unknowns
        unit = np.where(is_free, spread, 1)
        for what, gap in (
            ("mean", ours.mean(axis=0) - theirs.mean(axis=0)),
            ("sd", ours.std(axis=0) - spread),
        ):
            errors = np.where(is_free, np.abs(gap) / unit, 0)
            worst = np.unravel_index(np.argmax(errors), errors.shape)
            if errors[worst] >= found[f"{what}_error"]:
                place = f"[{','.join(map(str, worst))}]" if worst else ""
                found |= {f"{what}_error": float(errors[worst]), f"{what}_at": f"{name}{place}"}
        found["scalars"] += int(is_free.sum())
    return found


if __name__ == "__main__":
    main()
