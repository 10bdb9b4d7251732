"""Compute the values that accord's distributions are compared with, from textbook formulas, with 90 digits.

Run `python tests/distributions/make_accuracy.py NAME ...` (all families without a name) where mpmath is installed. It
reads `FAMILIES` of every `references_*.py` beside it and writes `data/accuracy/NAME.json`: for `log_prob`, `cdf` and
`icdf`, rows of inputs, of the value with its derivatives, and of the natural scale of each.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from accuracy import FOLDER, Family, families
from mpmath import mp

jax.config.update("jax_enable_x64", True)
mp.dps = 90
# Central differences with this relative step are right to 50 digits, their second ones to 40.
STEP = mp.mpf(10) ** -25


def representable(number: float) -> float:
    """The nearest float32, or the number itself where that would be 0, 1, infinite or too coarse."""
    with np.errstate(over="ignore", under="ignore"):
        single = float(np.float32(number))
    is_kept = number != 0 and (single in (0.0, 1.0) or not np.isfinite(single))
    return float(number) if is_kept and single != number else single


def differentiate(function: Callable[..., Any], at: tuple[float, ...], first: int) -> tuple[list, list]:
    """The value of a function, its derivatives from argument `first` on, and the natural scale of each."""
    exact = [mp.mpf(number) for number in at]
    step = [STEP * (abs(number) if number else 1) for number in exact]

    def shifted(*moves: tuple[int, int]) -> Any:
        moved = list(exact)
        for index, sign in moves:
            moved[index] += sign * step[index]
        return function(*moved)

    centre, indices = function(*exact), range(first, len(exact))
    one = {(i, s): shifted((i, s)) for i in indices for s in (1, -1)}
    slope = {i: (one[i, 1] - one[i, -1]) / (2 * step[i]) for i in indices}

    def second(i: int, j: int) -> Any:
        if i == j:
            return (one[i, 1] - 2 * centre + one[i, -1]) / step[i] ** 2
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        return sum(s * t * shifted((i, s), (j, t)) for s, t in signs) / (4 * step[i] * step[j])

    curve = {(i, j): second(i, j) for i in indices for j in indices if i <= j}
    values = [centre, *(slope[i] for i in indices)]
    scales = [abs(centre) + sum(abs(exact[j] * slope[j]) for j in indices)]
    for i in indices:
        bends = sum(abs(exact[j] * curve[min(i, j), max(i, j)]) for j in indices)
        scales.append(abs(slope[i]) + bends)
    return values, scales


def rows(function: Callable[..., Any], points: list[tuple[float, ...]], first: int, floor: float) -> list:
    """One row for each point, as plain floats."""
    found = []
    for at in points:
        values, scales = differentiate(function, at, first)
        numbers = [
            [_plain(v) for v in values],
            [max(_plain(s), floor * (k == 0)) for k, s in enumerate(scales)],
        ]
        found.append([list(at), *numbers])
    return found


def quantile_by_newton(family: Family) -> Callable[..., Any]:
    """The inverse of the cdf by Newton's method on its logarithm, from where accord puts it."""

    def solve(q: Any, *parameters: Any) -> Any:
        start = float(family.make(*(float(p) for p in parameters)).icdf(float(q)))
        x = mp.mpf(start)
        for _ in range(60):
            below = family.cdf(x, *parameters)
            move = (below - q) / mp.exp(family.log_density(x, *parameters))
            x -= move
            if abs(move) <= abs(x) * mp.mpf(10) ** -80:
                return x
        raise ValueError(
            f"no quantile found at q={mp.nstr(q)}, {parameters}: started at {start}. Give `quantile`."
        )

    return solve


def compute(family: Family) -> dict[str, Any]:
    """All rows of one family."""
    first = 1 if family.is_discrete else 0
    parameters = [tuple(map(representable, p)) for p, _ in family.points]
    points = [
        (representable(x), *p)
        for p, (_, values) in zip(parameters, family.points, strict=True)
        for x in values
    ]
    document = {"names": family.names, "log_prob": rows(family.log_density, points, first, 1.0)}
    if family.cdf:
        document["cdf"] = rows(family.cdf, points, first, 0.0)
    if not family.is_discrete and (family.quantile or family.cdf):
        quantile = family.quantile or quantile_by_newton(family)
        levels = [(representable(q), *p) for p in dict.fromkeys(parameters) for q in family.q]
        document["icdf"] = rows(quantile, levels, 0, 0.0)
    return document


def _plain(number: Any) -> float:
    """A double, by way of a decimal, so that tiny numbers round to 0."""
    return float(mp.nstr(mp.re(number), 25))


if __name__ == "__main__":
    chosen = families()
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or chosen:
        document = compute(chosen[name])
        lines = ",\n".join(
            f"{json.dumps(key)}: "
            + (json.dumps(rows_) if key == "names" else "[\n" + ",\n".join(map(json.dumps, rows_)) + "\n]")
            for key, rows_ in document.items()
        )
        (FOLDER / f"{name}.json").write_text("{" + lines + "}\n")
        print(name, {key: len(rows_) for key, rows_ in document.items() if key != "names"}, flush=True)
