"""Give textbook formulas, in mpmath, of noncentral distributions that are ratios."""

from collections.abc import Callable
from typing import Any

import jax
from accuracy import Family
from mpmath import mp

import accord.distributions as dist


def real_inverse(
    make: Callable[..., Any], cdf: Callable[..., Any], log_density: Callable[..., Any]
) -> Callable[..., Any]:
    """The quantile by Newton's method, from where accord puts it; for neighbours from what was found before."""
    begin = jax.jit(lambda q, *parameters: make(*parameters).icdf(q))
    starts: dict[tuple, Any] = {}

    def solve(q: Any, *parameters: Any) -> Any:
        # Differences may step below a parameter of 0, where the formulas go on.
        at = (float(q), *(float(p) if abs(p) > 1e-20 else 0.0 for p in parameters))
        x = starts.get(at) or mp.mpf(float(begin(*at)))
        for _ in range(30):
            move = (cdf(x, *parameters) - q) / mp.exp(log_density(x, *parameters))
            x -= move
            # Each step doubles the digits.
            if abs(move) < abs(x) * mp.mpf(10) ** -42:
                starts.setdefault(at, x)
                return x
        raise ValueError(f"no quantile found at {at}")

    return solve


def t_log_density(t: Any, df: Any, c: Any) -> Any:
    """By Kummer's function, of which two terms may cancel."""
    with mp.workdps(mp.dps + 20 + int(c * c / 4)):
        b = t * c / mp.sqrt(df + t * t)
        half, power = b * b / 2, (df + 1) / 2
        even = mp.gamma(power) * mp.hyp1f1(power, mp.mpf(1) / 2, half)
        odd = mp.sqrt(2) * b * mp.gamma(df / 2 + 1) * mp.hyp1f1(df / 2 + 1, mp.mpf(3) / 2, half)
        constant = power * mp.log(2) + df / 2 * mp.log(df / 2) - mp.loggamma(df / 2) - mp.log(2 * mp.pi) / 2
        found = constant - c * c / 2 - power * mp.log(df + t * t) + mp.log(even + odd)
    return +found


def t_cdf(t: Any, df: Any, c: Any) -> Any:
    """A sum of incomplete beta functions, Johnson, Kotz & Balakrishnan (1995), section 31.5."""
    with mp.workdps(mp.dps + 60 + int(c * c / 4 + mp.log(1 + t * t))):
        side, square = (1 if t >= 0 else -1), t * t
        c, half = side * c, mp.mpf(1) / 2
        mean, x, b, least = c * c / 2, square / (df + square), df / 2, mp.mpf(10) ** -mp.dps
        y, found = df / (df + square), mp.ncdf(-c)
        weights = (mp.exp(-mean) / 2, c * mp.exp(-mean) / mp.sqrt(2 * mp.pi))
        for a, weight in zip((half, 2 * half), weights, strict=True):
            share, step = mp.betainc(a, b, 0, x, regularized=True), x**a * y**b / (a * mp.beta(a, b))
            while True:
                found += weight * share
                if a > mean + 5 and abs(weight * share) < least:
                    break
                share -= step
                step *= x * (a + b) / (a + 1)
                # Of j + 1 or j + 3/2 the powers of the mean are over the factorials.
                weight *= mean / (a + half)
                a += 1
        found = found if side > 0 else 1 - found
    return +found


def make_t(df: Any, noncentrality: Any) -> dist.NoncentralT:
    return dist.NoncentralT(df, noncentrality)


def beta_share(x: Any, y: Any, a: Any, b: Any) -> Any:
    """The central cdf, by the series of positive terms, DLMF 8.17.22 with 15.8.1, from the nearer end."""
    if x > y:
        return 1 - beta_share(y, x, b, a)
    term = total = mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta(a, b)) / a
    k, least = 0, mp.mpf(10) ** -mp.dps
    while term > least * total:
        term *= x * (a + b + k) / (a + 1 + k)
        total += term
        k += 1
    return total


def beta_cdf_by_odds(odds: Any, a: Any, b: Any, c: Any) -> Any:
    """Poisson weights times central cdfs, which follow from one another."""
    # The cdfs of large indices have their digits only if there are as many more.
    size = a * odds - (a + b) * mp.log1p(mp.exp(odds)) - log_beta(a, b)
    with mp.workdps(mp.dps + 40 + int(abs(size) if odds < mp.log(a / b) else 0)):
        x, y = 1 / (1 + mp.exp(-odds)), 1 / (1 + mp.exp(odds))
        mean, least, j, below = c / 2, mp.mpf(10) ** -mp.dps, 0, mp.mpf(0)
        weight, share = mp.exp(-mean), beta_share(x, y, a, b)
        step = mp.exp(a * mp.log(x) + b * mp.log(y) - log_beta(a, b)) / a
        while j < mean or abs(weight) > least:
            below += weight * share
            share -= step
            j += 1
            step *= x * (a + b + j - 1) / (a + j)
            weight *= mean / j
    return +below


def beta_log_density(x: Any, a: Any, b: Any, c: Any) -> Any:
    z = c * x / 2
    # Kummer's transformation, where the argument is not negative.
    series = mp.hyp1f1(a + b, a, z)
    return mp.log(mp.re(series)) - c / 2 + (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta(a, b)


def log_beta(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_cdf(x: Any, a: Any, b: Any, c: Any) -> Any:
    return beta_cdf_by_odds(mp.log(x / (1 - x)), a, b, c)


def fisher_log_density(x: Any, df1: Any, df2: Any, c: Any) -> Any:
    a, b, r = df1 / 2, df2 / 2, x * df1 / df2
    series = mp.hyp1f1(a + b, a, c / 2 * r / (1 + r))
    return mp.log(mp.re(series)) - c / 2 + a * mp.log(r) - (a + b) * mp.log1p(r) - mp.log(x) - log_beta(a, b)


def fisher_cdf(x: Any, df1: Any, df2: Any, c: Any) -> Any:
    return beta_cdf_by_odds(mp.log(x * df1 / df2), df1 / 2, df2 / 2, c)


def make_beta(concentration1: Any, concentration0: Any, noncentrality: Any) -> dist.NoncentralBeta:
    return dist.NoncentralBeta(concentration1, concentration0, noncentrality)


def make_fisher(df1: Any, df2: Any, noncentrality: Any) -> dist.NoncentralFisherSnedecor:
    return dist.NoncentralFisherSnedecor(df1, df2, noncentrality)


# Where little is above, the slopes of the cdf are lost in the 1 that it is, but for digits beyond that little.
FAMILIES = {
    "NoncentralT": Family(
        make_t,
        ("df", "noncentrality"),
        t_log_density,
        t_cdf,
        real_inverse(make_t, t_cdf, t_log_density),
        [
            ((3.0, 1.0), [-1e4, -30.0, -1.0, 1e-6, 1.25, 40.0, 1e6]),
            ((1.0, -4.0), [-1e8, -20.0, -3.0, 0.5, 10.0]),
            ((0.25, 0.0), [-1e6, -0.5, 2.0]),
            ((0.0625, 5.0), [-2.0, 3.0, 1e4]),
            ((12.5, 20.0), [-1.0, 5.0, 15.0, 21.0, 60.0]),
            ((200.0, 8.0), [-5.0, 4.0, 8.0, 20.0, 100.0]),
            ((1e6, 2.5), [-3.0, 2.0, 3.0, 9.0]),
            ((50.0, -30.0), [-80.0, -31.0, -22.0, -12.0, -8.0]),
            ((1e3, -2.0), [-25.0, -2.0, 1.0, 12.0]),
        ],
        q=(1e-12, 1e-3, 0.5, 0.99),
        digits=220,
    ),
    "NoncentralBeta": Family(
        make_beta,
        ("concentration1", "concentration0", "noncentrality"),
        beta_log_density,
        beta_cdf,
        real_inverse(make_beta, beta_cdf, beta_log_density),
        [
            ((2.0, 3.0, 4.0), [1e-12, 1e-6, 0.25, 0.6, 0.99, 1 - 2.0**-20]),
            ((0.5, 0.5, 1.0), [1e-12, 0.5, 1 - 2.0**-20]),
            ((1e-3, 2.0, 30.0), [1e-3, 0.7, 0.99]),
            ((5.0, 40.0, 0.0), [0.01, 0.1, 0.5]),
            ((1.5, 1.0, 1e4), [0.99, 0.9997]),
            ((200.0, 300.0, 500.0), [0.3, 0.6, 0.65, 0.9]),
            ((1e-2, 50.0, 3.0), [1e-30, 0.01, 0.3]),
            ((1e4, 2e4, 100.0), [0.32, 0.336, 0.35]),
        ],
        q=(1e-3, 0.9),
        digits=180,
    ),
    "NoncentralFisherSnedecor": Family(
        make_fisher,
        ("df1", "df2", "noncentrality"),
        fisher_log_density,
        fisher_cdf,
        real_inverse(make_fisher, fisher_cdf, fisher_log_density),
        [
            ((3.0, 7.0, 2.0), [1e-12, 1e-6, 0.5, 2.0, 1e3, 1e6]),
            ((1.0, 1.0, 50.0), [1e-8, 10.0, 100.0, 1e10]),
            ((4.0, 1e3, 12.0), [0.01, 4.0, 20.0]),
            ((4.0, 1e5, 12.0), [0.01, 4.0, 20.0]),
            ((500.0, 20.0, 1e3), [0.5, 3.0, 30.0]),
            ((6.0, 12.0, 0.0), [0.1, 1.0, 50.0]),
            ((0.5, 100.0, 3.0), [1e-20, 0.5, 5.0]),
            ((40.0, 60.0, 200.0), [1.0, 4.0, 6.0, 40.0]),
        ],
        q=(1e-12, 0.01, 0.99),
        digits=120,
    ),
}
