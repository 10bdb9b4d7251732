"""Give textbook formulas of truncated families, in mpmath, and the points at which they are compared.

The mass between bounds is a difference of cdfs below the centre and of survival functions above it.
"""

import functools
from collections.abc import Callable
from typing import Any

from accuracy import Family
from mpmath import mp

import accord.distributions as dist

Q = (1e-3, 0.25, 0.5, 0.99, 1 - 2.0**-20)
LOW_Q = (1e-30, 1e-8, 0.5)


def truncated(
    build: Callable[..., dist.AbstractDistribution],
    names: tuple[str, ...],
    log_density: Callable[..., Any],
    tails: Callable[..., Any],
    points: list[tuple[tuple[float, ...], list[float]]],
    bounds: tuple[str, ...] = ("low", "high"),
    q: tuple[float, ...] = Q,
    digits: int = 90,
) -> Family:
    """A family with bounds as its last parameters; `tails` gives (cdf, survival), of which one may be None."""
    count = len(names)

    def split(parameters: tuple) -> tuple:
        given = dict(zip(bounds, parameters[count:], strict=True))
        return parameters[:count], given.get("low"), given.get("high")

    def mass(a: Any, b: Any, parameters: tuple) -> Any:
        (below_a, above_a), (below_b, above_b) = (
            end if x is None else tails(x, *parameters) for x, end in ((a, (0, 1)), (b, (1, 0)))
        )
        return above_a - above_b if above_a < below_b else below_b - below_a

    def density(x: Any, *parameters: Any) -> Any:
        own, low, high = split(parameters)
        return log_density(x, *own) - mp.log(mass(low, high, own))

    def cdf(x: Any, *parameters: Any) -> Any:
        own, low, high = split(parameters)
        return mass(low, x, own) / mass(low, high, own)

    def terms(x: Any, *parameters: Any) -> tuple[Any, Any, Any]:
        own, low, high = split(parameters)
        return log_density(x, *own), mp.log(mass(low, x, own)), mp.log(mass(low, high, own))

    @functools.cache
    def start(q: float, *parameters: float) -> Any:
        # Bisection on a scale that resolves both ends.
        with mp.workdps(40):
            q, parameters = mp.mpf(q), tuple(mp.mpf(p) for p in parameters)
            _, low, high = split(parameters)

            def at(s: Any) -> Any:
                if low is not None and high is not None:
                    return low + (high - low) / (1 + mp.exp(-s))
                end = high if low is None else low
                width = mp.exp(-density(end, *parameters))
                return high - width * mp.exp(-s) if low is None else low + width * mp.exp(s)

            left, right = mp.mpf(-110), mp.mpf(90)
            for _ in range(70):
                middle = (left + right) / 2
                left, right = (middle, right) if cdf(at(middle), *parameters) < q else (left, middle)
            return at(left)

    def quantile(q: Any, *parameters: Any) -> Any:
        x = start(float(q), *(float(p) for p in parameters))
        for _ in range(12):
            below = cdf(x, *parameters)
            x -= (below - q) / mp.exp(density(x, *parameters))
            if abs(below - q) <= q * mp.mpf(10) ** (5 - digits):
                break
        return x

    def make(*parameters: Any) -> dist.AbstractDistribution:
        own, low, high = split(parameters)
        return build(*own).truncate(low, high)

    return Family(make, (*names, *bounds), density, cdf, quantile, points, q, terms=terms, digits=digits)


def cauchy(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return -mp.log(mp.pi * scale * (1 + z * z))


def cauchy_tails(x: Any, loc: Any, scale: Any) -> tuple:
    z = (x - loc) / scale
    return mp.atan2(1, -z) / mp.pi, mp.atan2(1, z) / mp.pi


def laplace(x: Any, loc: Any, scale: Any) -> Any:
    return -abs(x - loc) / scale - mp.log(2 * scale)


def laplace_tails(x: Any, loc: Any, scale: Any) -> tuple:
    z = (x - loc) / scale
    small = mp.exp(-abs(z)) / 2
    return (1 - small, small) if z > 0 else (small, 1 - small)


def logistic(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return -z - mp.log(scale) - 2 * mp.log(1 + mp.exp(-z))


def logistic_tails(x: Any, loc: Any, scale: Any) -> tuple:
    z = (x - loc) / scale
    return 1 / (1 + mp.exp(-z)), 1 / (1 + mp.exp(z))


def normal(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return -z * z / 2 - mp.log(scale * mp.sqrt(2 * mp.pi))


def normal_tails(x: Any, loc: Any, scale: Any) -> tuple:
    z = (x - loc) / (scale * mp.sqrt(2))
    return mp.erfc(-z) / 2, mp.erfc(z) / 2


def exponential(x: Any, rate: Any) -> Any:
    return mp.log(rate) - rate * x


def exponential_tails(x: Any, rate: Any) -> tuple:
    return -mp.expm1(-rate * x), mp.exp(-rate * x)


def gamma(x: Any, a: Any, rate: Any) -> Any:
    return a * mp.log(rate) + (a - 1) * mp.log(x) - rate * x - mp.loggamma(a)


def gamma_tails(x: Any, a: Any, rate: Any) -> tuple:
    z = rate * x
    if z < a + 1:
        below = mp.exp(a * mp.log(z) - z - mp.loggamma(a + 1)) * mp.hyp1f1(1, a + 1, z)
        return below, 1 - below
    above = mp.gammainc(a, z, mp.inf, regularized=True)
    return 1 - above, above


def beta(x: Any, a: Any, b: Any) -> Any:
    return (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b))


def beta_tails(x: Any, a: Any, b: Any) -> tuple:
    def lower(x: Any, a: Any, b: Any) -> Any:
        front = mp.exp(a * mp.log(x) + b * mp.log(1 - x)) / (a * mp.beta(a, b))
        return front * mp.hyp2f1(a + b, 1, a + 1, x)

    if x < a / (a + b):
        below = lower(x, a, b)
        return below, 1 - below
    above = lower(1 - x, b, a)
    return 1 - above, above


def student(x: Any, df: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    constant = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2) - mp.log(df * mp.pi) / 2 - mp.log(scale)
    return constant - (df + 1) / 2 * mp.log(1 + z * z / df)


def student_tails(x: Any, df: Any, loc: Any, scale: Any) -> tuple:
    z = (x - loc) / scale
    small = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + z * z), regularized=True) / 2
    return (1 - small, small) if z > 0 else (small, 1 - small)


def standard(function: Callable[..., Any], loc: float = 0.0) -> Callable[..., Any]:
    """A formula with the location fixed: far from it, exponential tails do not depend on it at all."""
    return lambda x, scale: function(x, mp.mpf(loc), scale)


LOC_SCALE, SCALE = ("loc", "scale"), ("scale",)
CENTRE = [((0.5, 2.0, -1.0, 3.0), [-0.96875, 0.5, 2.5]), ((0.25, 1.0, 0.0, 0.75), [0.0625, 0.5])]
NARROW = [
    ((0.0, 1.0, -1e-7, 1e-6), [-5e-8, 5e-7]),
    ((-0.25, 1e-3, -0.2501, -0.2499), [-0.25005, -0.24995]),
]
OFF_CENTRE = [
    ((0.3, 2.0, 1.0, 1 + 2.0**-20), [1 + 2.0**-21]),
    ((0.3, 2.0, 1.0, 1.0009765625), [1.00048828125]),
    ((0.0, 1e4, 0.5, 2.0), [0.75, 1.5]),
    ((0.0, 1.0, -2.0, -1.9375), [-1.96875]),
]
HEAVY = [
    ((0.0, 1.0, 0.0, 1e-6), [3e-7, 1e-6]),
    ((0.0, 1.0, 4.0, 12.0), [8.0]),
    ((1.0, 0.5, 2.0, 2.0009765625), [2.00048828125]),
    ((0.0, 1e-6, -1e6, 1e6), [-1e-6]),
]
FAR = [
    ((1.0, 40.0, 41.0), [40.25]),
    ((1.0, -700.0, -600.0), [-650.0, -600.5]),
    ((2.0, 1.0, 1.0009765625), [1.00048828125]),
    ((2.0, 1.0, 1 + 2.0**-20), [1 + 2.0**-21]),
    ((1.0, 1000.0, 1001.0), [1000.5]),
]

FAMILIES = {
    "Truncated Cauchy": truncated(
        dist.Cauchy, LOC_SCALE, cauchy, cauchy_tails, CENTRE + NARROW + OFF_CENTRE + HEAVY
    ),
    "Truncated Cauchy from 0": truncated(
        lambda scale, low=0.0: dist.Cauchy(low, scale).truncate(low),
        SCALE,
        lambda x, scale: cauchy(x, mp.mpf(0), scale) + mp.log(2),
        lambda x, scale: (2 * mp.atan(x / scale) / mp.pi, 2 * mp.atan2(1, x / scale) / mp.pi),
        [((1.0, 0.75), [1e-20, 0.5]), ((2.0, 1e-6), [1e-20, 5e-7])],
        ("high",),
        LOW_Q,
    ),
    "Truncated Cauchy, one-sided": truncated(
        dist.Cauchy,
        LOC_SCALE,
        cauchy,
        cauchy_tails,
        [((0.0, 1.0, 40.0), [40.5, 45.0]), ((0.5, 3.0, -2.0), [-1.0, 4.0]), ((0.0, 1e-3, 5.0), [5.001])],
        ("low",),
    ),
    "Truncated Laplace": truncated(dist.Laplace, LOC_SCALE, laplace, laplace_tails, CENTRE + NARROW),
    "Truncated Laplace, far": truncated(
        lambda scale: dist.Laplace(0.0, scale), SCALE, standard(laplace), standard(laplace_tails), FAR
    ),
    "Truncated Logistic": truncated(
        dist.Logistic, LOC_SCALE, logistic, logistic_tails, CENTRE + NARROW + OFF_CENTRE
    ),
    "Truncated Logistic, far": truncated(
        lambda scale: dist.Logistic(0.0, scale), SCALE, standard(logistic), standard(logistic_tails), FAR
    ),
    "Truncated Logistic, one-sided": truncated(
        dist.Logistic,
        LOC_SCALE,
        logistic,
        logistic_tails,
        [((1.0, 2.0, 1.5), [1.0, -3.0]), ((0.0, 1.0, -4.0), [-5.0])],
        ("high",),
    ),
    "Truncated Exponential": truncated(
        dist.Exponential,
        ("rate",),
        exponential,
        exponential_tails,
        [
            ((2.0, 0.5, 3.0), [0.75, 2.5]),
            ((1.0, 1e-7, 1e-6), [5e-7]),
            ((1.0, 1.0, 1.0009765625), [1.00048828125]),
            ((1.0, 1.0, 1 + 2.0**-20), [1 + 2.0**-21]),
            ((1e-6, 3.0, 5.0), [4.0]),
            ((1.0, 500.0, 510.0), [501.0]),
        ],
    ),
    "Truncated Exponential, above": truncated(
        dist.Exponential,
        ("rate",),
        exponential,
        exponential_tails,
        [((1.0, 1e-6), [1e-20, 5e-7]), ((2.0, 0.75), [1e-10, 0.5]), ((1e-3, 1e-5), [5e-6])],
        ("high",),
        LOW_Q,
    ),
    "Truncated Normal": truncated(
        dist.Normal,
        LOC_SCALE,
        normal,
        normal_tails,
        CENTRE
        + OFF_CENTRE
        + [
            ((0.0, 1.0, 0.0, 1e-6), [3e-7]),
            ((0.0, 1.0, 40.0, 41.0), [40.0078125]),
            ((0.5, 2.0, -90.0, -80.0), [-80.25]),
            ((0.0, 1.0, 40.0, 40.00390625), [40.001953125]),
            ((0.0, 1.0, -8.0, 9.0), [7.5, -7.5]),
        ],
        # The farther bound moves the distribution by 1e-93 in one of them.
        digits=200,
    ),
    "Truncated StudentT": truncated(
        dist.StudentT,
        ("df", *LOC_SCALE),
        student,
        student_tails,
        [
            ((3.0, 0.5, 2.0, -1.0, 3.0), [-0.5, 2.5]),
            ((5.0, 0.0, 1.0, 0.0, 1e-6), [5e-7]),
            ((0.5, 0.0, 1.0, 40.0, 4000.0), [60.0]),
            ((200.0, 0.0, 1.0, 8.0, 9.0), [8.25]),
            ((4.0, 0.3, 2.0, 1.0, 1.0009765625), [1.00048828125]),
            ((4.0, 0.3, 2.0, 1.0, 1 + 2.0**-20), [1 + 2.0**-21]),
        ],
    ),
    "Truncated Gamma": truncated(
        dist.Gamma,
        ("concentration", "rate"),
        gamma,
        gamma_tails,
        [
            ((2.5, 3.0, 0.25, 2.0), [0.5, 1.5]),
            ((0.5, 1.0, 1e-8, 0.1), [1e-6, 0.05]),
            ((0.01, 1.0, 1e-4, 1.0), [1e-3, 0.5]),
            ((3.0, 2.0, 1.0, 1.0009765625), [1.00048828125]),
            ((3.0, 2.0, 1.0, 1 + 2.0**-20), [1 + 2.0**-21]),
            ((2.0, 1.0, 60.0, 62.0), [61.0]),
            ((400.0, 1.0, 250.0, 260.0), [259.0]),
        ],
    ),
    "Truncated Beta": truncated(
        dist.Beta,
        ("concentration1", "concentration0"),
        beta,
        beta_tails,
        [
            ((2.0, 3.5, 0.25, 0.75), [0.3, 0.7]),
            ((0.5, 0.5, 1e-6, 0.5), [1e-5, 0.25]),
            ((3.0, 2.0, 0.5, 0.50048828125), [0.500244140625]),
            ((3.0, 2.0, 0.5, 0.5 + 2.0**-21), [0.5 + 2.0**-22]),
            ((40.0, 50.0, 0.875, 0.9375), [0.88]),
            ((200.0, 300.0, 0.0625, 0.125), [0.1]),
        ],
    ),
}
