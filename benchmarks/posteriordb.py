"""Run the posteriors of posteriordb on accord and on NumPyro, each at its defaults, and write a page about it.

    python benchmarks/posteriordb.py --database FOLDER [--posteriors 'radon*,nes*'] [--seeds 3] [--limit 300]
    python benchmarks/posteriordb.py --database FOLDER --verify
    python benchmarks/posteriordb.py --database FOLDER --page docs/posteriordb.md

`FOLDER` is a clone of github.com/stan-dev/posteriordb. Every run is a process of its own, kept as a line of
`results/posteriordb.jsonl`; runs that are there are not made again. `README.md` says what is counted.
"""

import argparse
import datetime
import fnmatch
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path

import accord
from environment import commit, default_folder, python_of, versions
from results import Record, Results

sys.path.append(str(Path(__file__).resolve().parent / "pdb"))

from database import Database
from launch import CURED, ENGINES, Limits, launch
from left_out import LEFT_OUT
from registry import Problem, missing, problems
from standing import has_converged

OUTPUT = Path(__file__).resolve().parent / "results" / "posteriordb.jsonl"
NUMPYRO = (("numpyro", "diffrax"),)  # what its environment has

Run = tuple[str, Problem, int]  # engine, posterior, seed


def main() -> None:
    """Do what the command line asks for."""
    options = _options()
    database = Database(options.database)
    there = problems(database)
    chosen = [there[name] for name in there if _is_chosen(name, options.posteriors)]
    if not chosen:
        raise SystemExit(f"no posterior matches {','.join(options.posteriors)}; --list shows all.")
    if options.list:
        _list(chosen, database)
    elif options.verify:
        _verify(chosen, database, python_of(options.env, NUMPYRO))
    elif options.page:
        from posterior_page import write

        write(options.page, Results(options.output).runs, database)
    else:
        measure(options, chosen, database)


def measure(options: argparse.Namespace, chosen: Sequence[Problem], database: Database) -> None:
    """Make the runs that are not there yet, those of the first seed before any other."""
    results = Results(options.output)
    python = python_of(options.env, NUMPYRO)
    surroundings: Record = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "versions": {
            "accord": f"{accord.__version__} {commit()}".strip(),
            "jax": version("jax"),
            **versions(python, ("numpyro",)),
        },
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "limit": options.limit,
        "cpu_limit": options.cpu_limit,
    }
    limits = Limits(options.limit, options.cpu_limit, options.again_below)
    end = time.monotonic() + 3600 * options.until

    def make(run: Run) -> Record | None:
        engine, problem, seed = run
        if time.monotonic() > end or (options.once_failed and _has_failed(results.runs, run)):
            return None
        if engine == CURED and not _is_to_be_cured(results.runs, run):
            return None
        reference = database.reference(problem.reference) if problem.reference else {}
        head = {"engine": engine, "posterior": problem.posterior, "seed": seed, **surroundings}
        return head | launch(engine, problem, seed, python=python, limits=limits, reference=reference)

    def keep(record: Record | None) -> None:
        if record is not None:
            results.add(record)
            print(_line(record), file=sys.stderr, flush=True)

    done = {(run["engine"], run["posterior"], run["seed"]) for run in results.runs}
    left = [run for run in plan(options, chosen) if (run[0], run[1].posterior, run[2]) not in done]
    if options.jobs == 1:
        for run in left:
            keep(make(run))
        return
    with ThreadPoolExecutor(options.jobs) as pool:
        for future in as_completed([pool.submit(make, run) for run in left]):
            keep(future.result())


def plan(options: argparse.Namespace, chosen: Sequence[Problem]) -> Iterator[Run]:
    """Every run, in order: engines take turns, so that whatever else the machine does falls on all of them."""
    for seed in range(options.seeds):
        for problem in chosen:
            for engine in options.engines:
                yield engine, problem, seed


def _is_to_be_cured(runs: Sequence[Record], run: Run) -> bool:
    """Whether accord's own run of this seed ended without having converged."""
    _, problem, seed = run
    return any(
        not has_converged(other) and not other["error"]
        for other in runs
        if (other["engine"], other["posterior"], other["seed"]) == ("accord", problem.posterior, seed)
    )


def _has_failed(runs: Sequence[Record], run: Run) -> bool:
    engine, problem, _ = run
    return any(
        bool(other["error"])
        for other in runs
        if (other["engine"], other["posterior"]) == (engine, problem.posterior)
    )


def _is_chosen(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _list(chosen: Sequence[Problem], database: Database) -> None:
    for problem in chosen:
        print(f"{problem.posterior}  ({problem.module}.py)")
    for name, model in missing(database).items():
        print(f"{name}  left out: {LEFT_OUT.get(model, 'no model here yet')}")


def _verify(chosen: Sequence[Problem], database: Database, python: Path) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    from agree import OURS, agree
    from verify import verify

    others, failed = agree(chosen, database, python), []
    for problem in chosen:
        other = others[problem.posterior]
        if other.startswith(OURS):
            failed.append(problem.posterior)
            print(f"{problem.posterior:60s} {other}", flush=True)
            continue
        verdict = verify(problem, database)
        failed += [] if verdict.is_good and other.startswith("agrees") else [problem.posterior]
        worst = (
            f"worst {verdict.worst:5.2f} of {verdict.num_compared:4d}"
            if verdict.num_compared
            else "no reference"
        )
        print(
            f"{problem.posterior:60s} {verdict.dim:6d} unknowns, {worst:20s}, "
            f"finite at {verdict.num_finite} of {verdict.num_points}; NumPyro's {other}",
            flush=True,
        )
    if failed:
        raise SystemExit(f"{len(failed)} of {len(chosen)} are in doubt: {', '.join(failed)}.")


def _line(record: Record) -> str:
    start = f"{record['posterior']:50s} {record['engine']:10s} {record['seed']}"
    if "max_r_hat" not in record:
        return f"{start} {' '.join(record['error'].split())[:200]}"
    return (
        f"{start} {record['seconds']:7.2f} s, warm {record['warm_seconds']:7.2f} s, R-hat {record['max_r_hat']:.3f}, "
        f"ESS {record['min_ess_bulk']:6.0f} {record['min_ess_tail']:6.0f}, "
        f"{','.join(notice['code'] for notice in record.get('notices', ()))} {record['error']}"
    )


def _options() -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(
        description="Run the posteriors of posteriordb on accord and on NumPyro."
    )
    parser.add_argument(
        "--database", type=Path, required=True, help="a clone of github.com/stan-dev/posteriordb"
    )
    parser.add_argument("--engines", type=names, default="accord,numpyro", help=f"of {', '.join(ENGINES)}")
    parser.add_argument(
        "--posteriors", type=names, default="*", help="names or patterns, separated by commas"
    )
    parser.add_argument("--seeds", type=int, default=3, help="how many; they count from 0")
    parser.add_argument("--limit", type=float, default=300.0, help="of a run; seconds")
    parser.add_argument("--cpu-limit", type=float, help="of a run as well; seconds of CPU")
    parser.add_argument(
        "--again-below",
        type=float,
        default=30.0,
        help="make runs of fewer seconds of CPU twice, to time a warm one",
    )
    parser.add_argument("--once-failed", action="store_true", help="no further seeds after a run that failed")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--until", type=float, default=float("inf"), help="begin no run after so many hours")
    parser.add_argument("--env", type=Path, default=default_folder().with_name("numpyro"), help="of NumPyro")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--list", action="store_true", help="run nothing: name what there is")
    parser.add_argument("--verify", action="store_true", help="run nothing: check the models' densities")
    parser.add_argument("--page", type=Path, help="run nothing: write a page about the runs of the output")
    options = parser.parse_args()
    unknown = [engine for engine in options.engines if engine not in ENGINES]
    if unknown:
        parser.error(f"unknown {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    return options


if __name__ == "__main__":
    main()
