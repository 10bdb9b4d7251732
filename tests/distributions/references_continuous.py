"""Give textbook formulas, in mpmath, of continuous families on the line and of lifetimes."""

from collections.abc import Callable, Iterable
from typing import Any

from accuracy import Family
from mpmath import mp

import accord.distributions as dist

# Upper tails below 1e-50 and above the smallest double are left out: 90 digits do not hold the slope of their cdf.
Z = (-1e4, -300.0, -30.0, -5.0, -1.0, -0.3, 0.01, 0.7, 2.5, 12.0, 100.0, 1e4)


def placed(z: Iterable[float], *parameters: tuple[float, ...]) -> list:
    """Points at loc + scale * z for each set of parameters, which begin with loc and scale."""
    z = tuple(z)
    return [(p, [p[0] + p[1] * each for each in z]) for p in parameters]


def scaled(factors: Iterable[float], scale: Callable[..., float], *parameters: tuple[float, ...]) -> list:
    """Points at multiples of a typical size, for each set of parameters."""
    factors = tuple(factors)
    return [(p, [scale(*p) * each for each in factors]) for p in parameters]


def laplace_cdf(x: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2


def two_sided(x: Any, loc: Any, scale: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Log density and cdf of two exponential tails of the given rates."""
    z, total = (x - loc) / scale, left + right
    log_density = mp.log(left * right / total / scale) + (left * z if z < 0 else -right * z)
    cdf = right / total * mp.exp(left * z) if z < 0 else 1 - left / total * mp.exp(-right * z)
    return log_density, cdf


def two_sided_quantile(q: Any, loc: Any, scale: Any, left: Any, right: Any) -> Any:
    total = left + right
    if q < right / total:
        return loc + scale * mp.log(q * total / right) / left
    return loc - scale * mp.log((1 - q) * total / left) / right


def gev_t(x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    z = (x - loc) / scale
    return mp.exp(-z) if shape == 0 else (1 + shape * z) ** (-1 / shape)


def gev_quantile(q: Any, loc: Any, scale: Any, shape: Any) -> Any:
    t = -mp.log(q)
    return loc + scale * (-mp.log(t) if shape == 0 else (t**-shape - 1) / shape)


GEV_NEAR_0 = ((0.0, 1.0, 1e-7), (1.5, 0.5, -1e-4), (0.0, 2.0, 0.05))

LINE = {
    "Laplace": Family(
        dist.Laplace,
        ("loc", "scale"),
        lambda x, loc, scale: -abs(x - loc) / scale - mp.log(2 * scale),
        laplace_cdf,
        lambda q, loc, scale: loc + scale * (mp.log(2 * q) if q < 0.5 else -mp.log(2 - 2 * q)),
        placed(Z, (0.0, 1.0), (0.5, 2.0), (-3.0, 1e6), (0.0, 1e-6)),
    ),
    "AsymmetricLaplace": Family(
        dist.AsymmetricLaplace,
        ("loc", "scale", "asymmetry"),
        lambda x, loc, scale, k: two_sided(x, loc, scale, 1 / k, k)[0],
        lambda x, loc, scale, k: two_sided(x, loc, scale, 1 / k, k)[1],
        lambda q, loc, scale, k: two_sided_quantile(q, loc, scale, 1 / k, k),
        placed((*Z[:-2], 1e4), (0.0, 1.0, 1.0), (0.5, 2.0, 0.3), (-3.0, 1e6, 4.0))
        + placed((-1e-3, -1e-9, 1e-9, 1e-3, 1.0, 1e5), (0.0, 1.0, 1e-6), (0.0, 1.0, 1e-3))
        + placed((-1e5, -1.0, -1e-3, 1e-8, 1e-4), (0.0, 1.0, 1e6), (0.0, 1.0, 1e3)),
    ),
    "AsymmetricLaplaceQuantile": Family(
        dist.AsymmetricLaplaceQuantile,
        ("loc", "scale", "quantile"),
        lambda x, loc, scale, p: two_sided(x, loc, scale, 1 - p, p)[0],
        lambda x, loc, scale, p: two_sided(x, loc, scale, 1 - p, p)[1],
        lambda q, loc, scale, p: two_sided_quantile(q, loc, scale, 1 - p, p),
        placed(Z, (0.0, 1.0, 0.5), (0.5, 2.0, 0.1), (-3.0, 1e6, 0.95), (0.0, 1e-6, 1e-6)),
    ),
    "Logistic": Family(
        dist.Logistic,
        ("loc", "scale"),
        lambda x, loc, scale: -(x - loc) / scale - 2 * mp.log1p(mp.exp(-(x - loc) / scale)) - mp.log(scale),
        lambda x, loc, scale: 1 / (1 + mp.exp(-(x - loc) / scale)),
        lambda q, loc, scale: loc + scale * mp.log(q / (1 - q)),
        placed((*Z, 1e-8), (0.0, 1.0), (0.5, 2.0), (-3.0, 1e6), (0.0, 1e-6)),
    ),
    "SoftLaplace": Family(
        dist.SoftLaplace,
        ("loc", "scale"),
        lambda x, loc, scale: -mp.log(mp.pi * scale * mp.cosh((x - loc) / scale)),
        lambda x, loc, scale: (
            2 / mp.pi * mp.atan(mp.exp((x - loc) / scale))
            if x < loc
            else 1 - 2 / mp.pi * mp.atan(mp.exp((loc - x) / scale))
        ),
        lambda q, loc, scale: loc + scale * mp.log(mp.tan(mp.pi * q / 2)),
        placed((*Z, 1e-8), (0.0, 1.0), (0.5, 2.0), (-3.0, 1e6), (0.0, 1e-6)),
    ),
    "Gumbel": Family(
        dist.Gumbel,
        ("loc", "scale"),
        lambda x, loc, scale: -(x - loc) / scale - mp.exp(-(x - loc) / scale) - mp.log(scale),
        lambda x, loc, scale: mp.exp(-mp.exp(-(x - loc) / scale)),
        lambda q, loc, scale: loc - scale * mp.log(-mp.log(q)),
        placed(
            (-9.2, -6.0, -3.0, -1.0, -1e-8, 1e-8, 0.5, 3.0, 20.0, 100.0, 1e4),
            *((0.0, 1.0), (0.5, 2.0), (-3.0, 1e6), (0.0, 1e-6)),
        ),
    ),
    "GeneralizedExtremeValue": Family(
        dist.GeneralizedExtremeValue,
        ("loc", "scale", "shape"),
        lambda x, *p: (p[2] + 1) * mp.log(gev_t(x, *p)) - gev_t(x, *p) - mp.log(p[1]),
        lambda x, *p: mp.exp(-gev_t(x, *p)),
        gev_quantile,
        placed((-6.0, -2.0, -0.5, 0.0, 0.1, 1.0, 15.0), *GEV_NEAR_0)
        + placed((-1.9, -1.0, -0.1, 0.2, 1.0, 30.0, 1e4, 1e9), (0.5, 2.0, 0.5), (0.0, 1e-6, 0.3))
        + placed((-20.0, -5.0, -0.5, 0.3, 1.0, 1.9, 1.999), (0.5, 2.0, -0.5), (0.0, 1e6, -0.4999))
        + placed((-0.19, -0.1, 0.0, 5.0, 1e12), (1.0, 1.0, 5.0))
        + placed((-2e5, -3.0, 0.0, 0.19), (1.0, 1.0, -5.0)),
        q=(1e-30, 1e-8, 0.01, 0.25, 0.37, 0.5, 0.75, 0.99, 1 - 2.0**-20),
    ),
}


def frechet_t(x: Any, c: Any, scale: Any) -> Any:
    return (x / scale) ** -c


def weibull_t(x: Any, scale: Any, c: Any) -> Any:
    return (x / scale) ** c


def dagum_odds(x: Any, a: Any, scale: Any) -> Any:
    return (x / scale) ** a


LIFETIMES = {
    "Frechet": Family(
        dist.Frechet,
        ("concentration", "scale"),
        lambda x, c, s: mp.log(c / x) - c * mp.log(x / s) - frechet_t(x, c, s),
        lambda x, c, s: mp.exp(-frechet_t(x, c, s)),
        lambda q, c, s: s * (-mp.log(q)) ** (-1 / c),
        scaled((0.05, 0.2, 0.5, 0.9, 1.0, 1.1, 3.0, 100.0, 1e8), lambda c, s: s, (2.5, 3.0), (0.5, 1e-6))
        + scaled((1e-20, 0.1, 1.0, 1e20), lambda c, s: s, (1e-6, 2.0), (1e-3, 2.0))
        + scaled((1 - 9e-6, 1 - 1e-6, 1.0, 1 + 1e-6, 1.005), lambda c, s: s, (1e6, 1.0), (1e6, 1e6)),
    ),
    "Weibull": Family(
        dist.Weibull,
        ("scale", "concentration"),
        lambda x, s, c: mp.log(c / x) + c * mp.log(x / s) - weibull_t(x, s, c),
        lambda x, s, c: -mp.expm1(-weibull_t(x, s, c)),
        lambda q, s, c: s * (-mp.log1p(-q)) ** (1 / c),
        scaled((1e-20, 1e-8, 0.05, 0.5, 1.0, 1.1, 3.0, 20.0), lambda s, c: s, (3.0, 2.5), (1e-6, 0.5))
        + scaled((1e-8, 0.5, 1.0, 8.0, 1e4), lambda s, c: s, (0.5, 1.0), (1.0, 1.5))
        + scaled((1e-20, 0.1, 1.0, 1e20), lambda s, c: s, (2.0, 1e-6), (2.0, 1e-3))
        + scaled((0.995, 1 - 1e-6, 1.0, 1 + 1e-6, 1 + 9e-6), lambda s, c: s, (1.0, 1e6), (1e6, 1e6)),
        q=(1e-30, 1e-8, 0.01, 0.25, 0.5, 0.632, 0.75, 0.99, 1 - 2.0**-20),
    ),
    "Rayleigh": Family(
        dist.Rayleigh,
        ("scale",),
        lambda x, s: mp.log(x) - 2 * mp.log(s) - (x / s) ** 2 / 2,
        lambda x, s: -mp.expm1(-((x / s) ** 2) / 2),
        lambda q, s: s * mp.sqrt(-2 * mp.log1p(-q)),
        scaled(
            (1e-12, 1e-4, 0.3, 0.99, 1.0, 1.6, 5.0, 13.0, 140.0), lambda s: s, (1.0,), (2.5,), (1e-6,), (1e6,)
        ),
    ),
    "Gompertz": Family(
        dist.Gompertz,
        ("concentration", "rate"),
        lambda x, c, r: mp.log(c * r) + r * x - c * mp.expm1(r * x),
        lambda x, c, r: -mp.expm1(-c * mp.expm1(r * x)),
        lambda q, c, r: mp.log1p(-mp.log1p(-q) / c) / r,
        scaled(
            (0.0, 1e-12, 1e-4, 0.3, 1.0, 2.0, 4.0, 9.0),
            lambda c, r: 1 / r,
            (0.5, 1.0),
            (2.0, 3.0),
            (0.1, 1e-6),
        )
        + scaled((1e-9, 0.1, 10.0, 14.0, 16.0, 22.0), lambda c, r: 1 / r, (1e-6, 1.0), (1e-6, 1e6))
        + scaled((1e-15, 1e-8, 1e-6, 1e-5, 1e-2), lambda c, r: 1 / r, (1e6, 1.0), (1e6, 1e-6)),
    ),
    "Dagum": Family(
        dist.Dagum,
        ("concentration", "sharpness", "scale"),
        lambda x, p, a, b: (
            mp.log(a * p / x) + p * mp.log(dagum_odds(x, a, b)) - (p + 1) * mp.log1p(dagum_odds(x, a, b))
        ),
        lambda x, p, a, b: (1 + 1 / dagum_odds(x, a, b)) ** -p,
        lambda q, p, a, b: b * (q ** (-1 / p) - 1) ** (-1 / a),
        scaled(
            (1e-15, 1e-6, 0.1, 0.7, 1.0, 1.5, 10.0, 1e6, 1e15),
            lambda p, a, b: b,
            *((2.0, 3.0, 1.5), (0.3, 0.8, 1e-6)),
        )
        + scaled((1e-10, 0.5, 1.0, 1e10), lambda p, a, b: b, (1e-6, 2.0, 1e6), (2.0, 1e-6, 1.0))
        + scaled((0.3, 1.0, 50.0, 1e4), lambda p, a, b: b * p ** (1 / a), (1e6, 2.0, 1.0))
        + scaled((0.99, 1 - 1e-6, 1.0, 1 + 1e-6, 1.01), lambda p, a, b: b, (2.0, 1e6, 1.0)),
    ),
    "LogLogistic": Family(
        dist.LogLogistic,
        ("scale", "concentration"),
        lambda x, b, a: mp.log(a / x) + mp.log(dagum_odds(x, a, b)) - 2 * mp.log1p(dagum_odds(x, a, b)),
        lambda x, b, a: 1 / (1 + 1 / dagum_odds(x, a, b)),
        lambda q, b, a: b * (q / (1 - q)) ** (1 / a),
        scaled((1e-15, 1e-6, 0.1, 0.7, 1.0, 1.5, 10.0, 1e6, 1e15), lambda b, a: b, (1.5, 3.0), (1e-6, 0.8))
        + scaled((1e-10, 0.5, 1.0, 1e10), lambda b, a: b, (1.0, 1e-6))
        + scaled((0.99, 1 - 1e-6, 1.0, 1 + 1e-6, 1.01), lambda b, a: b, (2.0, 1e6)),
    ),
}

FAMILIES = LINE | LIFETIMES
