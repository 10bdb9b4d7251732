"""Give textbook formulas, in mpmath, of distributions of empirical distribution functions."""

import functools
from collections.abc import Callable
from typing import Any

from accuracy import Family
from mpmath import mp as _mp
from references_noncentral import positive_inverse

import accord.distributions as dist

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp


def kolmogorov_log_density(x: Any) -> Any:
    if x < 0.6:
        squares = [(2 * k + 1) ** 2 * mp.pi**2 / (8 * x * x) for k in range(20)]
        return mp.log(mp.sqrt(2 * mp.pi) / x**2 * sum((2 * s - 1) * mp.exp(-s) for s in squares))
    return mp.log(8 * x * sum(-((-1) ** k) * k * k * mp.exp(-2 * k * k * x * x) for k in range(1, 30)))


def kolmogorov_cdf(x: Any) -> Any:
    if x < 0.6:
        squares = [(2 * k + 1) ** 2 * mp.pi**2 / (8 * x * x) for k in range(20)]
        return mp.sqrt(2 * mp.pi) / x * sum(mp.exp(-s) for s in squares)
    return 1 + 2 * sum((-1) ** k * mp.exp(-2 * k * k * x * x) for k in range(1, 30))


def steck(lower: list[Any], upper: list[Any]) -> Any:
    """The probability that ordered uniform variables lie between bounds: Steck's determinant (1971), by its minors."""
    size = len(lower)
    minors, factorials = [mp.mpf(1)], [mp.factorial(k) for k in range(size + 1)]
    for j in range(size):
        total = mp.mpf(0)
        for i in range(j, -1, -1):
            gap = upper[i] - lower[j]
            if gap > 0:
                total += (-1) ** (j - i) * gap ** (j - i + 1) / factorials[j - i + 1] * minors[i]
        minors.append(total)
    return minors[-1] * factorials[-1]


def distance_cdf(size: int, *, is_two_sided: bool) -> Callable[[Any], Any]:
    def cdf(d: Any) -> Any:
        with mp.workdps(300 + size):
            lower = [max(mp.mpf(i + 1) / size - d, 0) for i in range(size)]
            upper = [min(mp.mpf(i) / size + d, 1) if is_two_sided else mp.mpf(1) for i in range(size)]
            return steck(lower, upper)

    return cdf


def distance(size: int, points: list[float], q: tuple[float, ...], *, is_two_sided: bool) -> Family:
    """The distances of an empirical distribution function of this many draws."""
    make = functools.partial(dist.KolmogorovSmirnov if is_two_sided else dist.KolmogorovSmirnovOneSided, size)
    cdf = distance_cdf(size, is_two_sided=is_two_sided)

    def log_density(d: Any) -> Any:
        with mp.workdps(300 + size):
            h = mp.mpf(10) ** -60
            return mp.log((cdf(d + h) - cdf(d - h)) / (2 * h))

    return Family(make, (), log_density, cdf, positive_inverse(make, cdf, log_density), [((), points)], q)


FAMILIES = {
    "Kolmogorov": Family(
        dist.Kolmogorov,
        (),
        kolmogorov_log_density,
        kolmogorov_cdf,
        positive_inverse(dist.Kolmogorov, kolmogorov_cdf, kolmogorov_log_density),
        [((), [0.012, 0.04, 0.1, 0.3, 0.5, 0.7, 0.8276, 0.95, 1.0, 1.05, 1.3, 1.8, 2.5, 6.0, 70.0])],
        (1e-30, 1e-8, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 2.0**-20),
    ),
    "KolmogorovSmirnov1": distance(1, [0.5001, 0.6, 0.8, 0.9999], (1e-8, 0.5, 0.99), is_two_sided=True),
    "KolmogorovSmirnov2": distance(
        2, [0.25001, 0.3, 0.4, 0.49, 0.51, 0.7, 0.999], (1e-8, 0.3, 0.75, 0.99), is_two_sided=True
    ),
    "KolmogorovSmirnov9": distance(
        9,
        [0.05556, 0.06, 0.1, 0.1112, 0.17, 0.23, 0.3, 0.45, 0.499, 0.501, 0.7, 0.9, 0.9999],
        (1e-30, 1e-8, 0.01, 0.5, 0.75, 0.99, 1 - 2.0**-20),
        is_two_sided=True,
    ),
    "KolmogorovSmirnov100": distance(
        100,
        [0.00501, 0.0075, 0.02, 0.05, 0.083, 0.16, 0.2, 0.223, 0.225, 0.3, 0.6],
        (1e-30, 0.01, 0.5, 0.99, 1 - 2.0**-20),
        is_two_sided=True,
    ),
    "KolmogorovSmirnov300": distance(300, [0.003, 0.05, 0.128, 0.1295], (), is_two_sided=True),
    "KolmogorovSmirnovOneSided2": distance(
        2, [1e-6, 0.1, 0.3, 0.49, 0.51, 0.7, 0.999], (1e-8, 0.3, 0.75, 0.99), is_two_sided=False
    ),
    "KolmogorovSmirnovOneSided9": distance(
        9,
        [1e-12, 1e-3, 0.1, 0.12, 0.25, 0.4, 0.55, 0.56, 0.8, 0.9999],
        (1e-30, 1e-8, 0.01, 0.5, 0.75, 0.99, 1 - 2.0**-20),
        is_two_sided=False,
    ),
    "KolmogorovSmirnovOneSided100": distance(
        100,
        [1e-6, 0.0099, 0.02, 0.049, 0.051, 0.08, 0.2, 0.6],
        (1e-8, 0.01, 0.5, 0.99, 1 - 2.0**-20),
        is_two_sided=False,
    ),
    "KolmogorovSmirnovOneSided300": distance(300, [0.003, 0.016, 0.017, 0.06, 0.2], (), is_two_sided=False),
}
