"""Give textbook formulas, in mpmath, of distributions of the circle that come from the line or from a rational map."""

from typing import Any

from accuracy import Family
from mpmath import mp
from references_skewed import inverse

import accord.distributions as dist


def cauchy_log_density(x: Any, loc: Any, r: Any) -> Any:
    return mp.log((1 - r**2) / (2 * mp.pi * (1 + r**2 - 2 * r * mp.cos(x - loc))))


def cauchy_cdf(x: Any, loc: Any, r: Any) -> Any:
    """Masses measured from the mode, on the turn in which each end lies."""

    def from_mode(angle: Any) -> Any:
        turn = mp.nint(angle / (2 * mp.pi))
        return turn + mp.atan((1 + r) / (1 - r) * mp.tan(angle / 2 - mp.pi * turn)) / mp.pi

    return from_mode(x - loc) - from_mode(-mp.pi - loc)


def cardioid_log_density(x: Any, loc: Any, r: Any) -> Any:
    return mp.log((1 + 2 * r * mp.cos(x - loc)) / (2 * mp.pi))


def cardioid_cdf(x: Any, loc: Any, r: Any) -> Any:
    return (x + mp.pi + 2 * r * (mp.sin(x - loc) - mp.sin(-mp.pi - loc))) / (2 * mp.pi)


def turns(loc: Any, scale: Any) -> list:
    """Whole turns of which some part of the circle is within 25 standard deviations of the centre."""
    most = int(25 * scale / 6 + abs(loc) / 6 + 2)
    return [2 * mp.pi * k for k in range(-most, most + 1)]


def normal_log_density(x: Any, loc: Any, scale: Any) -> Any:
    return mp.log(sum(mp.npdf((x - loc + turn) / scale) for turn in turns(loc, scale)) / scale)


def normal_cdf(x: Any, loc: Any, scale: Any) -> Any:
    def piece(first: Any, last: Any) -> Any:
        # From the side on which nothing is subtracted from almost 1.
        first, last = (-last, -first) if first + last > 0 else (first, last)
        return (mp.erfc(-last / mp.sqrt(2)) - mp.erfc(-first / mp.sqrt(2))) / 2

    return sum(piece((-mp.pi - loc + t) / scale, (x - loc + t) / scale) for t in turns(loc, scale))


ANGLES = [-3.1, -2.0, -0.3, 0.25, 1.5, 3.1]
LEVELS = (1e-8, 0.25, 0.5, 0.99)

FAMILIES = {
    "WrappedCauchy": Family(
        dist.WrappedCauchy,
        ("loc", "concentration"),
        cauchy_log_density,
        cauchy_cdf,
        inverse(dist.WrappedCauchy, cauchy_cdf, cauchy_log_density),
        [(p, ANGLES) for p in ((0.0, 1e-6), (0.0, 0.5), (-2.5, 0.5), (1.0, 0.97))]
        + [((0.5, 0.9999), [-3.0, 0.3, 0.499, 0.5, 0.501, 2.0])],
        q=LEVELS,
    ),
    "Cardioid": Family(
        dist.Cardioid,
        ("loc", "concentration"),
        cardioid_log_density,
        cardioid_cdf,
        inverse(dist.Cardioid, cardioid_cdf, cardioid_log_density),
        [(p, ANGLES) for p in ((0.0, 1e-6), (0.5, 0.3), (-2.5, 0.3), (1.0, 0.499), (40.0, 0.2))],
        q=LEVELS,
    ),
    "WrappedNormal": Family(
        dist.WrappedNormal,
        ("loc", "scale"),
        normal_log_density,
        normal_cdf,
        inverse(dist.WrappedNormal, normal_cdf, normal_log_density),
        [(p, ANGLES) for p in ((0.0, 0.5), (-2.5, 1.0), (1.0, 1.99), (0.5, 2.5))]
        + [((0.5, 0.05), [-3.0, 0.0, 0.499, 0.5, 0.52, 1.0]), ((0.5, 1e-4), [0.497, 0.5, 0.5003])],
        q=(1e-8, 0.3, 0.99),
    ),
}
