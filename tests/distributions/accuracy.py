"""Hold the points at which univariate families are compared with 90-digit values, and compare.

The natural scale of a number f(theta) is |f| + sum_j |theta_j df/dtheta_j|: what f would change by if every input were
off by a unit of rounding, which no algorithm can promise to beat. An error is given in units of it. The scale of a
derivative of a truncated distribution holds, in place of the derivative's own size, the sizes of its two terms: one
from the distribution before truncation, one from the mass between the bounds. The scale of a derivative of a
quantile also holds what rounding the quantile changes it by.
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from accord.core.versions import QUICK_CPU_OPTIONS

FOLDER = Path(__file__).parent / "data" / "accuracy"
QUANTITIES = ("log_prob", "cdf", "icdf")
TARGET = {"float64": 1e-10, "float32": 1e-4}


class Family(NamedTuple):
    """A univariate family, with textbook formulas in mpmath that are independent of accord's.

    - `make`: builds accord's distribution from the parameters.
    - `names`: of the parameters.
    - `log_density`, `cdf`: of (x, *parameters), in mpmath; `quantile`, of (q, *parameters), where it is closed.
    - `points`: pairs of parameters and values of x.
    - `q`: levels at which the inverse cdf is compared, for every set of parameters.
    - `is_discrete`: then there is no derivative by the value.
    - `terms`: of a truncated family, of (x, *parameters): the log density before truncation, and the logs of the masses
      below x and within the bounds. Their derivatives are part of the natural scales.
    - `digits`: with which all of this is computed; more where an effect is smaller than 1e-40.
    """

    make: Callable[..., Any]
    names: tuple[str, ...]
    log_density: Callable[..., Any]
    cdf: Callable[..., Any] | None = None
    quantile: Callable[..., Any] | None = None
    points: list[tuple[tuple[float, ...], list[float]]] = []  # noqa: RUF012 - never changed
    q: tuple[float, ...] = (1e-30, 1e-8, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 2.0**-20)
    is_discrete: bool = False
    terms: Callable[..., tuple[Any, Any, Any]] | None = None
    digits: int = 90


def families() -> dict[str, Family]:
    """All families of every `references_*.py` beside this file, by name."""
    files = sorted(Path(__file__).parent.glob("references_*.py"))
    return {name: f for file in files for name, f in importlib.import_module(file.stem).FAMILIES.items()}


def errors(
    make: Callable[..., Any], quantity: str, rows: list[dict], dtype: type, *, is_discrete: bool
) -> dict:
    """The worst error in units of the natural scale, for a value and each of its derivatives, and where it is.

    **Returns** by name of what is compared, such as "log_prob" or "d cdf / d scale": (error, row).
    """
    rows = [row for row in rows if fits(row, dtype)]
    if not rows:
        return {}
    first = 1 if is_discrete and quantity != "icdf" else 0
    found = evaluate(make, quantity, [row["at"] for row in rows], dtype, first)
    by_row = row_errors(found, rows, dtype)
    names = [quantity, *(f"d {quantity} / d {name}" for name in rows[0]["names"][first:])]
    worst = {}
    for column, name in enumerate(names):
        at = int(np.argmax(by_row[:, column]))
        worst[name] = (float(by_row[at, column]), rows[at] | {"found": found[at, column]})
    return worst


def evaluate(make: Callable[..., Any], quantity: str, points: list, dtype: type, first: int) -> np.ndarray:
    """A quantity with its derivatives by the arguments from `first` on, one row for each point."""
    arguments = [np.asarray(column, dtype) for column in zip(*points, strict=True)]

    def function(x: Any, *parameters: Any) -> jax.Array:
        return getattr(make(*parameters), quantity)(x)

    slopes = tuple(range(first, len(arguments)))
    # Without optimisation the same operations compile many times sooner.
    options = {**QUICK_CPU_OPTIONS, "xla_backend_optimization_level": 0}
    by_row = jax.jit(jax.vmap(jax.value_and_grad(function, slopes)), compiler_options=options)
    values, derivatives = by_row(*arguments)
    return np.stack([np.asarray(values), *(np.asarray(d) for d in derivatives)], axis=-1).astype(np.float64)


def row_errors(found: np.ndarray, rows: list[dict], dtype: type) -> np.ndarray:
    """Errors in units of the natural scale, in the shape of `found`; NaN and infinities count as infinite."""
    columns = range(found.shape[1])
    by_row = [[_error(found[i, c], row, c, dtype) for c in columns] for i, row in enumerate(rows)]
    return np.asarray(by_row)


def read(name: str) -> dict[str, list[dict]]:
    """The stored points of a family by quantity: where (`at`), the true numbers (`true`) and their natural scales."""
    document = json.loads((FOLDER / f"{name}.json").read_text())
    return {
        quantity: [
            {"names": ["x" if quantity != "icdf" else "q", *document["names"]]}
            | dict(zip(("at", "true", "scale"), row, strict=True))
            for row in document[quantity]
        ]
        for quantity in QUANTITIES
        if quantity in document
    }


def fits(row: dict, dtype: type) -> bool:
    """Whether inputs and the value are numbers of this precision, neither overflowing nor subnormal."""
    info = np.finfo(dtype)
    is_exact = all(float(dtype(number)) == number for number in row["at"])
    value = abs(row["true"][0])
    # A tail so thin that its density overflows has a value, but no finite derivative.
    return is_exact and (value == 0 or float(info.tiny) * 1e3 < value < float(info.max) * 1e-3)


def _error(found: float, row: dict, column: int, dtype: type) -> float:
    """One error in units of the natural scale; of numbers that this precision cannot hold, 0 if it is about that."""
    info = np.finfo(dtype)
    true, scale = row["true"][column], row["scale"][column]
    if abs(true) > float(info.max) * 1e-3:
        return 0.0
    if not np.isfinite(found):
        return np.inf
    # Below the smallest normal number only the absolute error counts.
    scale = max(scale, float(info.tiny) / float(info.eps))
    return abs(found - true) / scale
