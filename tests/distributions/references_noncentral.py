"""Give textbook formulas, in mpmath, of noncentral distributions."""

from collections.abc import Callable
from typing import Any

import jax
from accuracy import Family
from mpmath import mp
from references_core import gamma_lower, gamma_upper

import accord.distributions as dist


def noncentral_log_density(x: Any, df: Any, noncentrality: Any) -> Any:
    p, half = df / 2, x / 2
    series = mp.hyp0f1(p, noncentrality * x / 4)
    return (
        (p - 1) * mp.log(half)
        - half
        - noncentrality / 2
        - mp.log(2)
        - mp.loggamma(p)
        + mp.log(abs(mp.re(series)))
    )


def noncentral_cdf(x: Any, df: Any, noncentrality: Any) -> Any:
    """Poisson weights times incomplete gamma functions, which follow from one another (DLMF 8.8.5 and 8.8.6)."""
    p, half, mean = df / 2, x / 2, noncentrality / 2
    is_lower, least = x < df + noncentrality, mp.mpf(10) ** (-mp.dps - 15)
    size = mp.sqrt(abs(mean) * half)
    count = int((size if is_lower else max(size, abs(mean))) + 30 * mp.sqrt(size) + 150)
    j = count if is_lower else 0
    weight = mean**j / mp.factorial(j) * mp.exp(-mean)
    step = mp.exp((p + j) * mp.log(half) - half - mp.loggamma(p + j + 1))
    share = (gamma_lower if is_lower else gamma_upper)(p + j, half)
    total = weight * share
    while True:
        if is_lower:
            if j == 0:
                return total
            step *= (p + j) / half
            weight = weight * j / mean if mean else (mp.mpf(1) if j == 1 else mp.mpf(0))
            j -= 1
        else:
            share += step
            j += 1
            step *= half / (p + j)
            weight *= mean / j
        share += step if is_lower else 0
        term = weight * share
        total += term
        is_past = j < size / 2 if is_lower else j > count
        if is_past and abs(term) < least * abs(total):
            with mp.workdps(mp.dps + (0 if is_lower else 400)):
                return +total if is_lower else 1 - total


def positive_inverse(
    make: Callable[..., Any], cdf: Callable[..., Any], log_density: Callable[..., Any]
) -> Callable[..., Any]:
    """The quantile by Newton's method on the log of the cdf by that of x, from where accord puts it."""
    begin = jax.jit(lambda q, *parameters: make(*parameters).icdf(q))
    starts: dict[tuple, Any] = {}

    def solve(q: Any, *parameters: Any) -> Any:
        # Differences may step below a parameter of 0, where the formulas go on.
        at = (float(q), *(max(float(p), 0.0) for p in parameters))
        x = starts.get(at) or mp.mpf(float(begin(*at)))
        for _ in range(60):
            below = cdf(x, *parameters)
            move = mp.log(below / q) * below / (x * mp.exp(log_density(x, *parameters)))
            x *= mp.exp(-move)
            if abs(move) < mp.mpf(10) ** -42:
                starts.setdefault(at, x)
                return x
        raise ValueError(f"no quantile found at {at}")

    return solve


def make_chi2(df: Any, noncentrality: Any) -> dist.NoncentralChi2:
    return dist.NoncentralChi2(df, noncentrality)


def make_rician(nu: Any, sigma: Any) -> dist.Rician:
    return dist.Rician(nu, sigma)


def rician_log_density(x: Any, nu: Any, sigma: Any) -> Any:
    square = sigma**2
    return mp.log(x / square) - (x * x + nu * nu) / (2 * square) + mp.log(mp.besseli(0, x * nu / square))


def rician_cdf(x: Any, nu: Any, sigma: Any) -> Any:
    return noncentral_cdf((x / sigma) ** 2, mp.mpf(2), (nu / sigma) ** 2)


FAMILIES = {
    "NoncentralChi2": Family(
        make_chi2,
        ("df", "noncentrality"),
        noncentral_log_density,
        noncentral_cdf,
        positive_inverse(make_chi2, noncentral_cdf, noncentral_log_density),
        [
            ((3.0, 2.0), [1e-6, 0.1, 4.0, 30.0, 2e4]),
            ((1.0, 100.0), [1e-8, 1.0, 99.0, 103.0, 400.0]),
            ((0.5, 0.0), [1e-6, 1.0, 60.0]),
            ((1e-6, 3.0), [1e-6, 2.0, 40.0, 500.0]),
            ((2.0, 1e-6), [1e-3, 2.0, 20.0, 1e3]),
            ((36.5, 5.0), [10.0, 39.0, 42.0, 100.0]),
            ((4.0, 80.0), [3.9, 4.1, 60.0]),
            ((600.0, 1500.0), [800.0, 2000.0, 2110.0, 3000.0]),
        ],
    ),
    "Rician": Family(
        make_rician,
        ("nu", "sigma"),
        rician_log_density,
        rician_cdf,
        positive_inverse(make_rician, rician_cdf, rician_log_density),
        [
            ((1.0, 1.0), [1e-6, 0.3, 1.5, 8.0, 140.0]),
            ((0.0, 2.0), [1e-6, 1.0, 3.0, 20.0]),
            ((1e-3, 1e3), [1e-2, 10.0, 1e3, 1e4]),
            ((2e6, 1e6), [1e3, 1.5e6, 2.5e6, 6e6]),
            ((1e-6, 1e-6), [1e-7, 1.5e-6, 1e-5]),
            ((40.0, 1.0), [0.1, 20.0, 39.0, 41.0, 52.0]),
            ((4.0, 1.0), [4.4, 4.6]),
        ],
    ),
}
