"""Give textbook formulas, in mpmath, of kernels, ratios, lifetimes and skewed distributions."""

from collections.abc import Callable
from typing import Any

from accuracy import Family
from mpmath import mp
from references_continuous import placed, scaled
from references_core import beta_lower, beta_odds_quantile

import accord.distributions as dist


def arch(
    make: Callable[..., Any], log_density: Callable[[Any], Any], low_tail: Callable[[Any], Any]
) -> Family:
    """A symmetric density on (-1, 1), moved and stretched; its lower half as a function of the distance from -1."""

    def cdf(x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return low_tail(1 + z) if z < 0 else 1 - low_tail(1 - z)

    def quantile(q: Any, loc: Any, scale: Any) -> Any:
        if q > 0.5:
            return 2 * loc - quantile(1 - q, loc, scale)
        s = -mp.mpf(0.7)
        for _ in range(500):
            tail = low_tail(mp.exp(s))
            move = mp.log(tail / q) / (mp.exp(s + log_density(mp.exp(s) - 1)) / tail)
            s -= move
            if abs(move) < mp.mpf(10) ** -80:
                return loc + scale * (mp.exp(s) - 1)
        raise ValueError(q)

    near_ends = (-0.9999, -0.98, -0.6, -1e-4, 0.0, 0.3, 0.75, 0.99, 0.9999)
    return Family(
        make,
        ("loc", "scale"),
        lambda x, loc, scale: log_density((x - loc) / scale) - mp.log(scale),
        cdf,
        quantile,
        placed((*near_ends, -1 + 1e-6), (0.0, 1.0)) + placed(near_ends, (0.5, 2.0), (0.0, 1e-6), (-3e5, 1e6)),
    )


def polynomial(make: Callable[..., Any], power: int) -> Family:
    """A density proportional to (1 - z^2)^power, by the binomial theorem."""

    def constant() -> Any:
        return mp.gamma(power + mp.mpf(3) / 2) / mp.gamma(power + 1) / mp.sqrt(mp.pi)

    def low_tail(u: Any) -> Any:
        terms = (
            mp.binomial(power, k) * (-1) ** k * 2 ** (power - k) * u ** (power + k + 1) / (power + k + 1)
            for k in range(power + 1)
        )
        return constant() * sum(terms)

    return arch(make, lambda z: power * mp.log(1 - z * z) + mp.log(constant()), low_tail)


def segment(t: Any) -> Any:
    """(t - sin t) / (2 pi) by its series, of which the first term is t^3 / 6."""
    return sum((-1) ** k * t ** (2 * k + 3) / mp.factorial(2 * k + 3) for k in range(40)) / (2 * mp.pi)


def lindley_quantile(q: Any, r: Any) -> Any:
    # The W of a tiny negative argument, whose digits the product alone would lose.
    w = mp.lambertw(-(1 + r) * (1 - q) * mp.exp(-1 - r), -1)
    return mp.re(-1 - 1 / r - w / r)


def ratio_log_density(x: Any, a: Any, b: Any) -> Any:
    return (
        (a - 1) * mp.log(x) - (a + b) * mp.log1p(x) - (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))
    )


def ratio_cdf(x: Any, a: Any, b: Any) -> Any:
    return beta_lower(a, b, x / (1 + x), 1 / (1 + x))


def f_log_density(x: Any, m: Any, n: Any) -> Any:
    return ratio_log_density(x * m / n, m / 2, n / 2) + mp.log(m / n)


FAR = (1e-12, 1e-3, 0.3, 1.0, 2.0, 50.0, 1e4, 1e9)
SHAPES = ((2.0, 3.5), (0.3, 0.7), (1e-3, 0.5), (30.0, 0.3))
SHARP = (0.3, 0.99, 1.0, 1.003, 1.1)

KERNELS = {
    "Epanechnikov": polynomial(dist.Epanechnikov, 1),
    "Biweight": polynomial(dist.Biweight, 2),
    "Triweight": polynomial(dist.Triweight, 3),
    "Semicircle": arch(
        dist.Semicircle,
        lambda z: mp.log(2 * mp.sqrt(1 - z * z) / mp.pi),
        lambda u: segment(4 * mp.asin(mp.sqrt(u / 2))),
    ),
    "Cosine": arch(
        dist.Cosine,
        lambda z: mp.log((1 + mp.cos(mp.pi * z)) / 2),
        lambda u: segment(mp.pi * u),
    ),
}

POSITIVE = {
    "Lindley": Family(
        dist.Lindley,
        ("rate",),
        lambda x, r: 2 * mp.log(r) - mp.log(1 + r) + mp.log(1 + x) - r * x,
        lambda x, r: 1 - (1 + r * x / (1 + r)) * mp.exp(-r * x),
        lindley_quantile,
        scaled(
            (0.0, 1e-12, 1e-4, 0.2, 0.7, 1.0, 3.0, 60.0), lambda r: 1 / r, (1.0,), (0.3,), (1e-6,), (1e6,)
        ),
    ),
    "BetaPrime": Family(
        dist.BetaPrime,
        ("concentration1", "concentration0"),
        ratio_log_density,
        ratio_cdf,
        lambda q, a, b: mp.exp(beta_odds_quantile(q, a, b)),
        scaled(FAR, lambda a, b: a / b, *SHAPES)
        + scaled(SHARP, lambda a, b: a / b, (1e4, 1e4))
        + scaled((0.999, 1.0, 1.001), lambda a, b: a / b, (1e6, 1e6))
        + scaled((0.3, 1.0, 2.0), lambda a, b: a / b, (1e6, 1.0), (1e3, 0.5), (3.0, 1e5)),
        q=(1e-8, 0.01, 0.25, 0.5, 0.99),
    ),
    "FisherSnedecor": Family(
        dist.FisherSnedecor,
        ("df1", "df2"),
        f_log_density,
        lambda x, m, n: ratio_cdf(x * m / n, m / 2, n / 2),
        lambda q, m, n: n / m * mp.exp(beta_odds_quantile(q, m / 2, n / 2)),
        scaled(FAR, lambda *_: 1.0, (4.0, 7.0), (1.0, 1.0), (50.0, 3.0))
        + scaled(SHARP, lambda *_: 1.0, (1e4, 1e3))
        + scaled((0.999, 1.0, 1.001), lambda *_: 1.0, (1e6, 1e6)),
        q=(1e-8, 0.01, 0.25, 0.5, 0.99),
    ),
    # The distribution hardly depends on the larger number of degrees.
    "FisherSnedecor, lopsided": Family(
        dist.FisherSnedecor,
        ("df1", "df2"),
        f_log_density,
        lambda x, m, n: ratio_cdf(x * m / n, m / 2, n / 2),
        lambda q, m, n: n / m * mp.exp(beta_odds_quantile(q, m / 2, n / 2)),
        scaled((1e-3, 0.3, 1.0, 2.0), lambda *_: 1.0, (1e3, 1.0), (7.0, 1e5), (1e5, 7.0), (1.0, 1e6)),
        q=(1e-8, 0.01, 0.5, 0.99),
    ),
}

FAMILIES = KERNELS | POSITIVE
