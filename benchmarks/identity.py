"""Run models in every way there is, and compare the bits of every array: the identity matrix of `docs/identity.md`.

    python benchmarks/identity.py [--models a;b] [--out docs/identity.md]

Each way has a reference: one chain after the other in one thread, with as many lanes. The digests (SHA-256) of every
array of every chain are compared with those of the reference; any difference ends the command with status 1. Where bits
can change, a control run without the fixed settings shows that they do. Models and ways are in `tests/identity`.
"""

import argparse
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "identity"))

from identity_models import CASES
from identity_ways import WAYS, compare, control

from accord.executors import available_cores


def main() -> None:
    """Run the matrix and write it."""
    parser = argparse.ArgumentParser(description="Compare the bits of models run in many ways.")
    parser.add_argument("--models", default="; ".join(CASES), help="separated by semicolons")
    parser.add_argument("--out", type=Path, help="where to write the table; it is printed in any case")
    options = parser.parse_args()
    names = [name.strip() for name in options.models.split(";")]
    began = time.perf_counter()
    table, counts = {}, {}
    for name in names:
        table[name], counts[name] = compare(name)
        table[name]["control"] = control(name)
    page = _page(table, counts, time.perf_counter() - began)
    print(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")
    if any("differ" in column[label] for column in table.values() for label in WAYS):
        raise SystemExit("Some arrays differ.")


def _page(table: dict[str, dict[str, str]], counts: dict[str, int], seconds: float) -> str:
    """Return the text of the page."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("jax", "jaxlib", "numpy"))
    where = f"Python {platform.python_version()}, {packages}; {platform.machine()}, {available_cores()} cores"
    lines = [
        "# The identity matrix",
        "",
        f"Written by `python benchmarks/identity.py --out docs/identity.md` in {seconds:.0f} seconds: {where}.",
        "",
        "Each column is a model, each row a way to run it. `=` means that every array of every chain (draws,",
        "statistics, warm-up, step sizes, metrics) has the same SHA-256 as in the reference run. The reference is",
        "`executor=infer.Serial()`; with 2 lanes it is `Serial()` with `lanes=2`, and with sharded rows",
        "`Devices(data=1, shard=...)`. An empty cell was not run. [Running](running.md) explains what is promised.",
        "",
    ]
    heads = [f"{number}" for number, _ in enumerate(table, start=1)]
    lines += [
        f"{number}. {name}: {CASES[name].chains} chains of {CASES[name].draws} + {CASES[name].draws} draws, "
        f"{counts[name]} arrays compared"
        for number, name in enumerate(table, start=1)
    ]
    lines += ["", f"| way | {' | '.join(heads)} |", "|---|" + ":-:|" * len(heads)]
    lines += [f"| {label} | {' | '.join(column[label] for column in table.values())} |" for label in WAYS]
    lines += [
        "",
        "Two of these models are included because their bits can change. As a control, they run once more without the",
        "settings that accord fixes: the sum with another width of XLA's pool (`NPROC=1`), the Cholesky factor with as",
        "many BLAS threads as BLAS chooses.",
        "",
        "| model | without the fixed settings |",
        "|---|---|",
    ]
    lines += [f"| {name} | {column['control']} |" for name, column in table.items() if column["control"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
