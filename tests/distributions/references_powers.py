"""Give textbook formulas, in mpmath, of power laws."""

from typing import Any

from accuracy import Family
from mpmath import mp
from references_continuous import placed, scaled

import accord.distributions as dist


def pareto_log_density(x: Any, s: Any, a: Any) -> Any:
    return mp.log(a / x) + a * mp.log(s / x)


def gpd_survival(x: Any, loc: Any, scale: Any, shape: Any) -> Any:
    z = (x - loc) / scale
    return mp.exp(-z) if shape == 0 else (1 + shape * z) ** (-1 / shape)


def gpd_quantile(q: Any, loc: Any, scale: Any, shape: Any) -> Any:
    e = -mp.log1p(-q)
    return loc + scale * (e if shape == 0 else mp.expm1(shape * e) / shape)


def power_mass(alpha: Any, low: Any, high: Any) -> Any:
    a = alpha + 1
    return mp.log(high / low) if a == 0 else (high**a - low**a) / a


def power_quantile(q: Any, alpha: Any, low: Any, high: Any) -> Any:
    a = alpha + 1
    if a == 0:
        return low * (high / low) ** q
    return (low**a + q * (high**a - low**a)) ** (1 / a)


STEPS = (1.0, 1 + 1e-6, 1.01, 1.5, 4.0, 1e3, 1e8, 1e20)
INSIDE = (0.0, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999, 1.0)


def between(*parameters: tuple[float, ...]) -> list:
    """Points between the ends, which are the last two parameters."""
    return [(p, [p[-2] + (p[-1] - p[-2]) * share for share in INSIDE]) for p in parameters]


FAMILIES = {
    "Pareto": Family(
        dist.Pareto,
        ("scale", "alpha"),
        pareto_log_density,
        lambda x, s, a: -mp.expm1(a * mp.log(s / x)),
        lambda q, s, a: s * (1 - q) ** (-1 / a),
        scaled(STEPS, lambda s, a: s, (2.0, 3.0), (1e-6, 0.5), (1e6, 1.0), (1.0, 1e-6))
        + scaled((1.0, 1 + 1e-7, 1 + 1e-5, 1.005), lambda s, a: s, (1.0, 1e6)),
    ),
    "LowerTruncatedPowerLaw": Family(
        dist.LowerTruncatedPowerLaw,
        ("alpha", "low"),
        lambda x, alpha, low: pareto_log_density(x, low, -1 - alpha),
        lambda x, alpha, low: -mp.expm1((-1 - alpha) * mp.log(low / x)),
        lambda q, alpha, low: low * (1 - q) ** (1 / (1 + alpha)),
        scaled(STEPS, lambda alpha, low: low, (-4.0, 2.0), (-1.5, 1e-6), (-2.0, 1e6), (-1.001, 1.0)),
    ),
    "GeneralizedPareto": Family(
        dist.GeneralizedPareto,
        ("loc", "scale", "shape"),
        lambda x, *p: (1 + p[2]) * mp.log(gpd_survival(x, *p)) - mp.log(p[1]),
        lambda x, *p: 1 - gpd_survival(x, *p),
        gpd_quantile,
        placed((1e-9, 1e-3, 0.3, 1.0, 10.0, 90.0), (0.0, 1.0, 1e-7), (1.5, 0.5, -1e-4), (0.0, 2.0, 0.05))
        + placed((1e-4, 0.3, 1.0, 30.0, 1e4, 1e9), (0.5, 2.0, 0.5), (0.0, 1e-6, 0.3), (-1.0, 1e6, 5.0))
        + placed((1e-4, 0.3, 1.0, 1.9, 1.999), (0.5, 2.0, -0.5), (0.0, 1e6, -0.4999))
        + placed((1e-4, 0.1, 0.19), (1.0, 1.0, -5.0)),
        q=(1e-20, 1e-8, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 2.0**-20),
    ),
    "LogUniform": Family(
        dist.LogUniform,
        ("low", "high"),
        lambda x, low, high: -mp.log(x) - mp.log(mp.log(high / low)),
        lambda x, low, high: mp.log(x / low) / mp.log(high / low),
        lambda q, low, high: low * (high / low) ** q,
        between((0.5, 3.0), (1e-6, 1e6), (2.0, 2.001), (1e-20, 1e20)),
    ),
    "DoublyTruncatedPowerLaw": Family(
        dist.DoublyTruncatedPowerLaw,
        ("alpha", "low", "high"),
        lambda x, *p: p[0] * mp.log(x) - mp.log(power_mass(*p)),
        lambda x, *p: power_mass(p[0], p[1], x) / power_mass(*p),
        power_quantile,
        between(
            (1.5, 0.5, 3.0), (-2.5, 0.5, 3.0), (-1.0 + 1e-7, 0.5, 3.0), (-1.001, 1e-6, 1e6), (0.0, 2.0, 2.01)
        )
        + between((1e4, 1.0, 2.0), (-1e4, 1.0, 2.0), (1e6, 1.0, 1.00002), (-1e6, 1.0, 1.00002)),
    ),
}
