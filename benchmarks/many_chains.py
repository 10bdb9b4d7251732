"""Measure many chains in one program: accord's ChEES and NUTS, NumPyro's and BlackJAX's NUTS, on a GPU or the CPU.

    python benchmarks/many_chains.py [--models a,b] [--chains 64,4096] [--precisions float32,float64]
        [--libraries nuts,chees,numpyro,blackjax] [--peer-python PYTHON] [--resume]

Uses JAX's default device. Every run is a process of its own, kept as a line of `results/many_chains.jsonl`; the table
is printed and written beside it. Peers are run by the same Python if it has them, else by the peers' environment (see
`README.md`). Seconds are from the call to draws in NumPy arrays, less those in which JAX traces or compiles. Effective
draws are the smallest of bulk and tail over up to 40 numbers of each site, by the spread of chains' means of 64
or more chains. Peers warm up for as many draws as `infer.NUTS`. Runs whose draws would not fit are left out,
and the table says so.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import simulated
from accord.report import ess_bulk, ess_tail, nested_r_hat, r_hat
from environment import default_folder, python_of
from problems import data_of

HERE = Path(__file__).resolve().parent
LIBRARIES = {"nuts": "accord", "chees": "accord", "numpyro": "numpyro", "blackjax": "blackjax"}

Record = dict[str, Any]


def _many_answers() -> simulated.Data:
    return simulated.logistic(10_000, 50)


# By name: the function of the model, its data, and how many numbers a draw has.
PROBLEMS: dict[str, tuple[str, Callable[[], Any], int]] = {
    "eight_schools": ("eight_schools", lambda: data_of("eight_schools"), 18),
    "logistic_10000": ("logistic", _many_answers, 51),
    "item_response": ("item_response", simulated.item_response, 10_000),
}
COLUMNS = (
    *("model", "library", "precision", "chains", "draws", "compile s", "seconds", "CPU s", "ESS", "ESS / s"),
    *(
        "ESS / 1000 gradients",
        "gradients of warm-up / chain",
        "of sampling / chain",
        "R-hat",
        "GPU memory, GiB",
    ),
)


def main() -> None:
    """Run every cell that is asked for, and print the table."""
    options = _options()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    records = _read(options.output) if options.resume else []
    known = {_name(record) for record in records}
    if not options.resume:
        options.output.write_text("")
    for model in options.models.split(","):
        for precision in options.precisions.split(","):
            for chains in map(int, options.chains.split(",")):
                for library in options.libraries.split(","):
                    cell = dict(model=model, library=library, precision=precision, chains=chains)
                    if _name(cell) in known:
                        continue
                    records.append(cell | _run(cell, options))
                    with options.output.open("a") as file:
                        file.write(json.dumps(records[-1]) + "\n")
                    print(_row(records[-1]), flush=True)
    table = _table(records)
    options.output.with_suffix(".md").write_text(table)
    print(f"\n{table}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", default=",".join(PROBLEMS), help="or those of the examples")
    parser.add_argument("--chains", default="64,256,1024,4096")
    parser.add_argument("--precisions", default="float32,float64")
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--warmup", type=int, help="draws; the default is accord's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds of a run, compiling included")
    parser.add_argument("--gigabytes", type=float, default=16.0, help="of all draws of a run, at most")
    parser.add_argument("--peer-python", type=Path, help="an interpreter that has the peers")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "many_chains.jsonl")
    parser.add_argument(
        "--resume", action="store_true", help="keep the runs of the output, and make the others"
    )
    return parser.parse_args()


def _name(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("model", "library", "precision", "chains"))


def _read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _run(cell: Record, options: argparse.Namespace) -> Record:
    """Make a run in a process of its own, and judge its draws."""
    usual = cell["model"], lambda: data_of(cell["model"]), 100
    function, data, size = PROBLEMS.get(cell["model"], usual)
    bytes_of = {"float32": 4, "float64": 8}[cell["precision"]]
    gigabytes = cell["chains"] * options.draws * size * bytes_of / 1e9
    if gigabytes > options.gigabytes:
        return {"failure": f"left out: {gigabytes:.0f} GB of draws"}
    warmup = options.warmup or {"chees": 200}.get(cell["library"], 350)
    with tempfile.TemporaryDirectory() as folder:
        inputs, output = Path(folder) / "data.npz", Path(folder) / "run"
        np.savez(inputs, **data())
        given = [
            function,
            output,
            inputs,
            cell["chains"],
            cell["precision"],
            warmup,
            options.draws,
            options.seed,
        ]
        command = [
            _python(cell["library"], options),
            HERE / "peers" / "many_chains.py",
            cell["library"],
            *given,
        ]
        try:
            ran = subprocess.run(
                [str(each) for each in command],
                env=_environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=options.limit,
            )
        except subprocess.TimeoutExpired:
            return {"failure": f"more than {options.limit:.0f} s"}
        if ran.returncode:
            return {"failure": (ran.stderr.strip().splitlines() or [f"status {ran.returncode}"])[-1][:200]}
        record = json.loads(output.with_suffix(".json").read_text())
        with np.load(output.with_suffix(".npz")) as file:
            record |= judged(file["scalars"])
    return record | {"draws": options.draws, "warmup": warmup, "date": datetime.date.today().isoformat()}


def _python(library: str, options: argparse.Namespace) -> Path:
    module = LIBRARIES[library]
    if module == "accord" or find_spec(module):
        return Path(sys.executable)
    return options.peer_python or python_of(default_folder())


def _environment() -> dict[str, str]:
    """This process's own, but that nothing is found compiled."""
    path = os.pathsep.join(each for each in sys.path if each)
    caches = {"ACCORD_COMPILATION_CACHE": "off", "JAX_ENABLE_COMPILATION_CACHE": "false"}
    return {**os.environ, **caches, "ACCORD_BENCHMARK_PATH": path}


def judged(scalars: np.ndarray) -> Record:
    """Return effective draws and R-hat of scalars, shape `(chain, draw, scalar)`: those of the worst."""
    scalars = scalars.astype(float)
    some_r_hat = nested_r_hat if len(scalars) >= 64 else r_hat
    effective = np.nanmin([ess_bulk(scalars), ess_tail(scalars)])
    return {"effective": float(effective), "r_hat": float(np.nanmax(some_r_hat(scalars)))}


def _table(records: Sequence[Record]) -> str:
    """Return the table in Markdown, with a line on where it was measured."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", *map(_row, records)]
    where = {f"{each['device']}, {each['versions']}, {each['date']}" for each in records if "device" in each}
    return "\n".join([*lines, "", *(f"Measured on {each}." for each in sorted(where)), ""])


def _row(record: Record) -> str:
    """Return a row of the table."""
    start = [str(record[name]) for name in ("model", "library", "precision", "chains")]
    if "failure" in record:
        return f"| {' | '.join([*start, record['failure'], *[''] * (len(COLUMNS) - len(start) - 1)])} |"
    chains, warm, steps = record["chains"], record["gradients"]["warmup"], record["gradients"]["sampling"]
    memory = record["memory"]
    cells = [
        str(record["draws"]),
        f"{record['compile']:.1f}",
        f"{record['seconds']:.2f}",
        f"{record['cpu_seconds']:.1f}",
        f"{record['effective']:.0f}",
        f"{record['effective'] / record['seconds']:.0f}",
        f"{1000 * record['effective'] / steps:.1f}",
        "-" if warm is None else f"{warm / chains:.0f}",
        f"{steps / chains:.0f}",
        f"{record['r_hat']:.3f}",
        "-" if memory is None else f"{memory / 2**30:.2f}",
    ]
    return f"| {' | '.join([*start, *cells])} |"


if __name__ == "__main__":
    main()
