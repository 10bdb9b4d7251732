"""State the families of the real line, of positive numbers and of the unit interval by textbook formulas, in mpmath."""

from collections.abc import Callable
from typing import Any

from accuracy import Family
from mpmath import mp

import accord.distributions as dist

HUGE = 1e6


def gamma_lower(a: Any, x: Any, digits: int = 0) -> Any:
    """P(a, x): its power series (DLMF 8.7.1), summed in whole numbers for speed, where that is not almost 1."""
    if not digits and x > a + 30 * mp.sqrt(a) + 100:
        return 1 - gamma_upper(a, x)
    bits = int((mp.dps + digits + 40) * 3.33)
    whole_a, whole_x, step = int(mp.ldexp(a, bits)), int(mp.ldexp(x, bits)), 1 << bits
    term = total = step
    while term:
        whole_a += step
        term = term * whole_x // whole_a
        total += term
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * mp.ldexp(mp.mpf(total), -bits)


def gamma_upper(a: Any, x: Any) -> Any:
    """Q(a, x): what is left of the lower tail, or its continued fraction (DLMF 8.9.2), evaluated as Lentz does."""
    if x <= a + 30 * mp.sqrt(a) + 100:
        digits = 300 if x > a else 0
        with mp.workdps(mp.dps + digits):
            return 1 - gamma_lower(a, x, digits + 1)
    b = x + 1 - a
    c, d = mp.mpf(10) ** 200, 1 / b
    total = d
    for i in range(1, 100_000):
        step = -i * (i - a)
        b += 2
        d, c = 1 / (step * d + b), b + step / c
        total *= c * d
        if abs(c * d - 1) < 1000 * mp.eps:
            break
    return total * mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def beta_lower(a: Any, b: Any, x: Any, y: Any) -> Any:
    """I(a, b, x), y = 1 - x, by the continued fraction of the nearer tail (DLMF 8.17.22)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_lower(b, a, y, x)
    c, d = mp.mpf(1), 1 / (1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m)),
        ):
            d, c = 1 / (1 + step * d), 1 + step / c
            total *= c * d
        if abs(c * d - 1) < 1000 * mp.eps:
            break
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return total * mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta) / a


def normal_cdf(z: Any) -> Any:
    return mp.erfc(-z / mp.sqrt(2)) / 2


def normal_quantile(q: Any) -> Any:
    if q > 0.5:
        return -normal_quantile(1 - q)
    start = -mp.sqrt(-2 * mp.log(2 * q)) if q < 0.4 else (q - 0.5) * mp.sqrt(2 * mp.pi)
    z = mp.mpf(start)
    for _ in range(200):
        tail = normal_cdf(z)
        move = (mp.log(tail) - mp.log(q)) * tail * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2)
        z -= move
        if abs(move) < mp.mpf(10) ** -75:
            return z
    raise ValueError(q)


def student_log_density(z: Any, df: Any) -> Any:
    half = (df + 1) / 2
    return mp.loggamma(half) - mp.loggamma(df / 2) - mp.log(mp.pi * df) / 2 - half * mp.log(1 + z * z / df)


def student_tail(z: Any, df: Any) -> Any:
    """P(T > z) for z >= 0; for large df from the other parameter of the beta function, which converges."""
    if z == 0:
        return mp.mpf(1) / 2
    return beta_lower(df / 2, mp.mpf(1) / 2, df / (df + z * z), z * z / (df + z * z)) / 2


def student_cdf(z: Any, df: Any) -> Any:
    # The derivative by central differences crosses 0, where the density is even.
    return student_tail(-z, df) if z < 0 else 1 - student_tail(z, df)


def gamma_log_density(x: Any, a: Any, rate: Any) -> Any:
    return a * mp.log(rate) + (a - 1) * mp.log(x) - rate * x - mp.loggamma(a)


_ROOTS: dict[tuple, Any] = {}


def invert(
    name: str, at: tuple[Any, ...], start: Callable[[], Any], gap: Callable[[Any], tuple[Any, Any]]
) -> Any:
    """The root of a concave function, given with its slope, by Newton's method; from the nearest root found before."""
    if (name, *at) in _ROOTS:
        return _ROOTS[name, *at]
    nearest = ("near", name, *map(float, at))  # not a root at these very arguments, which may be rounded
    s = _ROOTS[nearest] if nearest in _ROOTS else start()
    for _ in range(300):
        found, slope = gap(s)
        s -= found / slope
        if abs(found) < mp.mpf(10) ** -42:
            # The next step would be twice as small as that in digits.
            _ROOTS[name, *at] = _ROOTS[nearest] = s
            return s
    raise ValueError(name, at)


def gamma_quantile(q: Any, a: Any) -> Any:
    def gap(s: Any) -> tuple[Any, Any]:
        x = mp.exp(s)
        tail = gamma_lower(a, x)
        return mp.log(tail) - mp.log(q), x * mp.exp(gamma_log_density(x, a, 1)) / tail

    return mp.exp(invert("gamma", (q, a), lambda: (mp.log(q) + mp.loggamma(a + 1)) / a, gap))


def gamma_quantile_upper(q: Any, a: Any) -> Any:
    if q > 0.25:
        return gamma_quantile(1 - q, a)

    def gap(s: Any) -> tuple[Any, Any]:
        x = mp.exp(s)
        tail = gamma_upper(a, x)
        return mp.log(tail) - mp.log(q), -x * mp.exp(gamma_log_density(x, a, 1)) / tail

    return mp.exp(invert("gamma, upper", (q, a), lambda: mp.log(a + mp.sqrt(a) + 1), gap))


def beta_odds_quantile(q: Any, a: Any, b: Any) -> Any:
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)

    def gap(s: Any) -> tuple[Any, Any]:
        x, y = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
        tail = beta_lower(a, b, x, y)
        return mp.log(tail) - mp.log(q), mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta) / tail

    return invert("beta", (q, a, b), lambda: (mp.log(q * a) + log_beta) / a, gap)


def beta_quantile(q: Any, a: Any, b: Any) -> Any:
    return 1 / (1 + mp.exp(-beta_odds_quantile(q, a, b)))


def student_quantile(q: Any, df: Any) -> Any:
    if q > 0.5:
        return -student_quantile(1 - q, df)
    if q == 0.5:
        return mp.mpf(0)

    def gap(y: Any) -> tuple[Any, Any]:
        z = mp.sqrt(df) * mp.sinh(y)
        tail = student_tail(z, df)
        return mp.log(tail) - mp.log(q), -mp.exp(student_log_density(z, df)) * mp.sqrt(df + z * z) / tail

    return -mp.sqrt(df) * mp.sinh(invert("Student", (q, df), lambda: mp.mpf("1e-3") / mp.sqrt(df), gap))


def half_student_quantile(q: Any, df: Any) -> Any:
    # The square over df has the odds of a beta variable.
    return mp.sqrt(df) * mp.exp(beta_odds_quantile(q, mp.mpf(1) / 2, df / 2) / 2)


LEVELS = (1e-30, 1e-8, 0.01, 0.5, 0.99)
FAMILIES = {
    "Normal": Family(
        make=dist.Normal,
        names=("loc", "scale"),
        log_density=lambda x, m, s: -(((x - m) / s) ** 2) / 2 - mp.log(s) - mp.log(2 * mp.pi) / 2,
        cdf=lambda x, m, s: normal_cdf((x - m) / s),
        quantile=lambda q, m, s: m + s * normal_quantile(q),
        points=[
            ((0.0, 1.0), [0.0, 0.3, -1.0, 2.5, 6.0, -10.0, -37.0, 140.0, -140.0]),
            ((HUGE, 1e-6), [HUGE]),
            ((1.5, HUGE), [0.0, -1e7, 8e6]),
            ((-2.0, 1e-6), [-2.0, -2.00001, -2.0001]),
        ],
    ),
    "Cauchy": Family(
        make=dist.Cauchy,
        names=("loc", "scale"),
        log_density=lambda x, m, s: -mp.log(1 + ((x - m) / s) ** 2) - mp.log(mp.pi * s),
        cdf=lambda x, m, s: (
            mp.atan(s / (m - x)) / mp.pi if x < m else mp.atan((x - m) / s) / mp.pi + mp.mpf(1) / 2
        ),
        quantile=lambda q, m, s: m - s * mp.cot(mp.pi * q),
        points=[
            ((0.0, 1.0), [0.0, 0.3, -1.0, 2.5, 1e3, -1e3, -1e8, 1e8, 1e15, -1e15, -1e18, 1e20]),
            ((1.5, HUGE), [0.0, -1e7, 3e7, -1e12]),
            ((-2.0, 1e-6), [-2.0, -2.00001, 3.0, -1e12]),
        ],
    ),
    "StudentT": Family(
        make=dist.StudentT,
        names=("df", "loc", "scale"),
        log_density=lambda x, v, m, s: student_log_density((x - m) / s, v) - mp.log(s),
        cdf=lambda x, v, m, s: student_cdf((x - m) / s, v),
        points=[
            ((0.5, 0.0, 1.0), [0.01, -0.5, 2.0, -1e4, 1e15]),
            ((2.5, 0.0, 1.0), [0.01, -0.5, 2.0, -10.0, -1e6]),
            ((2.9, 1.0, 1e-6), [1.0, 1.00001, 0.9]),
            ((3.1, 0.0, 1.0), [0.0, -0.5, 2.0, -10.0, -1e6]),
            ((7.0, -1.0, HUGE), [0.0, 2e6, -1e7, -1e12]),
            ((100.0, 0.0, 1.0), [0.0, 0.3, -2.0, 8.0, -30.0]),
            ((1e4, 0.0, 1.0), [0.1, 0.3, -2.0, 8.0, -30.0]),
            ((HUGE, 0.0, 1.0), [0.1, 0.5, -2.0, 8.0, -30.0]),
            ((1e10, 0.0, 1.0), [0.5, -2.0, 8.0, -30.0]),
        ],
        q=(),
    ),
    "StudentT, small df": Family(
        make=dist.StudentT,
        names=("df", "loc", "scale"),
        log_density=lambda x, v, m, s: student_log_density((x - m) / s, v) - mp.log(s),
        cdf=lambda x, v, m, s: student_cdf((x - m) / s, v),
        points=[((0.01, 0.0, 1.0), [0.01, -0.5, 2.0, -1e4, 1e15])],
        q=(),
    ),
    "HalfStudentT": Family(
        make=dist.HalfStudentT,
        names=("df", "scale"),
        log_density=lambda x, v, s: student_log_density(x / s, v) - mp.log(s) + mp.log(2),
        cdf=lambda x, v, s: 1 - 2 * student_tail(x / s, v),
        points=[
            ((0.01, 1.0), [1e-8, 0.01, 0.5, 2.0, 1e4, 1e15]),
            ((0.5, HUGE), [1e-3, 1e3, 1e6, 1e12]),
            ((2.5, 1.0), [1e-8, 0.01, 0.5, 2.0, 1e6]),
            ((3.1, 1e-6), [1e-12, 1e-8, 1e-6, 1e-2]),
            ((100.0, 1.0), [1e-8, 0.3, 2.0, 6.0, 30.0]),
            ((HUGE, 1.0), [1e-8, 0.3, 2.0, 6.0]),
            ((1e10, 1.0), [1e-8, 0.3, 2.0, 6.0]),
        ],
        q=(),
    ),
    "HalfNormal": Family(
        make=dist.HalfNormal,
        names=("scale",),
        log_density=lambda x, s: -((x / s) ** 2) / 2 - mp.log(s) + mp.log(2 / mp.pi) / 2,
        cdf=lambda x, s: mp.erf(x / s / mp.sqrt(2)),
        quantile=lambda q, s: s * normal_quantile((1 + q) / 2) if q > 0.1 else s * mp.sqrt(2) * mp.erfinv(q),
        points=[
            ((1.0,), [1e-12, 1e-8, 0.3, 1.0, 2.5, 6.0, 14.0, 140.0]),
            ((1e-6,), [1e-14, 1e-7, 1e-6, 1e-5, 1e-4]),
            ((HUGE,), [1e-6, 1e5, 1e6, 1e7, 1e8]),
        ],
    ),
    "HalfCauchy": Family(
        make=dist.HalfCauchy,
        names=("scale",),
        log_density=lambda x, s: -mp.log(1 + (x / s) ** 2) + mp.log(2 / (mp.pi * s)),
        cdf=lambda x, s: 2 * mp.atan(x / s) / mp.pi,
        quantile=lambda q, s: s * mp.tan(mp.pi * q / 2),
        points=[
            ((1.0,), [1e-12, 1e-8, 0.3, 1.0, 2.5, 1e8, 1e14, 1e20]),
            ((1e-6,), [1e-14, 1e-7, 1e-6, 1e-5, 1e10, 1e20]),
            ((HUGE,), [1e-6, 1e5, 1e6, 1e7, 1e15]),
        ],
    ),
    "LogNormal": Family(
        make=dist.LogNormal,
        names=("loc", "scale"),
        log_density=lambda x, m, s: -(((mp.log(x) - m) / s) ** 2) / 2 - mp.log(s * x) - mp.log(2 * mp.pi) / 2,
        cdf=lambda x, m, s: normal_cdf((mp.log(x) - m) / s),
        quantile=lambda q, m, s: mp.exp(m + s * normal_quantile(q)),
        points=[
            ((0.3, 0.5), [1e-30, 1e-3, 0.5, 1.0, 2.0, 30.0, 1e20]),
            ((0.0, 30.0), [1e-30, 1e-3, 1.0, 2.0, 1e20]),
            ((-40.0, 1.0), [1e-25, 1e-18, 1e-17, 1e-15]),
            ((2.0, 1e-3), [7.0, 7.389, 7.5]),
        ],
    ),
    "Gamma": Family(
        make=dist.Gamma,
        names=("concentration", "rate"),
        log_density=gamma_log_density,
        cdf=lambda x, a, r: gamma_lower(a, r * x),
        points=[
            ((0.1, HUGE), [1e-30, 1e-8, 1e-6, 1e-5, 1e-3]),
            ((0.9, 1.0), [1e-10, 0.5, 1.0, 3.0, 100.0]),
            ((1.0, 1.0), [1e-10, 0.5, 1.0, 3.0, 100.0]),
            ((1.6, 1e-6), [1.0, 1e5, 1e6, 3e6, 2e7, 1e8]),
            ((30.0, 1.0), [1e-3, 10.0, 29.6, 31.0, 60.0, 100.0]),
            ((1e4, 1.0), [5e3, 9.9e3, 1e4, 1.02e4]),
            ((1e5, 1.0), [9.7e4, 9.99e4, 1e5, 1.002e5]),
            ((HUGE, 1.0), [9.7e5, 9.99e5, 1e6, 1.002e6]),
        ],
        q=(),
    ),
    "Gamma, small shape": Family(
        make=dist.Gamma,
        names=("concentration", "rate"),
        log_density=gamma_log_density,
        cdf=lambda x, a, r: gamma_lower(a, r * x),
        points=[
            ((1e-6, 1.0), [1e-30, 1e-12, 1e-5, 0.5, 3.0, 100.0]),
            ((1e-3, 1e6), [1e-30, 1e-8, 1e-6, 1e-5]),
        ],
        q=(),
    ),
    "InverseGamma": Family(
        make=dist.InverseGamma,
        names=("concentration", "rate"),
        log_density=lambda x, a, r: a * mp.log(r) - (a + 1) * mp.log(x) - r / x - mp.loggamma(a),
        cdf=lambda x, a, r: gamma_upper(a, r / x),
        quantile=None,
        points=[
            ((0.1, HUGE), [1e4, 1e5, 1e6, 1e8, 1e12, 1e20]),
            ((0.9, 1.0), [1e-2, 0.5, 1.0, 3.0, 1e10]),
            ((1.6, 1e-6), [1e-8, 3e-7, 1e-6, 1.0]),
            ((30.0, 1.0), [2e-3, 0.02, 0.033, 0.1, 0.3]),
            ((1e4, 1e4), [0.9, 0.99, 1.0, 1.01]),
        ],
        q=(),
    ),
    "Exponential": Family(
        make=dist.Exponential,
        names=("rate",),
        log_density=lambda x, r: mp.log(r) - r * x,
        cdf=lambda x, r: -mp.expm1(-r * x),
        quantile=lambda q, r: -mp.log(1 - q) / r,
        points=[
            ((1.0,), [1e-30, 1e-8, 0.3, 1.0, 40.0, 1e4]),
            ((1e-6,), [1e-8, 1e5, 1e6, 1e8]),
            ((HUGE,), [1e-20, 1e-6, 1e-4]),
        ],
    ),
    "Chi2": Family(
        make=dist.Chi2,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x, v / 2, mp.mpf(1) / 2),
        cdf=lambda x, v: gamma_lower(v / 2, x / 2),
        points=[
            ((1.0,), [1e-20, 0.5, 30.0, 90.0]),
            ((2.0,), [1e-20, 0.5, 30.0, 90.0]),
            ((3.5,), [1e-10, 0.5, 30.0, 90.0]),
            ((300.0,), [10.0, 290.0, 300.0, 400.0]),
            ((1e5,), [9.9e4, 1e5, 1.003e5]),
            ((HUGE,), [9.9e5, 1e6, 1.003e6]),
        ],
        q=(),
    ),
    "Chi": Family(
        make=dist.Chi,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x * x / 2, v / 2, mp.mpf(1)) + mp.log(x),
        cdf=lambda x, v: gamma_lower(v / 2, x * x / 2),
        points=[
            ((0.3,), [1e-10, 0.5, 5.0]),
            ((1.0,), [1e-10, 0.5, 5.0, 9.0]),
            ((3.5,), [1e-5, 0.5, 5.0, 9.0]),
            ((300.0,), [3.0, 17.0, 17.5, 20.0]),
            ((HUGE,), [995.0, 1000.0, 1003.0]),
        ],
        q=(),
    ),
    "Beta": Family(
        make=dist.Beta,
        names=("concentration1", "concentration0"),
        log_density=lambda x, a, b: (
            (a - 1) * mp.log(x)
            + (b - 1) * mp.log(1 - x)
            - mp.loggamma(a)
            - mp.loggamma(b)
            + mp.loggamma(a + b)
        ),
        cdf=lambda x, a, b: beta_lower(a, b, x, 1 - x),
        points=[
            ((0.5, 0.5), [1e-30, 1e-3, 0.3, 0.9, 0.99999]),
            ((1.0, 1.0), [1e-8, 0.3, 0.9]),
            ((1.0, HUGE), [1e-8, 1e-6, 1e-5]),
            ((2.0, 3.5), [1e-30, 1e-3, 0.3, 0.9, 0.99999]),
            ((200.0, 350.0), [0.1, 0.3, 0.36, 0.37, 0.5]),
            ((HUGE, 3.0), [0.9999, 0.999997, 0.9999999]),
            ((1e4, HUGE), [0.009, 0.0099, 0.0100]),
            ((1e5, 1e5), [0.49, 0.4995, 0.5, 0.501]),
            ((HUGE, HUGE), [0.49, 0.4995, 0.5, 0.501]),
        ],
        q=(),
    ),
    "Beta, small concentrations": Family(
        make=dist.Beta,
        names=("concentration1", "concentration0"),
        log_density=lambda x, a, b: (
            (a - 1) * mp.log(x)
            + (b - 1) * mp.log(1 - x)
            - mp.loggamma(a)
            - mp.loggamma(b)
            + mp.loggamma(a + b)
        ),
        cdf=lambda x, a, b: beta_lower(a, b, x, 1 - x),
        points=[((1e-6, 1e-6), [1e-30, 0.3, 0.999]), ((1e-3, 2.0), [1e-30, 1e-3, 0.3, 0.9])],
        q=(),
    ),
    "Uniform": Family(
        make=dist.Uniform,
        names=("low", "high"),
        log_density=lambda x, a, b: -mp.log(b - a) + 0 * x,
        cdf=lambda x, a, b: (x - a) / (b - a),
        quantile=lambda q, a, b: a + (b - a) * q,
        points=[
            ((-1.0, 3.0), [-0.999, 0.0, 2.9]),
            ((1e6, 1000064.0), [1000001.0, 1000050.0]),
            ((0.0, 1e-6), [1e-20, 3e-7]),
        ],
    ),
    "Gamma, quantiles": Family(
        make=dist.Gamma,
        names=("concentration", "rate"),
        log_density=gamma_log_density,
        quantile=lambda q, a, r: gamma_quantile(q, a) / r,
        points=[((a, r), []) for a, r in ((1e-3, 1.0), (0.3, HUGE), (1.6, 1e-6), (30.0, 1.0), (1e5, 1.0))],
        q=LEVELS,
    ),
    "InverseGamma, quantiles": Family(
        make=dist.InverseGamma,
        names=("concentration", "rate"),
        log_density=lambda x, a, r: gamma_log_density(1 / x, a, r) - 2 * mp.log(x),
        quantile=lambda q, a, r: r / gamma_quantile_upper(q, a),
        points=[((a, r), []) for a, r in ((1e-3, 1.0), (0.3, HUGE), (1.6, 1e-6), (30.0, 1.0), (1e5, 1.0))],
        q=LEVELS,
    ),
    "Chi2, quantiles": Family(
        make=dist.Chi2,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x, v / 2, mp.mpf(1) / 2),
        quantile=lambda q, v: 2 * gamma_quantile(q, v / 2),
        points=[((v,), []) for v in (1e-3, 1.0, 3.5, 1e5)],
        q=LEVELS,
    ),
    "Chi, quantiles": Family(
        make=dist.Chi,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x * x / 2, v / 2, mp.mpf(1)) + mp.log(x),
        quantile=lambda q, v: mp.sqrt(2 * gamma_quantile(q, v / 2)),
        points=[((v,), []) for v in (1e-3, 1.0, 3.5, 1e5)],
        q=LEVELS,
    ),
    "StudentT, quantiles": Family(
        make=dist.StudentT,
        names=("df", "loc", "scale"),
        log_density=lambda x, v, m, s: student_log_density((x - m) / s, v) - mp.log(s),
        quantile=lambda q, v, m, s: m + s * student_quantile(q, v),
        points=[((v, 0.0, 1.0), []) for v in (1.0, 2.9, 3.1, 30.0, 1e5)],
        q=LEVELS,
    ),
    "HalfStudentT, quantiles": Family(
        make=dist.HalfStudentT,
        names=("df", "scale"),
        log_density=lambda x, v, s: student_log_density(x / s, v) - mp.log(s) + mp.log(2),
        quantile=lambda q, v, s: s * half_student_quantile(q, v),
        points=[((v, 1.0), []) for v in (0.1, 2.9, 3.1, 30.0, 1e5)],
        q=LEVELS,
    ),
    "Beta, quantiles": Family(
        make=dist.Beta,
        names=("concentration1", "concentration0"),
        log_density=lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)),
        quantile=beta_quantile,
        points=[((a, b), []) for a, b in ((1e-3, 1e-3), (0.5, 3.0), (30.0, 2.0), (1.0, 1e5), (1e5, 1e5))],
        q=LEVELS,
    ),
    # Where less than 1e-90 is left of the upper tail, the distribution function has no derivative to 90 digits.
    "Gamma, far": Family(
        make=dist.Gamma,
        names=("concentration", "rate"),
        log_density=gamma_log_density,
        points=[((30.0, 1.0), [500.0, 1e4]), ((1.6, 1e-6), [1e8, 1e10])],
    ),
    "InverseGamma, far": Family(
        make=dist.InverseGamma,
        names=("concentration", "rate"),
        log_density=lambda x, a, r: gamma_log_density(1 / x, a, r) - 2 * mp.log(x),
        points=[((30.0, 1.0), [1e3, 1e6, 1e-4]), ((0.3, HUGE), [1e20])],
    ),
    "Chi2, far": Family(
        make=dist.Chi2,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x, v / 2, mp.mpf(1) / 2),
        points=[((v,), [1e3, 1e4]) for v in (1.0, 2.0, 3.5)],
    ),
    "Chi, far": Family(
        make=dist.Chi,
        names=("df",),
        log_density=lambda x, v: gamma_log_density(x * x / 2, v / 2, mp.mpf(1)) + mp.log(x),
        points=[((v,), [30.0, 140.0]) for v in (1.0, 3.5)],
    ),
    "HalfStudentT, far": Family(
        make=dist.HalfStudentT,
        names=("df", "scale"),
        log_density=lambda x, v, s: student_log_density(x / s, v) - mp.log(s) + mp.log(2),
        points=[((v, 1.0), [30.0, 140.0]) for v in (HUGE, 1e10)],
    ),
    "Beta, far": Family(
        make=dist.Beta,
        names=("concentration1", "concentration0"),
        log_density=lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)),
        points=[((200.0, 350.0), [0.9, 0.9999])],
    ),
}
