"""Run Pathfinder of accord and of others on posteriors of posteriordb, and write tables of how good their draws are.

    python benchmarks/pathfinder_peers.py --database FOLDER [--library accord] [--env FOLDER] [--posteriors 'nes*']
    python benchmarks/pathfinder_peers.py --database FOLDER --page docs/variational.md

`FOLDER` of the database is a clone of github.com/stan-dev/posteriordb. All run in one environment, which is made in
that of `--env` with this checkout, BlackJAX, PyMC and httpstan, on the posteriors that have reference draws, those with
few unknowns first. Each run is a process of its own, without anything compiled but by g++, and a line of
`results/pathfinder_peers.jsonl`; runs that are there are not made again. `--page` replaces the section of that name.
"""

import argparse
import datetime
import fnmatch
import json
import os
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from environment import PROJECT, commit, default_folder, python_of, versions
from one_posterior import on_posterior
from results import Record, Results
from tables import table

sys.path.append(str(Path(__file__).resolve().parent / "pdb"))

from database import Database
from registry import problems

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "results" / "pathfinder_peers.jsonl"
LIBRARIES = ("accord", "Stan", "PyMC", "BlackJAX", "BlackJAX, long")
MEASURES = {
    "pareto_k": "Pareto k of the weights, by one estimator",
    "mean_error": "Largest error of a mean, in standard deviations of the posterior",
    "sd_error": "Largest error of a standard deviation, in the same",
    "cpu_seconds": "Seconds of CPU, with tracing and compiling by XLA, on a machine that was busy with other work",
}
SPREAD_OF_K = 0.1  # from seed to seed, as five seeds of garch11 and of eight_schools_noncentered show
LIMIT_OF_K = 0.7  # above, draws are good only to begin at
CHANCE = 0.1  # the largest error of some means of 1,000 independent draws, in standard deviations
TITLE = "### Pathfinder beside other libraries"


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--env", type=Path, default=default_folder().with_name("pathfinder"))
    parser.add_argument("--posteriors", default="*", help="patterns, with commas between")
    parser.add_argument("--library", choices=LIBRARIES, action="append", help="all, unless given")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--cpu-limit", type=int, default=300, help="seconds of a run")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    results = Results(options.output)
    if options.page:
        write(options.page, results.runs)
        return
    packages = [("-e", f"{PROJECT}[stan]", "blackjax"), ("pymc", "pymc-extras")]
    python = python_of(options.env, packages)
    peers = versions(python, ["blackjax", "httpstan", "jax", "pymc", "pymc_extras"])
    done = {(run["library"], run["posterior"], run["seed"]) for run in results.runs}
    for seed in map(int, options.seeds.split(",")):
        for posterior in chosen(options.database, options.posteriors.split(",")):
            for library in options.library or LIBRARIES:
                if (library, posterior, seed) not in done:
                    results.add(record_of(library, posterior, seed, python, peers, options))
                    print(json.dumps(results.runs[-1]), file=sys.stderr, flush=True)


def chosen(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Return posteriors that have reference draws, by the number of unknowns."""
    database = Database(folder)
    about = database.posteriors()
    names = [
        name
        for name, problem in problems(database).items()
        if problem.reference
        and database.has_reference(problem.reference)
        and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    return sorted(names, key=lambda name: sum(about[name]["dimensions"].values()))


def record_of(
    library: str,
    posterior: str,
    seed: int,
    python: Path,
    peers: dict[str, str],
    options: argparse.Namespace,
) -> Record:
    """Make a run in a process of its own; `error` says what went wrong, if anything did."""
    head: Record = {
        "library": library,
        "posterior": posterior,
        "seed": seed,
        "date": datetime.date.today().isoformat(),
        "versions": peers | {"accord": f"{version('accord')} {commit()}".strip()},
        "load": os.getloadavg()[0],
        "error": "",
    }
    return head | on_posterior(
        python,
        "with_pathfinder.py",
        ["--library", library, "--seed", str(seed), "--kept", str(options.env.resolve() / "kept")],
        database=options.database,
        posterior=posterior,
        cpu_limit=options.cpu_limit,
    )


def write(page: Path, runs: Sequence[Record]) -> None:
    """Replace the section of the page, up to the next heading of the level above."""
    text = page.read_text(encoding="utf-8")
    start = text.index(TITLE)
    end = re.compile(r"^## ", re.MULTILINE).search(text, start)
    rest = text[end.start() :] if end else ""
    page.write_text(f"{text[:start]}{_section(runs)}\n{rest}", encoding="utf-8")


def _section(runs: Sequence[Record]) -> str:
    posteriors = sorted({run["posterior"] for run in runs})
    tables = "\n\n".join(
        f"{title}:\n\n{_table(runs, posteriors, field)}" for field, title in MEASURES.items()
    )
    release = {
        name: max((run["versions"].get(name, "") for run in runs), default="")
        for name in ("blackjax", "httpstan", "pymc", "pymc_extras")
    }
    own = sorted({run["posterior"] for run in runs if run.get("own_starts")})
    starts = f", except on {', '.join(own)}, where parameters have other names" if own else ""
    return f"""{TITLE}

`python benchmarks/pathfinder_peers.py --database FOLDER` runs them on posteriors of
[posteriordb](https://github.com/stan-dev/posteriordb) that have reference draws, and writes this section by `--page`.
Each has eight paths at its defaults and gives 1,000 draws, resampled by its own weights:

- **accord**: of 8,000 draws, weighted over the mixture of the normals of all paths.
- **Stan**, as it is in httpstan {release["httpstan"]}, on the Stan program of the database: of 8,000, each weighted by
  the normal of its own path. Paths begin where accord's do{starts}.
- **PyMC** {release["pymc"]} with pymc-extras {release["pymc_extras"]}, on accord's log density: of 8,000, weighted
  as in Stan, without replacement. Paths begin at points of its own, uniform within two of zero as all others. Its
  climbs end where a step raises the log density by less than 1e-5 of it.
- **BlackJAX** {release["blackjax"]}, on accord's log density and from accord's starts: of 1,600, weighted as in Stan.
  Its climbs end as in PyMC, or after 30 steps.
- **BlackJAX, long**, the same with up to 200 steps (`maxiter=200, ftol=1e-12`).

Beside the name is the number of scalars that are compared. {_medians(len({run["seed"] for run in runs}))}

{_summary(runs, posteriors)}

{tables}
{_compiling(runs)}"""


def _summary(runs: Sequence[Record], posteriors: Sequence[str]) -> str:
    """Say on how many posteriors each library is good, and where accord's k is not the lowest."""

    def value(library: str, posterior: str, field: str) -> float:
        return _median(runs, library, posterior, field)

    rows = [
        [
            library,
            str(sum(value(library, each, "pareto_k") < LIMIT_OF_K for each in posteriors)),
            *(
                str(sum(value(library, each, field) < CHANCE for each in posteriors))
                for field in ("mean_error", "sd_error")
            ),
        ]
        for library in LIBRARIES
    ]
    head = ["", f"k below {LIMIT_OF_K}", f"means off by less than {CHANCE}", f"sds off by less than {CHANCE}"]
    lowest = {each: min(value(library, each, "pareto_k") for library in LIBRARIES) for each in posteriors}
    behind = [each for each in posteriors if value("accord", each, "pareto_k") > lowest[each] + SPREAD_OF_K]
    return (
        f"On how many of {len(posteriors)} posteriors draws are good (1,000 that are independent are off by up to "
        f"{CHANCE} by chance):\n\n{table(head, rows)}\n\nFrom seed to seed, k moves by about {SPREAD_OF_K}. The k of "
        f"another library is lower than accord's by more on {', '.join(behind) or 'none'}."
    )


def _table(runs: Sequence[Record], posteriors: Sequence[str], field: str) -> str:
    rows = [
        [
            f"{posterior} ({_num_scalars(runs, posterior)})",
            *(_cell(runs, library, posterior, field) for library in LIBRARIES),
        ]
        for posterior in posteriors
    ]
    return table(["posterior", *LIBRARIES], rows)


def _compiling(runs: Sequence[Record]) -> str:
    """Say what g++ takes, if that is known."""
    stan, pymc = (
        [run["compile_seconds"] for run in runs if run["library"] == library and "compile_seconds" in run]
        for library in ("Stan", "PyMC")
    )
    if not stan or not pymc:
        return ""
    return (
        f"\nNot in these seconds is g++: a Stan program is compiled once, in {np.median(stan):.0f} s (the median, "
        f"with Stan's headers compiled\nbefore), and PyTensor's operations once for all models, in {max(pymc):.0f} s. "
        "Stan is by far the fastest after that.\nAccord's seconds are for the most part tracing and compiling: another "
        "seed in one process takes about one.\n"
    )


def _num_scalars(runs: Sequence[Record], posterior: str) -> int:
    return max((run.get("scalars", 0) for run in runs if run["posterior"] == posterior), default=0)


def _medians(seeds: int) -> str:
    return "One seed each." if seeds == 1 else f"Medians of {seeds} seeds."


def _cell(runs: Sequence[Record], library: str, posterior: str, field: str) -> str:
    mine = _runs_of(runs, library, posterior)
    num_failed = sum(bool(run["error"]) for run in mine)
    if num_failed == len(mine):
        return "failed" if mine else "not run"
    found = _median(runs, library, posterior, field)
    text = f"{found:.1f}" if field == "cpu_seconds" and found >= 1 else f"{found:.2f}"
    return f"{text} ({num_failed} of {len(mine)} failed)" if num_failed else text


def _median(runs: Sequence[Record], library: str, posterior: str, field: str) -> float:
    """Infinite where no run has ended."""
    made = [run[field] for run in _runs_of(runs, library, posterior) if not run["error"]]
    return float(np.median([np.inf if each is None else each for each in made])) if made else np.inf


def _runs_of(runs: Sequence[Record], library: str, posterior: str) -> list[Record]:
    return [run for run in runs if (run["library"], run["posterior"]) == (library, posterior)]


if __name__ == "__main__":
    main()
