"""Measure the errors of accord's and NumPyro's univariate distributions on one grid, against 90-digit values.

    python benchmarks/distributions.py [--families a,b] [--env FOLDER]

Writes `docs/accuracy.md` when all families are measured, and prints otherwise. The grid, the true values and their
natural scales are those of the tests (`tests/distributions/accuracy.py` says what they are); the formulas are read with
them, so mpmath must be installed.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

from environment import PROJECT, default_folder, fresh_environment, python_of

sys.path.insert(0, str(PROJECT / "tests" / "distributions"))
from accuracy import QUANTITIES, Family, evaluate, families, fits, read, row_errors
from accuracy_exceptions import EXCEPTIONS

PRECISIONS = {"float64": np.float64, "float32": np.float32}
OFF = 1e-3  # errors above this many natural scales count as wrong

Found = dict[str, dict[str, Any]]


def rows_of(name: str, dtype: type) -> dict[str, list[dict]]:
    """Return the points of a distribution that this precision can represent, by quantity."""
    return {quantity: [row for row in rows if fits(row, dtype)] for quantity, rows in read(name).items()}


def by_accord(name: str, family: Family, dtype: type) -> dict[str, Any]:
    """Compute accord's values at the points of a distribution."""
    return {
        quantity: evaluate(family.make, quantity, [row["at"] for row in rows], dtype, first(family, quantity))
        for quantity, rows in rows_of(name, dtype).items()
        if rows
    }


def by_numpyro(python: Path, chosen: dict[str, Family], precision: str) -> Found:
    """Compute NumPyro's values at the same points in its own environment; a sentence where there is none."""
    tasks = {}
    for name, family in chosen.items():
        rows = rows_of(name, PRECISIONS[precision])
        points = {quantity: [row["at"] for row in rows[quantity]] for quantity in rows if rows[quantity]}
        tasks[name] = {"kind": name, "names": family.names, "is_discrete": family.is_discrete} | points
    worker = PROJECT / "benchmarks" / "peers" / "distributions_numpyro.py"
    ran = subprocess.run(
        [str(python), str(worker), precision],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        check=True,
        env=fresh_environment(None),
    )
    return json.loads(ran.stdout.splitlines()[-1])


def first(family: Family, quantity: str) -> int:
    """Return the first argument by which derivatives are compared."""
    return 1 if family.is_discrete and quantity != "icdf" else 0


def counts(found: Any, rows: list[dict], dtype: type) -> str:
    """Count the points whose value or derivatives are NaN, infinite or wrong; each point counts once."""
    if isinstance(found, str):
        return "none"
    numbers = np.asarray(found, np.float64)
    errors = row_errors(numbers, rows, dtype)
    is_nan = np.isnan(numbers).any(axis=1)
    is_infinite = ~is_nan & (np.isinf(numbers) & np.isinf(errors)).any(axis=1)
    is_off = ~is_nan & ~is_infinite & (errors > OFF).any(axis=1)
    return " / ".join(str(int(kind.sum())) for kind in (is_nan, is_infinite, is_off))


def side_by_side(chosen: dict[str, Family], python: Path) -> tuple[list[str], list[str]]:
    """Return the rows of both tables: accord's worst errors, and the counts of both libraries."""
    worst, compared = [], []
    measured: dict[str, dict[str, Any]] = {}
    for precision, dtype in PRECISIONS.items():
        with jax.enable_x64(precision == "float64"):
            ours = {name: by_accord(name, family, dtype) for name, family in chosen.items()}
        theirs = by_numpyro(python, chosen, precision)
        for name in chosen:
            rows = rows_of(name, dtype)
            for quantity in QUANTITIES:
                if quantity not in ours[name]:
                    continue
                errors = row_errors(ours[name][quantity], rows[quantity], dtype)
                cell = measured.setdefault(name, {}).setdefault(quantity, {})
                cell[precision] = (errors[:, 0].max(), errors[:, 1:].max() if errors.shape[1] > 1 else 0.0)
                here = counts(ours[name][quantity], rows[quantity], dtype)
                there = counts(theirs[name].get(quantity, "none"), rows[quantity], dtype)
                compared.append(
                    f"| {name} | `{quantity}` | {precision} | {len(rows[quantity])} | {here} | {there} |"
                )
    for name, by_quantity in sorted(measured.items()):
        cells = []
        for quantity in QUANTITIES:
            for precision in PRECISIONS:
                pair = by_quantity.get(quantity, {}).get(precision)
                cells.append(f"{pair[0]:.0e}, {pair[1]:.0e}" if pair else "")
        worst.append(f"| {name} | " + " | ".join(cells) + " |")
    return worst, sorted(compared)


def page(worst: list[str], compared: list[str], version: str) -> str:
    """Return the text of the page in docs/."""
    excepted = [
        f"| {family} | {what} | {precision} | {bound:.0e} | {reason} |"
        for (family, what, precision), (bound, reason) in EXCEPTIONS.items()
    ]
    return PAGE.format(
        heads=" | ".join(f"`{quantity}` {precision}" for quantity in QUANTITIES for precision in PRECISIONS),
        dashes="---|" * (1 + len(QUANTITIES) * len(PRECISIONS)),
        worst="\n".join(worst),
        excepted="\n".join(
            ["| distribution | quantity | precision | bound | reason |", "|---|---|---|---|---|", *excepted]
        )
        if excepted
        else "None.",
        version=version,
        compared="\n".join(compared),
    )


PAGE = """# Accuracy of the univariate distributions

Written by `python benchmarks/distributions.py`. Every distribution is compared with values that were computed with 90
digits from textbook formulas: at the centre, in both tails down to log densities of about -1e4, and at extreme
parameters.

Errors are in units of a natural scale. For a number `f(theta)` it is `|f| + sum_j |theta_j df/dtheta_j|`, and at least
1 for a log density: the change of `f` if every input changed by its own size. Two cases differ:

- The derivative of a truncated distribution is a difference of two terms, from the distribution before truncation and
  from the mass between the bounds. Its natural scale uses the sizes of these two terms.
- The natural scale of a derivative of a quantile also includes the effect of rounding the quantile.

## Worst errors

Each cell has the worst error of the value, then the worst error of a first derivative, by the value or by any
parameter. The tests require less than 1e-10 in float64 and 1e-4 in float32, with the exceptions below.

| distribution | {heads} |
|{dashes}
{worst}

## Exceptions

{excepted}

## Comparison with NumPyro {version}

Each cell counts the points at which the value or a first derivative is NaN / is infinite although the true value is
finite / has an error of more than 1e-3 natural scales. `none` means that the library does not have the distribution, or
does not compute the quantity or its derivative.

| distribution | quantity | precision | points | accord | NumPyro |
|---|---|---|---|---|---|
{compared}
"""


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default="", help="names, separated by commas; all by default")
    parser.add_argument("--env", type=Path, default=default_folder(), help="the peers' environment")
    options = parser.parse_args()
    everything = families()
    names = [name.strip() for name in options.families.split(",") if name.strip()] or list(everything)
    python = python_of(options.env)
    version = subprocess.run(
        [str(python), "-c", "import numpyro; print(numpyro.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    text = page(*side_by_side({name: everything[name] for name in names}, python), version)
    if options.families:
        print(text)
    else:
        (PROJECT / "docs" / "accuracy.md").write_text(text)
