"""Compute the values that accord's distributions are compared with, from textbook formulas, with 90 digits or more.

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
# Central differences with this relative step are right to 50 digits, their second ones to 40.
STEP = mp.mpf(10) ** -25


def representable(number: float) -> float:
    """The nearest float32, or the number itself where that would be 0, 1, infinite or too coarse."""
    with np.errstate(over="ignore", under="ignore"):
        single = float(np.float32(number))
    is_kept = number != 0 and (single in (0.0, 1.0) or not np.isfinite(single))
    return float(number) if is_kept and single != number else single


def differentiate(
    function: Callable[..., Any], at: tuple[float, ...], first: int, *, is_quantile: bool = False
) -> tuple[list, list]:
    """The value of a function, its derivatives from argument `first` on, and the natural scale of each.

    The derivatives of a quantile are taken where it is, which is rounded: that belongs to their natural scale too.
    """
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
        rounding = abs(centre * curve[0, i] / slope[0]) if is_quantile and slope[0] else 0
        scales.append(abs(slope[i]) + bends + rounding)
    return values, scales


def cancelled(family: Family, quantity: str, at: tuple[float, ...], value: Any) -> list:
    """What the terms of each derivative of a truncated family are larger by than their sum, in the same order.

    That of the log density is a difference of two terms, from the density before truncation and from the mass within
    the bounds; that of the cdf, of the terms from the masses below the value and within the bounds; that of the
    quantile is that of the cdf over the density.
    """
    is_quantile = quantity == "icdf"
    point = (value if is_quantile else at[0], *at[1:])
    share, height = (at[0], mp.exp(family.log_density(*point))) if is_quantile else (value, 1)
    terms = (0, 2) if quantity == "log_prob" else (1, 2)
    factor = 1 if quantity == "log_prob" else abs(share / height)
    extra = [0]
    for index in range(1, len(at)):
        slopes = [slope_of(lambda *p, t=t: family.terms(*p)[t], point, index) for t in terms]
        first, second = (factor * slope for slope in slopes)
        extra.append(abs(first) + abs(second) - abs(first - second))
    return extra


def slope_of(function: Callable[..., Any], at: tuple[Any, ...], index: int) -> Any:
    """The derivative of a function by one of its arguments."""
    exact = [mp.mpf(number) for number in at]
    step = STEP * (abs(exact[index]) or 1)
    ends = [[*exact[:index], exact[index] + sign * step, *exact[index + 1 :]] for sign in (1, -1)]
    return (function(*ends[0]) - function(*ends[1])) / (2 * step)


def rows(
    family: Family, quantity: str, function: Callable[..., Any], points: list[tuple[float, ...]]
) -> list:
    """One row for each point, as plain floats."""
    found, is_quantile = [], quantity == "icdf"
    first = 1 if family.is_discrete and not is_quantile else 0
    floor = 1.0 if quantity == "log_prob" else 0.0
    for at in points:
        values, scales = differentiate(function, at, first, is_quantile=is_quantile)
        if family.terms:
            extra = cancelled(family, quantity, at, values[0])
            scales[1:] = [scale + more for scale, more in zip(scales[1:], extra, strict=True)]
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
    mp.dps = family.digits
    parameters = [tuple(map(representable, p)) for p, _ in family.points]
    points = [
        (representable(x), *p)
        for p, (_, values) in zip(parameters, family.points, strict=True)
        for x in values
    ]
    document = {"names": family.names, "log_prob": rows(family, "log_prob", family.log_density, points)}
    if family.cdf:
        document["cdf"] = rows(family, "cdf", family.cdf, points)
    if not family.is_discrete and (family.quantile or family.cdf):
        quantile = family.quantile or quantile_by_newton(family)
        levels = [(representable(q), *p) for p in dict.fromkeys(parameters) for q in family.q]
        document["icdf"] = rows(family, "icdf", quantile, levels)
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
