"""Compute the tables of Chernoff's distribution from Airy integrals, with 40 digits, and write them as a module.

Run `python tests/distributions/make_chernoff.py` where mpmath is installed; it writes
`src/accord/distributions/univariate/of_samples/chernoff_table.py`. With c = 2^(1/3) and Airy's function Ai, of zeros
-a_1, -a_2, ..., the density at t is g(t) g(-t) / 2, where

    g(t) = c^2 / (2 pi i) * integral of exp(-c u t) / Ai(u) along a vertical line right of the zeros,
    g(-t) = c^2 * sum over k of exp(-c a_k t) / Ai'(-a_k), for t > 0.

Both tables are Chebyshev series in v = (t - MIDDLE) / (t + MIDDLE), for t >= 0: of the log density less what it grows
by far out, and of the tail over the density times what that goes like far out.

**Source**: Groeneboom & Wellner (2001), J. Comput. Graph. Stat. 10(2), 388-400, sections 2 and 3.
"""

import sys
from pathlib import Path
from typing import Any

from mpmath import mp as _mp

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp
mp.dps = 40
TARGET = (
    Path(__file__).parents[2]
    / "src"
    / "accord"
    / "distributions"
    / "univariate"
    / "of_samples"
    / "chernoff_table.py"
)
MIDDLE = 1.5
COUNT = 128
LEAST = 1e-17
C = mp.cbrt(2)
ZEROS = [mp.airyaizero(k) for k in range(1, 61)]
SLOPES = [mp.airyai(zero, derivative=1) for zero in ZEROS]
DECAY = -C * ZEROS[0]


def along_a_line(t: Any) -> Any:
    """g(t), by the trapezoidal rule on a vertical line, through the saddle point where there is one."""
    with mp.workdps(50 + max(0, int(3 * mp.log10(abs(t) + 1)))):
        through = (C * t) ** 2 if t > 0 else mp.mpf(0)
        width = mp.sqrt(2 * mp.sqrt(max(through, 1)))
        step = min(width * 0.35, (through - ZEROS[0]) * 0.06)
        height = C * through * t
        total, k = mp.re(1 / mp.airyai(through)) / 2, 0
        while True:
            k += 1
            u = mp.mpc(through, k * step)
            term = mp.exp(height - C * u * t) / mp.airyai(u)
            total += mp.re(term)
            if abs(term) < abs(total) * mp.mpf(10) ** -44:
                return C**2 / mp.pi * total * step * mp.exp(-height)


def by_residues(t: Any) -> Any:
    """g(-t), for a t that is not small."""
    return C**2 * sum(mp.exp(C * zero * t) / slope for zero, slope in zip(ZEROS, SLOPES, strict=True))


def log_density(t: Any) -> Any:
    return mp.log(along_a_line(t) * (by_residues(t) if t > 2 else along_a_line(-t)) / 2)


def growth(t: Any) -> Any:
    """What the log density goes like far out, but for a constant."""
    return mp.log(1 + t) - t * (2 * t * t / 3 + DECAY)


def chebyshev(values: list[Any]) -> list[Any]:
    """Coefficients of the series through values at the points of `places`."""
    count = len(values)
    return [
        (2 - (k == 0))
        * sum(v * mp.cos(k * (2 * j + 1) * mp.pi / (2 * count)) for j, v in enumerate(values))
        / count
        for k in range(count)
    ]


def places() -> list[Any]:
    """The t of the Chebyshev points in v."""
    points = (mp.cos((2 * j + 1) * mp.pi / (2 * COUNT)) for j in range(COUNT))
    return [MIDDLE * (1 + v) / (1 - v) for v in points]


def evaluate(series: list[Any], t: Any) -> Any:
    """Clenshaw's recursion."""
    v = (t - MIDDLE) / (t + MIDDLE)
    one, two = mp.mpf(0), mp.mpf(0)
    for coefficient in series[:0:-1]:
        one, two = coefficient + 2 * v * one - two, one
    return series[0] + v * one - two


def cut(series: list[Any]) -> list[float]:
    """The series as doubles, without the terms below rounding at its end."""
    last = max(k for k, coefficient in enumerate(series) if abs(coefficient) > LEAST)
    return [float(coefficient) for coefficient in series[: last + 1]]


def main() -> None:
    at = places()
    heights = chebyshev([log_density(t) - growth(t) for t in at])
    print("density", len(cut(heights)), mp.nstr(heights[-1]), flush=True)
    heights = [h for h in heights if abs(h) > mp.mpf(10) ** -32]

    def density(t: Any) -> Any:
        return evaluate(heights, t) + growth(t)

    def tail(t: Any) -> Any:
        """The probability above t over the density there, times `2 t^2 + DECAY`."""
        start, rate = density(t), 2 * t * t + DECAY
        ends = [0, 2, 6, 20, 45]
        return mp.quad(lambda s: mp.exp(density(t + s / rate) - start), ends, maxdegree=5)

    tails = chebyshev([tail(t) for t in at])
    print("tail", len(cut(tails)), mp.nstr(tails[-1]), flush=True)
    pieces = [0, 0.5, 1, 2, 4]
    whole = 2 * mp.quad(lambda t: mp.exp(density(t)), pieces)
    print("whole", mp.nstr(whole - 1), "height", mp.nstr(mp.exp(density(mp.mpf(0))), 20))
    variance = 2 * mp.quad(lambda t: t * t * mp.exp(density(t)), pieces)
    entropy = -2 * mp.quad(lambda t: density(t) * mp.exp(density(t)), pieces)
    lines = [
        '"""Store the tables of Chernoff\'s distribution, computed by `tests/distributions/make_chernoff.py`."""',
        "",
        f"MIDDLE = {MIDDLE}",
        f"DECAY = {float(DECAY)!r}",
        f"VARIANCE = {float(variance)!r}",
        f"ENTROPY = {float(entropy)!r}",
    ]
    for name, series in (("LOG_DENSITY", heights), ("TAIL", tails)):
        lines += [f"{name} = (", *(f"    {number!r}," for number in cut(series)), ")"]
    TARGET.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
