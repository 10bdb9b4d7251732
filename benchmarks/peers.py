"""Measure accord beside other libraries: seconds from a cold start to effective draws.

    python benchmarks/peers.py [--models a,b] [--peers numpyro,blackjax] [--env FOLDER] [--repeats 3]

Every run is a process of its own that finds nothing compiled. Accord and the peers take turns, so that whatever else
the machine does falls on all of them. `README.md` says what is counted.
"""

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import accord
from environment import default_folder, fresh_environment, python_of, versions
from problems import MODELS, data_of
from tables import disagreement, judge, report

HERE = Path(__file__).resolve().parent
MAX_DISAGREEMENT = 6.0  # standard errors; chance alone stays below 5 among a thousand scalars


@dataclass(frozen=True)
class Engine:
    """One way to sample: a script of `peers/`, a variant of it, and the packages that it needs."""

    script: str
    variant: str
    packages: tuple[str, ...]


ENGINES = {
    "accord": Engine("run_accord", "", ()),
    "numpyro": Engine("run_numpyro", "", ("numpyro",)),
    "numpyro_sequential": Engine("run_numpyro", "sequential", ("numpyro",)),
    "blackjax": Engine("run_blackjax", "", ("blackjax", "numpyro")),
    "nutpie": Engine("run_nutpie", "", ("nutpie", "numpyro")),
    "nutpie_low_rank": Engine("run_nutpie", "low_rank", ("nutpie", "numpyro")),
    "nutpie_pymc": Engine("run_nutpie", "pymc", ("nutpie", "pymc")),
    "pymc": Engine("run_pymc", "", ("pymc",)),
    "pystan": Engine("run_pystan", "", ("pystan",)),
}


def main() -> None:
    """Measure what the command line asks for; write the results after every run, and print the tables."""
    options = _options()
    python = python_of(options.env)
    found = versions(
        python, sorted({name for engine in ENGINES.values() for name in ("jax", *engine.packages)})
    )
    engines = ["accord"]
    for name in options.peers:
        missing = [package for package in ENGINES[name].packages if package not in found]
        if missing:
            print(f"{name}: left out, since {', '.join(missing)} is not installed.", file=sys.stderr)
        else:
            engines.append(name)
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {_num_cores()} cores, Python {platform.python_version()}",
        "versions": {"accord": accord.__version__, "jax": version("jax"), "peers": found},
        "runs": [],
    }
    path = options.output.with_suffix(".json")
    if options.append and path.exists():
        results["runs"] = json.loads(path.read_text())["runs"]
    for model in options.models:
        tired: set[str] = set()
        for repeat in range(options.repeats):
            for name in engines:
                if name in tired:
                    continue
                interpreter = Path(sys.executable) if name == "accord" else python
                record = _run(interpreter, name, model, repeat, options.timeout)
                results["runs"].append(record)
                _check(record, results["runs"])
                print(_line(record), file=sys.stderr, flush=True)
                if record["error"] or record["seconds"] > options.once_above:
                    tired.add(name)
                path.write_text(json.dumps(results, indent=1))
    text = report(results["runs"])
    options.output.with_suffix(".md").write_text(text + "\n")
    print(text)


def _options() -> argparse.Namespace:
    def names(known: Sequence[str]) -> Any:
        def parse(text: str) -> list[str]:
            chosen = text.split(",")
            unknown = [name for name in chosen if name not in known]
            if unknown:
                raise argparse.ArgumentTypeError(
                    f"unknown {', '.join(unknown)}; there are {', '.join(known)}"
                )
            return chosen

        return parse

    peers = [name for name in ENGINES if name != "accord"]
    parser = argparse.ArgumentParser(description="Measure accord beside other libraries, from a cold start.")
    parser.add_argument("--models", type=names(MODELS), default=list(MODELS), help="separated by commas")
    parser.add_argument("--peers", type=names(peers), default=peers, help="separated by commas")
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' virtual environment")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each cell, with different seeds")
    parser.add_argument(
        "--once-above", type=float, default=60.0, help="do not repeat runs longer than this; seconds"
    )
    parser.add_argument("--timeout", type=float, default=900.0, help="give a run up after this; seconds")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "peers", help="without suffix")
    parser.add_argument("--append", action="store_true", help="add to the runs that the output holds")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    return options


def _run(python: Path, engine: str, model: str, repeat: int, timeout: float) -> dict[str, Any]:
    """One run in a new process, judged; `error` says what went wrong, if anything did."""
    record: dict[str, Any] = {
        "engine": engine,
        "model": model,
        "repeat": repeat,
        "load": os.getloadavg()[0],
        "error": "",
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        output = Path(folder) / "out"
        command = [str(python), str(HERE / "peers" / f"{ENGINES[engine].script}.py"), model, str(output)]
        command += [
            "--data",
            str(data_of(model)),
            "--variant",
            ENGINES[engine].variant,
            "--seed",
            str(repeat),
        ]
        command += ["--count"] if repeat == 0 else []
        # Counting takes a second run of warm-up, hence twice the time.
        limit = 2 * timeout if repeat == 0 else timeout
        try:
            code, errors = _run_to_end(command, Path(folder), limit)
        except subprocess.TimeoutExpired:
            return record | {"error": f"over {limit:.0f} s"}
        if code:
            print(errors[-2000:], file=sys.stderr)
            return record | {"error": (errors.strip().splitlines() or ["no message"])[-1][:120]}
        record |= json.loads(output.with_suffix(".json").read_text())
        with np.load(output.with_suffix(".npz")) as draws:
            return record | judge(dict(draws))


def _run_to_end(command: Sequence[str], folder: Path, limit: float) -> tuple[int, str]:
    """Exit code and error output of a command; in a session of its own, since some peers have workers to kill too."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=fresh_environment(folder),
        cwd=folder,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=limit)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, errors


def _check(record: dict[str, Any], runs: Sequence[dict[str, Any]]) -> None:
    """Compare with accord's last run: all engines must have sampled the same posterior."""
    accord = next(
        (run for run in reversed(runs) if run["engine"] == "accord" and run["model"] == record["model"]),
        record,
    )
    if record["error"] or accord["error"]:
        return
    shapes = {name: shape[2:] for name, shape in record["shapes"].items()}
    if shapes != {name: shape[2:] for name, shape in accord["shapes"].items()}:
        record["error"] = f"other sites than accord's: {shapes}"
        return
    record["disagreement"] = 0.0 if record is accord else disagreement(record, accord)
    if record["disagreement"] > MAX_DISAGREEMENT and max(record["max_r_hat"], accord["max_r_hat"]) < 1.01:
        record["error"] = f"means differ from accord's by {record['disagreement']:.0f} standard errors"


def _line(record: dict[str, Any]) -> str:
    start = f"{record['model']:22s} {record['engine']:18s} {record['repeat']}"
    if record["error"]:
        return f"{start} {record['error']}"
    return (
        f"{start} {record['seconds']:7.2f} s, CPU {record['cpu_seconds']:7.2f} s, ESS {record['min_ess']:6.0f}, "
        f"R-hat {record['max_r_hat']:.3f}, load {record['load']:.1f}"
    )


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()
