"""Fit guides to the posteriors of posteriordb that have reference draws, and write a page about how good they are.

    python benchmarks/guides_posteriordb.py --database FOLDER [--posteriors 'nes*'] [--guides Flow] [--cpu-limit 300]
    python benchmarks/guides_posteriordb.py --database FOLDER --page docs/variational_posteriordb.md

`FOLDER` is a clone of github.com/stan-dev/posteriordb. Each fit, at the defaults of `infer.fit`, is a process of its
own and a line of `results/guides_posteriordb.jsonl`; fits that are there are not made again. Pathfinder is run beside
them.
"""

import argparse
import datetime
import fnmatch
import os
import sys
from importlib.metadata import version
from pathlib import Path

import accord
from environment import commit
from one_posterior import on_posterior
from results import Record, Results

sys.path.append(str(Path(__file__).resolve().parent / "pdb"))

from database import Database
from guides_page import write
from registry import Problem, problems

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "results" / "guides_posteriordb.jsonl"
GUIDES = ("MeanField", "Pathfinder", "FullRank", "LowRank", "Flow")


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--posteriors", default="*", help="patterns, with commas between")
    parser.add_argument("--guides", default=",".join(GUIDES))
    parser.add_argument("--cpu-limit", type=int, default=300, help="seconds of a fit")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    results = Results(options.output)
    if options.page:
        write(options.page, results.runs)
        return
    database = Database(options.database)
    patterns = options.posteriors.split(",")
    chosen = [
        problem
        for name, problem in problems(database).items()
        if problem.reference
        and database.has_reference(problem.reference)
        and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    done = {(run["guide"], run["posterior"]) for run in results.runs}
    for guide in options.guides.split(","):
        for problem in chosen:
            if (guide, problem.posterior) not in done:
                results.add(record_of(guide, problem, options))
                print(_line(results.runs[-1]), file=sys.stderr, flush=True)


def record_of(guide: str, problem: Problem, options: argparse.Namespace) -> Record:
    """Make a fit in a process of its own; `error` says what went wrong, if anything did."""
    head: Record = {
        "guide": guide,
        "posterior": problem.posterior,
        "date": datetime.date.today().isoformat(),
        "versions": {"accord": f"{accord.__version__} {commit()}".strip(), "jax": version("jax")},
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0],
        "cpu_limit": options.cpu_limit,
        "error": "",
    }
    return head | on_posterior(
        sys.executable,
        "with_guide.py",
        ["--guide", guide],
        database=options.database,
        posterior=problem.posterior,
        cpu_limit=options.cpu_limit,
    )


def _line(run: Record) -> str:
    head = f"{run['guide']:10} {run['posterior']}: "
    if run["error"]:
        return head + run["error"]
    return head + (
        f"k {run['pareto_k']}, mean off by {run['mean_error']:.2f}, sd by {run['sd_error']:.2f}, "
        f"{run['cpu_seconds']:.1f} s of CPU"
    )


if __name__ == "__main__":
    main()
