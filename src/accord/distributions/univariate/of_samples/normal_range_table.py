"""Integrate the density and both tails of the range of independent standard normal variables, for their series.

With D(u) = Phi(u + w/2) - Phi(u - w/2), z a value of the least of n, and T(z) = Phi(-z), they are integrals over the
real line,

    density:  n (n - 1) / (2 pi) exp(-w^2/4) * integral of exp(-u^2) D^(n - 2)
    below w:  n * integral of phi(u - w/2) D^(n - 1)
    above w:  n * integral of phi(z) T(z)^(n - 1) (1 - (1 - T(z + w) / T(z))^(n - 1)),

of what is nowhere negative. Divided by simple functions that share their limits, they are smooth functions of w alone:
Chebyshev series of the logarithms are made as Python numbers while tracing.

**Source**: Hartley (1942), Biometrika 32(3/4), 309-310; Harter (1960), Ann. Math. Stat. 31(4), 1122-1147.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...special.basic.elementary import HALF_LOG_TWO_PI

# From here on what the series correct is constant in any precision.
END = 22.0
# The upper series have their points closer to `turn` than to the end, by about this length.
LENGTH = 12.0
TERMS = 40
_CLOSE_NODES, _CLOSE_WEIGHTS = np.polynomial.legendre.leggauss(14)


class RangeTable(NamedTuple):
    """Table of `TERMS` coefficients for four series, the points where pieces meet, and two moments.

    The series are of the density and the tail below `turn`, and of the density and the tail above it.
    """

    num_groups: int
    series: tuple[tuple[float, float, float, float], ...]
    turn: float
    mean: float
    variance: float


def range_table(num_groups: int) -> RangeTable:
    """Integrate for a number of variables, in float64."""
    nodes, weights = np.polynomial.legendre.leggauss(90)
    w = 0.5 * END * (1 + nodes)
    share = 0.5 * END * weights * np.exp(_integrals(num_groups, w)[0] - 0.25 * w * w)
    mean = float(share @ w)
    variance = float(share @ (w - mean) ** 2)
    turn = mean + math.sqrt(variance)

    angles = np.pi * (np.arange(TERMS) + 0.5) / TERMS
    project = np.cos(np.arange(TERMS)[:, None] * angles) * (2.0 / TERMS)
    project[0] *= 0.5
    rise, reach = 1 + np.cos(angles), END - turn
    low = turn * np.sqrt(0.5 * rise)
    high = turn + rise * LENGTH * reach / (2 * LENGTH + reach * (2 - rise))
    base = np.log(low) - 0.5 * np.log(low * low + 2 * np.pi)
    near, far = _integrals(num_groups, low), _integrals(num_groups, high)
    logs = [
        near[0] - (num_groups - 2) * base,
        near[1] - (num_groups - 1) * base,
        far[0],
        far[2] + np.log(tail_fraction(high)),
    ]
    series = project @ np.stack(logs, axis=-1)
    if num_groups == 2:
        # The density is a normal one; what is left of more terms is rounding.
        series[1:, [0, 2]] = 0.0
    rows = tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in series)
    return RangeTable(num_groups, rows, turn, mean, variance)


def tail_fraction(w: Any) -> Any:
    """Compute 2 exp(-w^2/4) / (sqrt(pi) erfc(w/2)) where `w`, an array of any library, is large.

    It is a continued fraction, and smooth for all `w` > 0.
    """
    x = 0.5 * w
    found = x
    for k in range(6, 0, -1):
        found = x + 0.5 * k / found
    return 2.0 * found


def _integrals(num_groups: int, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return logs of density times exp(w^2/4), lower tail (for moderate w), and upper tail times that factor.

    Integrands fall off faster than normal densities: a rule of even steps, fine enough for the sharpest.
    """
    count, reach = int(60 + 20 * math.sqrt(num_groups)), 9.0
    step = reach / count
    u, w = (np.arange(2 * count) - count + 0.5) * step, w[:, None]
    log_d = _log_between(np.abs(u) + 0 * w, w + 0 * u)
    density = _log_sum((num_groups - 2) * log_d - u * u)
    below = _log_sum((num_groups - 1) * log_d - 0.5 * (u - 0.5 * w) ** 2)
    z = u - 0.5 * w
    log_t = _log_ndtr(-z)
    share = np.exp(np.minimum(_log_ndtr(-z - w) - log_t, -1e-17))
    missed = np.log(-np.expm1((num_groups - 1) * np.log1p(-np.minimum(share, 1 - 1e-16))))
    above = _log_sum((num_groups - 1) * log_t - 0.5 * z * z + 0.25 * w * w + missed)
    factor = math.log(num_groups * step) - HALF_LOG_TWO_PI
    return density + factor + math.log(num_groups - 1) - HALF_LOG_TWO_PI, below + factor, above + factor


def _log_between(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Compute log D, for u >= 0, by one of three forms; none cancels."""
    is_close, is_apart = w < 1, u > 0.5 * w
    close = np.where(is_close, w, 0.5)[..., None]
    exponent = -0.5 * (u[..., None] + 0.5 * close * _CLOSE_NODES) ** 2
    top = exponent.max(-1)
    near = top + np.log((0.5 * _CLOSE_WEIGHTS * np.exp(exponent - top[..., None])).sum(-1)) - HALF_LOG_TWO_PI
    wide = np.where(is_close, 1.0, w)
    first, last = _log_ndtr(-np.abs(u - 0.5 * wide)), _log_ndtr(-u - 0.5 * wide)
    apart = first + np.log1p(-np.exp(np.where(is_apart | is_close, np.minimum(last - first, -1e-3), -1.0)))
    inside = np.log1p(-np.exp(first) - np.exp(last) * (1 - 1e-16))
    return np.where(is_close, near + np.log(w), np.where(is_apart, apart, inside))


def _log_sum(exponent: np.ndarray) -> np.ndarray:
    """Compute the log of a sum of exponentials along the last axis."""
    top = exponent.max(-1)
    return top + np.log(np.exp(exponent - top[..., None]).sum(-1))


def _log_ndtr(z: np.ndarray) -> np.ndarray:
    """Compute log Phi."""
    from scipy.special import log_ndtr  # a quarter of a second, which `import accord` has no use for

    return log_ndtr(z)
