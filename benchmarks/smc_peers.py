"""Compare `infer.smc` with the samplers of other libraries that estimate evidence: seconds, and seconds to one error.

    python benchmarks/smc_peers.py [--engines accord BlackJAX PyMC particles dynesty] [--repeats 10] [--env FOLDER]

Three posteriors have a known evidence (`smc/problems.py`): a regression with 20 normal slopes, a logistic one with 10,
and eight schools. Each engine estimates it at its defaults, or as its own documentation does, from populations of 4000
particles in all; engines and posteriors are processes of their own, in turn. *Cold* is the first estimate of a process,
with tracing and compiling, *warm* the median of the others, in seconds of CPU. *Error* is the root mean square error of
the log evidence over the repetitions, and that of the means in standard deviations of the posterior. *To 0.1* are the
warm seconds times the square of the error over 0.1: what that error would take, as errors fall with the root of the
work.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from environment import default_folder, fresh_environment, python_of

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "smc"))

from problems import PROBLEMS  # noqa: E402

ENGINES = ("accord", "accord, nested", "BlackJAX", "PyMC", "particles", "dynesty")
NEEDS = {"particles": "particles>=0.4"}  # earlier ones use names that NumPy no longer has
AIM = 0.1


def main() -> None:
    """Print a row for each posterior and engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of a process")
    parser.add_argument("--env", type=Path, default=default_folder().with_name("smc"))
    options = parser.parse_args()
    pythons = {engine: interpreter(engine, options.env) for engine in options.engines}
    print("| posterior | engine | cold | warm | error of log evidence | of means | warm, to 0.1 |")
    print("|---|---|---|---|---|---|---|")
    for name in options.problems:
        reference = PROBLEMS[name]().reference()
        for engine in options.engines:
            runs = made(pythons[engine], engine, name, options.repeats, options.limit)
            print(f"| {name} | {engine} | {row(runs, *reference)} |", flush=True)


def interpreter(engine: str, folder: Path) -> str:
    """Return the Python of an engine; each peer has an environment of its own, as their needs contradict each other."""
    if engine.startswith("accord"):
        return sys.executable
    return str(python_of(folder / engine.lower(), [(NEEDS.get(engine, engine.lower()),)]))


def made(python: str, engine: str, name: str, repeats: int, limit: float) -> list[dict]:
    """Return what an engine printed, in the time that it had."""
    command = [python, str(HERE / "smc" / "engines.py"), engine, name, str(repeats)]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=fresh_environment(None)
        )
        printed = ran.stdout
        if ran.returncode:
            print(ran.stderr[-2000:], file=sys.stderr)
    except subprocess.TimeoutExpired as over:
        printed = over.stdout.decode() if over.stdout else ""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def row(runs: Sequence[dict], exact: float, means: np.ndarray | None, sds: np.ndarray | None) -> str:
    """Return the cells of an engine; "failed" where it printed too little."""
    if len(runs) < 3:
        return f"failed after {len(runs)} estimates | | | |"
    error = float(np.sqrt(np.mean([(run["log_evidence"] - exact) ** 2 for run in runs])))
    warm = float(np.median([run["cpu"] for run in runs[1:]]))
    off = ""
    if means is not None and sds is not None:
        off = f"{np.sqrt(np.mean([((np.array(run['means']) - means) / sds) ** 2 for run in runs])):.3f}"
    return f"{runs[0]['cpu']:.1f} | {warm:.2f} | {error:.3f} | {off} | {warm * (error / AIM) ** 2:.2f}"


if __name__ == "__main__":
    main()
