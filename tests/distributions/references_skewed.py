"""Give textbook formulas, in mpmath, of distributions that bend or extend the normal one."""

from collections.abc import Callable
from typing import Any

from accuracy import Family
from mpmath import mp
from references_continuous import placed
from references_core import gamma_quantile_upper, gamma_upper, normal_cdf

import accord.distributions as dist

_STARTS: dict[tuple, Any] = {}


def inverse(
    make: Callable[..., Any], cdf: Callable[..., Any], log_density: Callable[..., Any]
) -> Callable[..., Any]:
    """The quantile by Newton's method from where accord puts it; arguments that round alike share one start."""

    def solve(q: Any, *parameters: Any) -> Any:
        at = (make, float(q), *map(float, parameters))
        x = _STARTS.get(at) or mp.mpf(float(make(*at[2:]).icdf(at[1])))
        for _ in range(60):
            below = cdf(x, *parameters)
            move = mp.log(below / q) * below / mp.exp(log_density(x, *parameters))
            x -= move
            if (
                abs(move) < max(abs(x), mp.mpf(10) ** -6) * mp.mpf(10) ** -42
            ):  # the next move would be below its square
                _STARTS.setdefault(at, x)
                return x
        raise ValueError(f"no quantile found at {at}")

    return solve


def generalized_tail(size: Any, power: Any) -> Any:
    return gamma_upper(1 / power, size**power) / 2


def generalized_cdf(x: Any, loc: Any, scale: Any, power: Any) -> Any:
    z = (x - loc) / scale
    return generalized_tail(-z, power) if z < 0 else 1 - generalized_tail(z, power)


def generalized_quantile(q: Any, loc: Any, scale: Any, power: Any) -> Any:
    if q == 0.5:
        return loc
    if q > 0.5:
        return 2 * loc - generalized_quantile(1 - q, loc, scale, power)
    return loc - scale * gamma_quantile_upper(2 * q, 1 / power) ** (1 / power)


def skew_light_tail(z: Any, skewness: Any) -> Any:
    """What lies beyond z >= 0 on the lighter side: exp(-z^2 (1 + t^2) / 2) / (pi (1 + t^2)) over t > skewness."""
    with mp.workdps(64):
        if z < 0.5 or abs(skewness) < 0.1:
            start = mp.atan(skewness)
            stops = [start + (mp.pi / 2 - start) * part for part in (0, 0.02, 0.1, 0.3, 0.6, 1)]
            return mp.quad(lambda a: mp.exp(-z * z / (2 * mp.cos(a) ** 2)), stops) / mp.pi

        def integrand(y: Any) -> Any:
            t = mp.sqrt(skewness**2 + 2 * y / z**2)
            return mp.exp(-y) / (t * (1 + t * t))

        total = mp.quad(integrand, [0, 0.05, 0.5, 3, 10, 30, 80, 200])
        return total * mp.exp(-z * z * (1 + skewness**2) / 2) / (mp.pi * z * z)


def skew_cdf(x: Any, loc: Any, scale: Any, skewness: Any) -> Any:
    z = (x - loc) / scale
    light, inner = skew_light_tail(abs(z), abs(skewness)), mp.erf(abs(z) / mp.sqrt(2))
    if skewness < 0:
        return 1 - light if z >= 0 else mp.erfc(abs(z) / mp.sqrt(2)) - light
    return light if z < 0 else inner + light


def skew_log_density(x: Any, loc: Any, scale: Any, skewness: Any) -> Any:
    z = (x - loc) / scale
    return mp.log(2 * mp.npdf(z) * normal_cdf(skewness * z) / scale)


def modified_cdf(x: Any, loc: Any, scale: Any, rate: Any) -> Any:
    z, k = (x - loc) / scale, rate * scale
    with mp.workdps(mp.dps + 20):
        return normal_cdf(z) - mp.exp(k * k / 2 - k * z) * normal_cdf(z - k)


def modified_log_density(x: Any, loc: Any, scale: Any, rate: Any) -> Any:
    z, k = (x - loc) / scale, rate * scale
    return mp.log(rate) + k * k / 2 - k * z + mp.log(normal_cdf(z - k))


FEW = (1e-8, 0.01, 0.25, 0.5, 0.99)

FAMILIES = {
    "GeneralizedNormal": Family(
        dist.GeneralizedNormal,
        ("loc", "scale", "power"),
        lambda x, loc, scale, p: mp.log(p / (2 * scale)) - mp.loggamma(1 / p) - (abs(x - loc) / scale) ** p,
        generalized_cdf,
        generalized_quantile,
        placed((-90.0, -5.0, -1.0, -1e-6, 0.3, 2.0, 10.0), (0.0, 1.0, 2.0), (0.5, 2.0, 1.0))
        + placed((-2e3, -7.0, -1e-4, 0.3, 30.0), (0.0, 1e6, 0.5), (0.0, 1.0, 0.7))
        + placed((-2.0, -1.0, -1e-6, 0.3, 1.3), (0.0, 1e-6, 8.0))
        + placed((-1.002, -0.999, -0.2, 1.001), (0.0, 1.0, 1e3)),
        q=(1e-8, 0.01, 0.25, 0.5, 0.75, 0.99),
    ),
    "SkewNormal": Family(
        dist.SkewNormal,
        ("loc", "scale", "skewness"),
        skew_log_density,
        skew_cdf,
        inverse(dist.SkewNormal, skew_cdf, skew_log_density),
        placed((-40.0, -5.0, -1.0, -1e-3, 0.7, 2.5, 9.0), (0.5, 2.0, 1.5))
        + placed((-10.0, -2.5, 0.7), (0.0, 1e6, -4.0), (0.0, 1e-6, 0.0))
        + placed((-1e-2, 1e-3, 1.0, 7.0), (0.0, 1.0, 1e3))
        + placed((-1e-6, 0.7, 7.0), (0.0, 1.0, 1e6)),
        q=(0.3, 0.99),
    ),
    "ExponentiallyModifiedGaussian": Family(
        dist.ExponentiallyModifiedGaussian,
        ("loc", "scale", "rate"),
        modified_log_density,
        modified_cdf,
        inverse(dist.ExponentiallyModifiedGaussian, modified_cdf, modified_log_density),
        placed((-130.0, -8.0, -1.0, -1e-3, 0.7, 2.5, 12.0), (0.0, 1.0, 1.0), (0.5, 2.0, 0.1))
        + placed((-30.0, -1.0, 0.7, 9.0, 1e4, 1e6), (0.0, 1.0, 1e-6), (0.0, 1e6, 1e-9))
        + placed((-30.0, -4.0, 1e-3, 2.0, 8.0), (0.0, 1.0, 40.0), (0.0, 1e-6, 1e12)),
        q=FEW,
    ),
}
