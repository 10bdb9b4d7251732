"""Take one posterior in this process, within a limit of CPU time, and compare draws with those of its reference."""

import argparse
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from database import Database, read_data
from reference_draws import unknowns
from registry import bind, problems


def parser_of_posterior() -> argparse.ArgumentParser:
    """Return a command line that names a posterior, a seed and a limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--posterior", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu-limit", type=int, required=True, help="seconds")
    return parser


def within_limit(options: argparse.Namespace) -> tuple[Any, Callable[[], dict[str, np.ndarray]]]:
    """Limit the CPU time of this process from now on; return the model, and a function for its reference draws."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = options.cpu_limit + round(used.ru_utime + used.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20))
    database = Database(options.database)
    problem = problems(database)[options.posterior]

    def known() -> dict[str, np.ndarray]:
        data = {} if problem.data is None else read_data(problem.data)
        reference = {
            name: value.reshape(-1, *value.shape[2:])
            for name, value in database.reference(problem.reference or "").items()
        }
        return unknowns(problem.model, reference, data)

    return bind(problem.module, problem.model, problem.data), known


def end_with(record: Mapping[str, Any]) -> NoReturn:
    """Print a line of JSON, and end without waiting for anything."""
    print(json.dumps(record))
    sys.stdout.flush()
    os._exit(0)


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
