"""Give textbook formulas, in mpmath, of Chernoff's distribution, of skewed powers and of further counts."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from accuracy import Family
from mpmath import mp as _mp
from references_continuous import placed
from references_core import gamma_upper
from references_skewed import generalized_quantile

import accord.distributions as dist

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp


def chernoff_half(t: Any) -> Any:
    """The function g of the density g(t) g(-t) / 2: its Fourier integral on a line, or residues where they are few."""
    c, digits = mp.cbrt(2), mp.dps
    reach = (digits + 5) * mp.log(10)
    if t < -2:
        count = int((reach / (-c * t) + 3) ** 1.5 / 4.7) + 2
        return c**2 * sum(mp.exp(-c * zero * t) / slope for zero, slope in airy_zeros(count, digits))
    with mp.workdps(digits + 10):
        through = max((c * t) ** 2, mp.mpf(1)) if t > 0 else mp.mpf(1) / 4
        step = min(mp.pi * mp.sqrt(4 * mp.sqrt(through) / reach), 2 * mp.pi * (through + 2.33) / reach) * 0.7
        height = c * through * t
        total, k = 1 / mp.airyai(through) / 2, 0
        while True:
            k += 1
            term = mp.exp(-c * mp.mpc(0, k * step) * t) / mp.airyai(mp.mpc(through, k * step))
            total += mp.re(term)
            if abs(term) < abs(total) * mp.mpf(10) ** -(digits + 5):
                return c**2 / mp.pi * total * step * mp.exp(-height)


@functools.cache
def airy_zeros(count: int, digits: int) -> list[tuple[Any, Any]]:
    """The first zeros of Airy's function, negative, and its slopes there."""
    with mp.workdps(digits + 10):
        zeros = [mp.airyaizero(k) for k in range(1, count + 1)]
        return [(zero, mp.airyai(zero, derivative=1)) for zero in zeros]


def chernoff_log_density(x: Any) -> Any:
    t = abs(x)
    return mp.log(chernoff_half(t) * chernoff_half(-t) / 2)


@functools.cache
def _chernoff_tail(x: float) -> tuple[Any, Any, Any]:
    """The probability beyond x, away from 0, the density, and its slope; with 30 digits."""
    nodes, weights = np.polynomial.legendre.leggauss(26)
    with mp.workdps(20):
        t = mp.mpf(abs(x))
        reach = 45 / (2 * t * t + 11)
        heights = [
            mp.exp(chernoff_log_density(t + reach * (1 + mp.mpf(node)) / 2)) for node in nodes.tolist()
        ]
        tail = reach / 2 * sum(mp.mpf(w) * f for w, f in zip(weights.tolist(), heights, strict=True))
        h = mp.mpf(10) ** -10
        first, density, last = (mp.exp(chernoff_log_density(t + k * h)) for k in (-1, 0, 1))
        return tail, density, (last - first) / (2 * h)


def chernoff_cdf(x: Any) -> Any:
    """The tail at the nearest double, from which only differences are asked, by two terms of Taylor's series."""
    tail, density, slope = _chernoff_tail(float(x))
    move = abs(x) - abs(float(x))
    tail -= density * move + slope * move**2 / 2
    return tail if x < 0 else 1 - tail


def chernoff_quantile(q: Any) -> Any:
    if q > 0.5:
        return -chernoff_quantile(1 - q)
    x = _chernoff_quantile(float(q))
    tail, density, slope = _chernoff_tail(float(x))
    # From the double near it by three terms of the inverse series.
    move = (tail - q) / density
    return -(mp.mpf(abs(x)) + move - slope / density * move**2 / 2)


@functools.cache
def _chernoff_quantile(q: float) -> float:
    return float(dist.Chernoff().icdf(q))


def skewed_power_log_density(x: Any, loc: Any, scale: Any, p: Any, a: Any) -> Any:
    side = a if x < loc else 1 - a
    width = 2 * scale * p ** (1 / p) * mp.gamma(1 + 1 / p)
    return -((abs(x - loc) / (2 * side * scale)) ** p) / p - mp.log(width)


def skewed_power_cdf(x: Any, loc: Any, scale: Any, p: Any, a: Any) -> Any:
    side = a if x < loc else 1 - a
    tail = side * gamma_upper(1 / p, (abs(x - loc) / (2 * side * scale)) ** p / p)
    return tail if x < loc else 1 - tail


def skewed_power_quantile(q: Any, loc: Any, scale: Any, p: Any, a: Any) -> Any:
    side, tail = (a, q) if q < a else (1 - a, 1 - q)
    size = -2 * side * scale * p ** (1 / p) * generalized_quantile(tail / side / 2, mp.mpf(0), mp.mpf(1), p)
    return loc - size if q < a else loc + size


def robust_soliton(size: int, spike: int) -> Callable[[Any], list[Any]]:
    def table(failure: Any) -> list[Any]:
        share = mp.mpf(size) / spike
        ideal = [mp.mpf(1) / size, *(mp.mpf(1) / (k * (k - 1)) for k in range(2, size + 1))]
        robust = [share / size / k for k in range(1, spike)] + [share / size * mp.log(share / failure)]
        weights = [w + (robust[k] if k < spike else 0) for k, w in enumerate(ideal)]
        return [w / sum(weights) for w in weights]

    return table


def wallenius(a: int, b: int, n: int) -> Callable[[Any], dict[int, Any]]:
    """The integral for each number, with both powers expanded."""

    def table(odds: Any) -> dict[int, Any]:
        found = {}
        with mp.workdps(mp.dps + 8 * n):
            for k in range(max(0, n - b), min(a, n) + 1):
                rest = odds * (a - k) + b - (n - k)
                if rest == 0:
                    found[k] = mp.mpf(1)
                    continue
                terms = (
                    (-1) ** (i + j) * mp.binomial(k, i) * mp.binomial(n - k, j) * rest / (rest + odds * i + j)
                    for i in range(k + 1)
                    for j in range(n - k + 1)
                )
                found[k] = mp.binomial(a, k) * mp.binomial(b, n - k) * sum(terms)
        return found

    return table


def counted(
    make: Callable[..., Any], name: str, table: Callable[[Any], Any], ends: tuple[int, int], points: Any
) -> Family:
    """A distribution of whole numbers between two ends, with one parameter, by all its probabilities."""
    first, last = ends

    def probs(parameter: Any) -> dict[int, Any]:
        found = table(parameter)
        return found if isinstance(found, dict) else dict(enumerate(found, first))

    return Family(
        make,
        (name,),
        lambda k, parameter: mp.log(probs(parameter)[int(k)]),
        lambda k, parameter: (
            mp.mpf(1) if k == last else sum(p for j, p in probs(parameter).items() if j <= k)
        ),
        points=points,
        is_discrete=True,
    )


FAMILIES = {
    "Chernoff": Family(
        dist.Chernoff,
        (),
        chernoff_log_density,
        chernoff_cdf,
        chernoff_quantile,
        [((), [-0.01, 0.5, 1.0, -1.5, -2.5, 3.5, -6.0, -24.0])],
        (1e-30, 0.01, 0.3, 0.75),
        digits=60,
    ),
    "SkewedExponentialPower": Family(
        dist.SkewedExponentialPower,
        ("loc", "scale", "power", "asymmetry"),
        skewed_power_log_density,
        skewed_power_cdf,
        skewed_power_quantile,
        placed((-90.0, -5.0, -1.0, -1e-6, 0.3, 2.0, 10.0), (0.5, 2.0, 2.0, 0.3), (0.0, 1.0, 1.0, 0.8))
        + placed((-2e3, -7.0, -1e-4, 0.3, 30.0), (0.0, 1e6, 0.5, 0.4), (0.0, 1.0, 0.7, 1e-3))
        + placed((-2.0, -1.0, -1e-6, 0.3, 1.3), (0.0, 1e-6, 8.0, 0.6))
        + placed((-1.1, -0.2, 0.85, 0.91), (0.0, 1.0, 1e3, 0.55)),
        q=(1e-8, 0.01, 0.25, 0.5, 0.75, 0.99),
    ),
    "Soliton, robust": counted(
        lambda failure: dist.Soliton(60, 11, failure),
        "failure",
        robust_soliton(60, 11),
        (1, 60),
        [((0.05,), [1, 2, 10, 11, 12, 60]), ((1e-6,), [1, 11, 60]), ((0.999,), [1, 11, 12])],
    ),
    "WalleniusHypergeometric": counted(
        lambda odds: dist.WalleniusHypergeometric(15, 12, 14, odds),
        "odds",
        wallenius(15, 12, 14),
        (2, 14),
        [
            ((1.0,), [2, 7, 14]),
            ((2.5,), [2, 9, 14]),
            ((1e-6,), [2, 3, 14]),
            ((1e6,), [2, 13, 14]),
            ((0.03,), [2, 4, 10]),
        ],
    ),
}
