"""Give textbook formulas, in mpmath, of first-passage times and of families on intervals."""

from typing import Any

from accuracy import Family
from mpmath import mp
from references_continuous import placed, scaled

import accord.distributions as dist


def levy_quantile(q: Any, loc: Any, scale: Any) -> Any:
    return loc + scale / (2 * mp.erfinv(1 - q) ** 2) if q > 1e-3 else loc + scale / (2 * erfc_inverse(q) ** 2)


def erfc_inverse(q: Any) -> Any:
    """The x at which erfc(x) = q, for small q, by Newton's method on the logarithm."""
    x = mp.sqrt(-mp.log(q))
    for _ in range(200):
        value = mp.erfc(x)
        move = (mp.log(value) - mp.log(q)) * value / (-2 / mp.sqrt(mp.pi) * mp.exp(-x * x))
        x -= move
        if abs(move) < mp.mpf(10) ** -85:
            break
    return x


def inverse_gaussian_cdf(x: Any, m: Any, c: Any) -> Any:
    root = mp.sqrt(c / x)
    near, far = root * (x / m - 1), root * (x / m + 1)
    # The second term is exp(2 c / m) times a tail, computed so that it does not overflow.
    return mp.ncdf(near) + mp.exp(2 * c / m) * mp.ncdf(-far)


def inverse_gaussian_quantile(q: Any, m: Any, c: Any) -> Any:
    """By bisection of log x in double precision, then Newton's method."""
    low, high = mp.log(m) - 20, mp.log(m) + 20
    with mp.workdps(25):
        for _ in range(55):
            middle = (low + high) / 2
            is_below = inverse_gaussian_cdf(mp.exp(middle), m, c) < q
            low, high = (middle, high) if is_below else (low, middle)
    x = mp.exp(low)
    for _ in range(20):
        density = mp.sqrt(c / (2 * mp.pi * x**3)) * mp.exp(-c * (x - m) ** 2 / (2 * m * m * x))
        move = (inverse_gaussian_cdf(x, m, c) - q) / density
        x -= move
        if abs(move) < x * mp.mpf(10) ** -80:
            break
    return x


def kumaraswamy_quantile(q: Any, a: Any, b: Any) -> Any:
    return (1 - (1 - q) ** (1 / b)) ** (1 / a)


def logit(x: Any) -> Any:
    return mp.log(x) - mp.log1p(-x)


def logit_normal_log_density(x: Any, loc: Any, scale: Any) -> Any:
    z = (logit(x) - loc) / scale
    return -z * z / 2 - mp.log(scale * mp.sqrt(2 * mp.pi)) - mp.log(x) - mp.log1p(-x)


def logit_normal_quantile(q: Any, loc: Any, scale: Any) -> Any:
    return 1 / (1 + mp.exp(-(loc + scale * normal_quantile(q))))


def relaxed_log_density(x: Any, t: Any, a: Any) -> Any:
    w = t * logit(x) - a
    return mp.log(t) - w - 2 * mp.log1p(mp.exp(-w)) - mp.log(x) - mp.log1p(-x)


def relaxed_cdf(x: Any, t: Any, a: Any) -> Any:
    return 1 / (1 + mp.exp(a - t * logit(x)))


def relaxed_quantile(q: Any, t: Any, a: Any) -> Any:
    return 1 / (1 + mp.exp(-(a + logit(q)) / t))


def arcsine_cdf(x: Any, low: Any, high: Any) -> Any:
    return 2 / mp.pi * mp.asin(mp.sqrt((x - low) / (high - low)))


def triangular_log_density(x: Any, low: Any, high: Any, peak: Any) -> Any:
    part = (x - low) / (peak - low) if x < peak else (high - x) / (high - peak)
    return mp.log(2 * part / (high - low))


def triangular_cdf(x: Any, low: Any, high: Any, peak: Any) -> Any:
    if x < peak:
        return (x - low) ** 2 / ((high - low) * (peak - low))
    return 1 - (high - x) ** 2 / ((high - low) * (high - peak))


def triangular_quantile(q: Any, low: Any, high: Any, peak: Any) -> Any:
    if q < (peak - low) / (high - low):
        return low + mp.sqrt(q * (high - low) * (peak - low))
    return high - mp.sqrt((1 - q) * (high - low) * (high - peak))


def beta_log_density(x: Any, m: Any, c: Any) -> Any:
    a, b = m * c, (1 - m) * c
    return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - mp.log(mp.beta(a, b))


def beta_cdf(x: Any, m: Any, c: Any) -> Any:
    return mp.betainc(m * c, (1 - m) * c, 0, x, regularized=True)


SHARES = (1e-30, 1e-12, 1e-4, 0.03, 0.3, 0.5, 0.8, 0.99, 1 - 2.0**-20)
SPAN = (2.0**-20, 0.001, 0.2, 0.45, 0.7, 0.98, 1 - 2.0**-15)

FIRST_PASSAGE = {
    "Levy": Family(
        dist.Levy,
        ("loc", "scale"),
        lambda x, loc, s: mp.log(s / (2 * mp.pi)) / 2 - s / (2 * (x - loc)) - 1.5 * mp.log(x - loc),
        lambda x, loc, s: mp.erfc(mp.sqrt(s / (2 * (x - loc)))),
        levy_quantile,
        placed(
            (5e-5, 0.002, 0.01, 0.1, 0.3, 1.0, 5.0, 1e3, 1e8, 1e15),
            (0.0, 1.0),
            (0.5, 2.0),
            (0.0, 1e-6),
            (-3.0, 1e6),
        ),
    ),
    "InverseGaussian": Family(
        dist.InverseGaussian,
        ("loc", "concentration"),
        lambda x, m, c: mp.log(c / (2 * mp.pi * x**3)) / 2 - c * (x - m) ** 2 / (2 * m * m * x),
        inverse_gaussian_cdf,
        inverse_gaussian_quantile,
        scaled((1e-4, 0.01, 0.1, 0.5, 0.9, 1.1, 2.0, 6.0, 30.0), lambda m, c: m, (1.0, 1.0), (2.5, 4.0))
        + scaled((1e-7, 1e-4, 0.3, 3.0, 40.0), lambda m, c: m, (1.0, 1e-3), (1e6, 1e5))
        + scaled((0.5, 0.95, 1.0, 1.02, 1.08), lambda m, c: m, (1.0, 1e4), (1e-3, 10.0))
        + scaled((0.99, 0.9999, 1.0001, 1.008), lambda m, c: m, (1.0, 1e6)),
        q=(1e-30, 1e-8, 0.01, 0.5, 0.75, 1 - 2.0**-20),
    ),
}

INTERVALS = {
    "Kumaraswamy": Family(
        dist.Kumaraswamy,
        ("concentration1", "concentration0"),
        lambda x, a, b: mp.log(a * b) + (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-(x**a)),
        lambda x, a, b: -mp.expm1(b * mp.log1p(-(x**a))),
        kumaraswamy_quantile,
        [(p, list(SHARES)) for p in ((2.0, 3.5), (0.5, 0.5), (1.0, 1.0), (1e-6, 1e-6))]
        + [((1e6, 2.0), [0.99997, 0.99999, 1 - 2.0**-20]), ((2.0, 1e6), [1e-10, 1e-4, 1e-3, 0.004])]
        + [((1e-3, 1e3), [1e-30, 1e-3, 0.5])],
        q=(1e-8, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 2.0**-20),
    ),
    "LogitNormal": Family(
        dist.LogitNormal,
        ("loc", "scale"),
        logit_normal_log_density,
        lambda x, loc, s: mp.ncdf((logit(x) - loc) / s),
        logit_normal_quantile,
        [(p, list(SHARES)) for p in ((0.0, 1.0), (0.5, 2.0), (-3.0, 1.5), (20.0, 100.0))]
        + [((0.0, 1e-6), [0.49999, 0.4999999, 0.5000002])],
        q=(1e-8, 0.01, 0.25, 0.5, 0.75),
    ),
    "RelaxedBernoulliLogits": Family(
        dist.RelaxedBernoulliLogits,
        ("temperature", "logits"),
        relaxed_log_density,
        relaxed_cdf,
        relaxed_quantile,
        [(p, list(SHARES)) for p in ((1.0, 0.5), (0.3, -2.0), (5.0, 3.0), (1e-3, 0.02))]
        + [((1e6, 1.0), [0.49999, 0.4999999, 0.5000002])],
        q=(1e-8, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - 2.0**-20),
    ),
    "Arcsine": Family(
        dist.Arcsine,
        ("low", "high"),
        lambda x, low, high: -mp.log(mp.pi) - mp.log((x - low) * (high - x)) / 2,
        arcsine_cdf,
        lambda q, low, high: low + (high - low) * mp.sin(mp.pi * q / 2) ** 2,
        [
            (p, [p[0] + (p[1] - p[0]) * s for s in SPAN])
            for p in ((0.0, 1.0), (-2.0, 3.0), (0.0, 1e-6), (-1e6, 1e6))
        ],
    ),
    "Triangular": Family(
        dist.Triangular,
        ("low", "high", "peak"),
        triangular_log_density,
        triangular_cdf,
        triangular_quantile,
        [
            (p, [p[0] + (p[1] - p[0]) * s for s in SPAN])
            for p in ((0.0, 1.0, 0.5), (-2.0, 3.0, -1.5), (0.0, 1e-6, 9e-7), (-1e6, 1e6, 3e5))
        ],
    ),
    "BetaProportion": Family(
        lambda mean, concentration: dist.BetaProportion(mean, concentration),
        ("mean", "concentration"),
        beta_log_density,
        beta_cdf,
        None,
        [(p, [1e-20, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.99]) for p in ((0.3, 5.0), (0.5, 2.0), (0.9, 0.5))]
        + [((0.3, 1e3), [0.25, 0.29, 0.36]), ((0.3, 1e4), [0.25, 0.29, 0.3, 0.32])],
        q=(),  # its quantiles are those of Beta
    ),
}


def johnson_level(x: Any, loc: Any, scale: Any, g: Any, d: Any) -> Any:
    return g + d * mp.asinh((x - loc) / scale)


def normal_quantile(q: Any) -> Any:
    return mp.sqrt(2) * (-erfc_inverse(2 * q) if q < 0.1 else mp.erfinv(2 * q - 1))


def moyal_quantile(q: Any, loc: Any, scale: Any) -> Any:
    root = erfc_inverse(q) if q < 0.1 else mp.erfinv(1 - q)
    return loc - 2 * scale * mp.log(mp.sqrt(2) * root)


BENT = {
    "Moyal": Family(
        dist.Moyal,
        ("loc", "scale"),
        lambda x, loc, s: -((x - loc) / s + mp.exp(-(x - loc) / s)) / 2 - mp.log(s * mp.sqrt(2 * mp.pi)),
        lambda x, loc, s: mp.erfc(mp.exp(-(x - loc) / s / 2) / mp.sqrt(2)),
        moyal_quantile,
        placed(
            (-9.9, -6.0, -3.0, -1.0, -1e-8, 1e-8, 0.5, 3.0, 20.0, 200.0, 2e4),
            *((0.0, 1.0), (0.5, 2.0), (-3.0, 1e6), (0.0, 1e-6)),
        ),
    ),
    "JohnsonSU": Family(
        dist.JohnsonSU,
        ("loc", "scale", "skewness", "tailweight"),
        lambda x, loc, s, g, d: (
            mp.log(d / s)
            - mp.log(2 * mp.pi * (1 + ((x - loc) / s) ** 2)) / 2
            - johnson_level(x, loc, s, g, d) ** 2 / 2
        ),
        lambda x, *p: mp.ncdf(johnson_level(x, *p)),
        lambda q, loc, s, g, d: loc + s * mp.sinh((normal_quantile(q) - g) / d),
        placed(
            (-1e9, -1e4, -20.0, -1.0, -0.1, 0.3, 2.0, 30.0, 1e3),
            *((0.0, 1.0, 0.5, 1.5), (0.5, 2.0, -3.0, 0.7), (-3.0, 1e6, 0.0, 0.3), (0.0, 1e-6, 1.0, 1.0)),
        ),
    ),
}

FAMILIES = FIRST_PASSAGE | INTERVALS | BENT
