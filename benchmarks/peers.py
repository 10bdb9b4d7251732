"""Measure accord beside other libraries: seconds from the call to effective draws, from a cold and from a warm start.

    python benchmarks/peers.py [--models a,b] [--peers numpyro,pystan] [--repeats 3] [--limit 300] [--resume]
    python benchmarks/peers.py --page docs/performance.md

Every run is a process of its own, kept as a line of `results/peers.jsonl`. Accord and the peers take turns, so that
whatever else the machine does falls on all of them. `README.md` says what is counted.
"""

import argparse
import compileall
import datetime
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import accord
from engines import ENGINES, OURS, PEERS
from environment import commit, default_folder, python_of, versions
from problems import LARGE_MODELS, MODELS
from results import ONCE_ABOVE, Record, Results, is_tired
from runs import Place, cold, compare, warm
from tables import report

HERE = Path(__file__).resolve().parent
SETS = {"small": MODELS, "large": LARGE_MODELS, "all": (*MODELS, *LARGE_MODELS), "none": ()}


def main() -> None:
    """Measure what the command line asks for and print the tables, or write the page of what has been measured."""
    options = _options()
    results = Results(options.output)
    if options.page:
        from page import write

        write(options.page, results.runs, options.output.parent)
        return
    if results.runs and not options.resume:
        raise SystemExit(f"{options.output} holds {len(results.runs)} runs: give --resume to add to them.")
    found = versions(python_of(options.env), sorted({name for e in ENGINES.values() for name in e.packages}))
    surroundings = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "versions": {"accord": f"{accord.__version__} {commit()}".strip(), "jax": version("jax"), **found},
        "cores": _num_cores(),
        "limit": options.limit,
        "draws": options.draws,
    }
    measure(options, results, surroundings, _installed(options.peers, found))
    print(report([run for run in results.runs if run["draws"] == options.draws]))


def measure(
    options: argparse.Namespace, results: Results, surroundings: Record, engines: Sequence[str]
) -> None:
    """Make the runs that are not there yet, those of the first repeat before any other."""
    compileall.compile_dir(Path(accord.__file__).parent, quiet=1)  # as pip does for what it installs
    place = Place(python_of(options.env), options.limit, options.draws)
    end = time.monotonic() + 3600 * options.until
    for cache, engine, model, repeat in plan(options.models, engines, options.repeats, options.caches):
        head = {"engine": engine, "model": model, "repeat": repeat, "cache": cache, **surroundings}
        head["settings"] = ENGINES[engine].settings
        if results.has((engine, model, repeat, cache, options.draws)):
            continue
        if is_tired(results.runs, engine, model, cache, options.once_above):
            continue
        if time.monotonic() > end:
            print(f"{options.until:.2f} hours are over: the rest is left for --resume.", file=sys.stderr)
            return
        if cache == "cold":
            records = [cold(place, engine, model, repeat)]
        else:
            records = warm(place, engine, model, ENGINES[engine].times)
        for number, record in enumerate(records):
            full = head | {"repeat": repeat + number} | record
            if not engine.endswith("first_draw"):
                compare(full, results.runs)
            results.add(full)
            print(_line(full), file=sys.stderr, flush=True)


def plan(
    models: Sequence[str], engines: Sequence[str], repeats: int, caches: Sequence[str]
) -> Iterator[tuple[str, str, str, int]]:
    """Cache, engine, model and repeat of every run, in order: one cold pass, the warm one, then the other cold ones."""
    for repeat in range(repeats):
        for cache in ("cold", "warm"):
            if cache not in caches or (cache == "warm" and repeat > 0):
                continue
            for model in models:
                for engine in engines:
                    chosen = ENGINES[engine]
                    if model not in chosen.without and cache in chosen.caches:
                        yield cache, engine, model, repeat


def _installed(peers: Sequence[str], found: dict[str, str]) -> list[str]:
    engines = list(OURS)
    for name in peers:
        missing = [package for package in ENGINES[name].packages if package not in found]
        if missing:
            print(f"{name}: left out, since {', '.join(missing)} is not installed.", file=sys.stderr)
        else:
            engines.append(name)
    return engines


def _options() -> argparse.Namespace:
    def names(known: Sequence[str], sets: dict[str, Sequence[str]]) -> Any:
        def parse(text: str) -> list[str]:
            chosen = [name for part in text.split(",") for name in sets.get(part, [part])]
            unknown = [name for name in chosen if name not in known]
            if unknown:
                raise argparse.ArgumentTypeError(
                    f"unknown {', '.join(unknown)}; there are {', '.join([*sets, *known])}"
                )
            return chosen

        return parse

    all_models = names(SETS["all"], SETS)
    parser = argparse.ArgumentParser(description="Measure accord beside other libraries.")
    parser.add_argument("--models", type=all_models, default="small", help="separated by commas")
    parser.add_argument(
        "--peers", type=names(PEERS, {"all": PEERS, "none": ()}), default="all", help="separated by commas"
    )
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    parser.add_argument("--repeats", type=int, default=3, help="cold runs of each cell, with different seeds")
    parser.add_argument(
        "--caches",
        type=names(("cold", "warm"), {"both": ("cold", "warm")}),
        default="both",
        help="runs that find nothing compiled, or what an earlier process has compiled",
    )
    parser.add_argument(
        "--once-above", type=float, default=ONCE_ABOVE, help="do not repeat runs longer than this; seconds"
    )
    parser.add_argument("--limit", type=float, default=300.0, help="give a run up after this; seconds")
    parser.add_argument("--until", type=float, default=float("inf"), help="begin no run after so many hours")
    parser.add_argument("--draws", type=int, help="of warm-up and sampling, to see whether everything works")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "peers.jsonl")
    parser.add_argument("--resume", action="store_true", help="add to the runs of the output what is missing")
    parser.add_argument("--page", type=Path, help="run nothing: write a page about the runs of the output")
    return parser.parse_args()


def _line(record: Record) -> str:
    start = f"{record['model']:22s} {record['engine']:20s} {record['cache']} {record['repeat']}"
    if "seconds" not in record:
        return f"{start} {record['error']}"
    return (
        f"{start} {record['seconds']:7.2f} s, CPU {record['cpu_seconds']:7.2f} s, "
        f"ESS {record.get('min_ess', 0):6.0f}, R-hat {record.get('max_r_hat', 0):.3f}, "
        f"load {record['load']:.1f} {record['error']}"
    )


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()
