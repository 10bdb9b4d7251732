"""Give textbook formulas, in mpmath, of beta negative binomial counts and of order statistics."""

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from accuracy import Family
from mpmath import mp as _mp
from references_core import beta_lower, beta_odds_quantile, normal_cdf, normal_quantile
from references_discrete import below, log_beta

import accord.distributions as dist

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp


def beta_negative_binomial(k: Any, a: Any, b: Any, n: Any) -> Any:
    return mp.loggamma(k + n) - mp.loggamma(n) - mp.loggamma(k + 1) + log_beta(k + a, n + b) - log_beta(a, b)


def beta_negative_binomial_cdf(k: Any, a: Any, b: Any, n: Any) -> Any:
    """The sum of the probabilities; from large values on, what is left above, by Thomae's transformation of the sum."""
    if k < 200 or (n + 1) * (a + b) > k + a:
        return downward(k, a, b, n)
    term = total = mp.mpf(1)
    j = 0
    while abs(term) > abs(total) * mp.mpf(10) ** -95:
        term *= (j + 1 - n) * (j + a + b) * (j + b) / ((j + b + 1) * (j + b + k + 1 + a) * (j + 1))
        total += term
        j += 1
    gammas = mp.loggamma(a + b) + mp.loggamma(b + n) + mp.loggamma(k + a + 1)
    gammas -= mp.loggamma(a) + mp.loggamma(n) + mp.loggamma(b + 1) + mp.loggamma(b + k + 1 + a)
    return 1 - total * mp.exp(gammas)


downward = below(
    beta_negative_binomial, lambda k, a, b, n: k * (k - 1 + a + b + n) / ((k - 1 + n) * (k - 1 + a))
)


def order_statistic(
    count: int, rank: int, make: Callable[..., Any], law: tuple[Callable[..., Any], ...], **of_family: Any
) -> Family:
    """From the log density, both tails and the quantile of one draw, the last of the odds of being below."""
    log_density, lower, upper, quantile = law
    first, second = mp.mpf(rank), mp.mpf(count - rank + 1)

    @functools.cache
    def odds(q: Any) -> Any:
        # Kept by the exact level: that function also keeps its roots by the rounded one, for where to start.
        return mp.exp(beta_odds_quantile(q, first, second))

    def ordered_log_density(x: Any, *parameters: Any) -> Any:
        powers = (rank - 1) * mp.log(lower(x, *parameters)) + (count - rank) * mp.log(upper(x, *parameters))
        return powers + log_density(x, *parameters) - log_beta(first, second)

    return Family(
        lambda *parameters: dist.OrderStatistic(make(*parameters), count, rank),
        log_density=ordered_log_density,
        cdf=lambda x, *parameters: beta_lower(first, second, lower(x, *parameters), upper(x, *parameters)),
        quantile=lambda q, *parameters: quantile(odds(q), *parameters),
        **of_family,
    )


def normal_of_odds(odds: Any, loc: Any, scale: Any) -> Any:
    # By the smaller tail.
    is_low = odds < 1
    tail = 1 / (1 + (1 / odds if is_low else odds))
    return loc + scale * normal_quantile(tail) * (1 if is_low else -1)


NORMAL = (
    lambda x, loc, scale: mp.log(mp.npdf((x - loc) / scale) / scale),
    lambda x, loc, scale: normal_cdf((x - loc) / scale),
    lambda x, loc, scale: normal_cdf((loc - x) / scale),
    normal_of_odds,
)
EXPONENTIAL = (
    lambda x, rate: mp.log(rate) - rate * x,
    lambda x, rate: -mp.expm1(-rate * x),
    lambda x, rate: mp.exp(-rate * x),
    lambda odds, rate: mp.log1p(odds) / rate,
)
OUTCOMES = (-2.5, 0.0, 3.0, 1e6)
LEVELS = (1e-8, 0.01, 0.5, 0.99)

FAMILIES = {
    "BetaNegativeBinomial": Family(
        lambda a, b, n: dist.BetaNegativeBinomial(a, b, n),
        ("concentration1", "concentration0", "n"),
        beta_negative_binomial,
        beta_negative_binomial_cdf,
        points=[
            ((2.5, 5.0, 4.0), [0, 1, 2, 100, 1000000]),
            ((1e-6, 1e-6, 1e-6), [0, 1, 1000]),
            ((1e6, 1e6, 30.0), [0, 1, 30, 31, 300]),
            ((1e6, 1e6, 1e6), [999000, 1000000, 1003000]),
            ((1e-3, 1e6, 20.0), [0, 1, 9]),
            ((1e6, 0.5, 0.1), [0, 1, 1000000]),
            ((2.0, 1e-3, 3.0), [0, 50, 2.0**25, 2.0**50, 2.0**100]),
            ((0.3, 0.01, 7.0), [2000, 2.0**60]),
            ((300.0, 1e6, 1e6), [200, 310, 500]),
            ((1e3, 0.5, 1e3), [1000]),
        ],
        is_discrete=True,
    ),
    "DiscreteNonParametric": Family(
        lambda p, q, r: dist.DiscreteNonParametric(
            jnp.asarray(OUTCOMES, p.dtype), jnp.stack([p, q, r, 1 - p - q - r])
        ),
        ("p", "q", "r"),
        lambda x, p, q, r: mp.log((p, q, r, 1 - p - q - r)[OUTCOMES.index(float(x))]),
        lambda x, p, q, r: sum((p, q, r, 1 - p - q - r)[: OUTCOMES.index(float(x)) + 1]),
        points=[
            ((0.25, 0.125, 0.5), list(OUTCOMES)),
            ((1e-30, 0.5, 0.25), list(OUTCOMES)),
            ((0.5, 1e-6, 0.25), [0.0, 3.0]),
        ],
        is_discrete=True,
    ),
    "OrderStatistic, middle": order_statistic(
        9,
        3,
        dist.Normal,
        NORMAL,
        names=("loc", "scale"),
        points=[
            ((0.5, 2.0), [-40.0, -4.0, -0.6, 0.5, 1.5, 30.0]),
            ((0.0, 1e-6), [-1e-6, 2e-7]),
            ((-1e6, 1e6), [0.0]),
        ],
        q=LEVELS,
    ),
    "OrderStatistic, last": order_statistic(
        1_000_000,
        1_000_000,
        dist.Normal,
        NORMAL,
        names=("loc", "scale"),
        points=[((0.0, 1.0), [3.5, 4.5, 5.0, 6.0, 9.0])],
        q=LEVELS,
    ),
    "OrderStatistic, first": order_statistic(
        1000,
        1,
        dist.Exponential,
        EXPONENTIAL,
        names=("rate",),
        points=[((2.0,), [1e-9, 1e-4, 5e-4, 0.004, 5.0]), ((1e-6,), [1e-3, 700.0]), ((1e6,), [1e-9, 3e-9])],
        q=LEVELS,
    ),
    "OrderStatistic, high": order_statistic(
        1000,
        950,
        dist.Exponential,
        EXPONENTIAL,
        names=("rate",),
        points=[((0.5,), [1e-3, 4.0, 5.9, 6.1, 9.0, 40.0])],
        q=LEVELS,
    ),
}
