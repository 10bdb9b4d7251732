"""Run Pathfinder of accord and of BlackJAX on posteriors of posteriordb, and write a table of how good their draws are.

    python benchmarks/pathfinder_peers.py --database FOLDER [--library accord] [--env FOLDER] [--posteriors arK-arK]
    python benchmarks/pathfinder_peers.py --database FOLDER --page docs/variational.md

`FOLDER` of the database is a clone of github.com/stan-dev/posteriordb. Both run in one environment, which is made in
that of `--env` with this checkout and BlackJAX. Each run is a process of its own, without anything compiled, and a line
of `results/pathfinder_peers.jsonl`; runs that are there are not made again. `--page` replaces the section of that name.
"""

import argparse
import datetime
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

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "results" / "pathfinder_peers.jsonl"
LIBRARIES = ("accord", "BlackJAX", "BlackJAX, long")
POSTERIORS = (
    "arK-arK",
    "arma-arma11",
    "earnings-logearn_interaction",
    "eight_schools-eight_schools_noncentered",
    "garch-garch11",
    "gp_pois_regr-gp_regr",
    "hmm_example-hmm_example",
    "kidiq-kidscore_interaction",
    "kilpisjarvi_mod-kilpisjarvi",
    "low_dim_gauss_mix-low_dim_gauss_mix",
    "mesquite-logmesquite",
    "nes2000-nes",
)
TITLE = "### Pathfinder beside BlackJAX"


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--env", type=Path, default=default_folder().with_name("pathfinder"))
    parser.add_argument("--posteriors", default=",".join(POSTERIORS), help="with commas between")
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
    python = python_of(options.env, [("-e", str(PROJECT), "blackjax")])
    peers = versions(python, ["blackjax", "jax"])
    done = {(run["library"], run["posterior"], run["seed"]) for run in results.runs}
    for seed in map(int, options.seeds.split(",")):
        for posterior in options.posteriors.split(","):
            for library in options.library or LIBRARIES:
                if (library, posterior, seed) not in done:
                    results.add(record_of(library, posterior, seed, python, peers, options))
                    print(json.dumps(results.runs[-1]), file=sys.stderr, flush=True)


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
        ["--library", library, "--seed", str(seed)],
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
    rows = [
        [
            f"{posterior} ({_num_scalars(runs, posterior)})",
            *(
                " / ".join(_cell(runs, library, posterior, field) for library in LIBRARIES)
                for field in ("pareto_k", "mean_error", "sd_error", "cpu_seconds")
            ),
        ]
        for posterior in sorted({run["posterior"] for run in runs})
    ]
    seeds = len({run["seed"] for run in runs})
    peer = max((run["versions"].get("blackjax", "") for run in runs), default="")
    return f"""{TITLE}

`python benchmarks/pathfinder_peers.py --database FOLDER` runs both on posteriors of
[posteriordb](https://github.com/stan-dev/posteriordb) that have reference draws, and writes this section by `--page`.
BlackJAX {peer} has multi-path Pathfinder on accord's log density, from the same eight starting points. Each gives
1,000 draws, resampled by its own weights, of 8,000 in accord and of 1,600 in BlackJAX, as their defaults are. A cell
has accord, BlackJAX at its defaults, whose climbs end after 30 steps or where one raises the log density by less than
1e-5 of it, and BlackJAX with up to 200 steps (`maxiter=200, ftol=1e-12`). "k" is Pareto k of the weights, by one
estimator; "mean off" and "sd off" are the largest errors over all scalars, whose number is beside the name, in
standard deviations of the posterior. Seconds are of CPU, with tracing and compiling, on a machine that was busy with
other work. {_medians(seeds)}

{table(["posterior", "k", "mean off", "sd off", "seconds"], rows)}
"""


def _num_scalars(runs: Sequence[Record], posterior: str) -> int:
    return max((run.get("scalars", 0) for run in runs if run["posterior"] == posterior), default=0)


def _medians(seeds: int) -> str:
    return "One seed each:" if seeds == 1 else f"Medians of {seeds} seeds:"


def _cell(runs: Sequence[Record], library: str, posterior: str, field: str) -> str:
    mine = [run for run in runs if (run["library"], run["posterior"]) == (library, posterior)]
    made = [np.inf if run[field] is None else run[field] for run in mine if not run["error"]]
    if not made:
        return "failed" if mine else "not run"
    found = float(np.median(made))
    text = f"{found:.1f}" if field == "cpu_seconds" else f"{found:.2f}"
    return text if len(made) == len(mine) else f"{text} ({len(mine) - len(made)} of {len(mine)} failed)"


if __name__ == "__main__":
    main()
