"""State the distributions of counts by their textbook formulas, in mpmath."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from accuracy import Family
from mpmath import mp as _mp

import accord.distributions as dist

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp


def below(log_density: Callable[..., Any], ratio: Callable[..., Any]) -> Callable[..., Any]:
    """The cdf as the sum of the probabilities from x down; `ratio(k, *parameters)` is P(k - 1) / P(k)."""

    def cdf(x: Any, *parameters: Any) -> Any:
        term = total = mp.exp(log_density(x, *parameters))
        for k in range(int(x), 0, -1):
            factor = ratio(k, *parameters)
            term *= factor
            total += term
            if factor < 1 and term < total * mp.mpf(10) ** -95:
                break
        return total

    return cdf


def choose(n: Any, k: Any) -> Any:
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def log_beta(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def times_log(weight: Any, p: Any) -> Any:
    return weight * mp.log(p) if weight else mp.mpf(0)


def poisson(k: Any, rate: Any) -> Any:
    return k * mp.log(rate) - rate - mp.loggamma(k + 1)


def binomial(n: int) -> Callable[..., Any]:
    return lambda k, p: choose(mp.mpf(n), k) + times_log(k, p) + times_log(n - k, 1 - p)


def negative_binomial(k: Any, r: Any, p: Any) -> Any:
    return mp.loggamma(k + r) - mp.loggamma(r) - mp.loggamma(k + 1) + k * mp.log(p) + r * mp.log(1 - p)


def beta_binomial(n: int) -> Callable[..., Any]:
    return lambda k, a, b: choose(mp.mpf(n), k) + log_beta(k + a, n - k + b) - log_beta(a, b)


def ordered(k: Any, *parameters: Any) -> Any:
    return mp.log(ordered_below(k, *parameters) - (ordered_below(k - 1, *parameters) if k else 0))


def ordered_below(k: Any, predictor: Any, first: Any, second: Any) -> Any:
    return sigmoid((first, second)[int(k)] - predictor) if k < 2 else mp.mpf(1)


def zero_inflated(k: Any, gate: Any, rate: Any) -> Any:
    return mp.log((1 - gate) * mp.exp(poisson(k, rate)) + (gate if k == 0 else 0))


def hurdle_of(base: Callable[..., Any]) -> Callable[..., Any]:
    def log_probability(k: Any, gate: Any, *parameters: Any) -> Any:
        if k == 0:
            return mp.log(gate)
        return mp.log(1 - gate) + base(k, *parameters) - mp.log(1 - mp.exp(base(0, *parameters)))

    return log_probability


def by(convert: Callable[..., tuple[Any, ...]], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of other parameters, which `convert` turns into its own."""
    return lambda x, *parameters: function(x, *convert(*parameters))


def _second_form(mean: Any, concentration: Any) -> tuple[Any, ...]:
    return concentration, mean / (mean + concentration)


def _rate_form(concentration: Any, rate: Any) -> tuple[Any, ...]:
    return concentration, 1 / (1 + rate)


poisson_cdf = below(poisson, lambda k, rate: k / rate)
negative_binomial_cdf = below(negative_binomial, lambda k, r, p: k / ((k - 1 + r) * p))


def binomial_cdf(n: int) -> Callable[..., Any]:
    inside = below(binomial(n), lambda k, p: k * (1 - p) / ((n - k + 1) * p))
    return lambda k, p: inside(k, p) if k < n else mp.mpf(1)


def beta_binomial_cdf(n: int) -> Callable[..., Any]:
    inside = below(beta_binomial(n), lambda k, a, b: k * (n - k + b) / ((n - k + 1) * (k - 1 + a)))
    return lambda k, a, b: inside(k, a, b) if k < n else mp.mpf(1)


RATES: list[Any] = [
    ((1e-6,), [0, 1, 2, 100]),
    ((0.01,), [0, 1, 30]),
    ((2.5,), [0, 1, 2, 3, 12, 400]),
    ((60.0,), [0, 1, 20, 59, 60, 61, 150]),
    ((1e3,), [0, 500, 990, 1000, 1400, 6000]),
    ((1e6,), [900000, 999000, 1000000, 1000001, 1002500]),
]
CHANCES = [0.3, 0.5, 0.999, 1e-6, 1e-30, 1 - 1e-9]
LOG_ODDS = [0.0, 1.5, -8.0, 20.0, 60.0, -60.0]
FEW, MANY = 50, 1000000
MILLION: list[Any] = [
    (0.5, [499000, 500000, 500001, 501000, 430000]),
    (1e-6, [0, 1, 3, 40]),
    (0.3, [299000, 300000]),
]
NUMBERS: list[Any] = [
    ((2.5, 0.3), [0, 1, 2, 12, 400]),
    ((2.5, 0.999), [0, 100, 2500, 20000]),
    ((1e-6, 0.5), [0, 1, 50]),
    ((1e-3, 0.99), [0, 1, 5000]),
    ((1e6, 1e-6), [0, 1, 3, 30]),
    ((1e6, 0.5), [998000, 1000000, 1000001, 1003000]),
    ((60.0, 1e-6), [0, 1, 5]),
    ((500.0, 0.4), [0, 300, 333, 334, 500]),
]

FAMILIES = {
    "BernoulliProbs": Family(
        dist.BernoulliProbs,
        ("probs",),
        lambda k, p: mp.log(p if k else 1 - p),
        lambda k, p: 1 if k else 1 - p,
        points=[((p,), [0, 1]) for p in CHANCES],
        is_discrete=True,
    ),
    "BernoulliLogits": Family(
        dist.BernoulliLogits,
        ("logits",),
        lambda k, x: mp.log(sigmoid(x if k else -x)),
        lambda k, x: 1 if k else sigmoid(-x),
        points=[((x,), [0, 1]) for x in [*LOG_ODDS, 80.0, -3e4]],
        is_discrete=True,
    ),
    "Binomial50Probs": Family(
        lambda p: dist.Binomial(FEW, p),
        ("probs",),
        binomial(FEW),
        binomial_cdf(FEW),
        points=[((p,), [0, 1, 15, 25, 49, 50]) for p in CHANCES],
        is_discrete=True,
    ),
    "Binomial50Logits": Family(
        lambda x: dist.Binomial(FEW, logits=x),
        ("logits",),
        by(lambda x: (sigmoid(x),), binomial(FEW)),
        by(lambda x: (sigmoid(x),), binomial_cdf(FEW)),
        points=[((x,), [0, 1, 15, 25, 49, 50]) for x in LOG_ODDS],
        is_discrete=True,
    ),
    "BinomialMillionProbs": Family(
        lambda p: dist.Binomial(MANY, p),
        ("probs",),
        binomial(MANY),
        binomial_cdf(MANY),
        points=[((p,), k) for p, k in MILLION],
        is_discrete=True,
    ),
    "BinomialMillionLogits": Family(
        lambda x: dist.Binomial(MANY, logits=x),
        ("logits",),
        by(lambda x: (sigmoid(x),), binomial(MANY)),
        by(lambda x: (sigmoid(x),), binomial_cdf(MANY)),
        points=[
            ((3e-4,), [499000, 500000, 500075]),
            ((0.25,), [561500, 562177, 563000]),
            ((-13.8,), [0, 1, 3, 40]),
            ((13.8,), [999960, 999999, 1000000]),
        ],
        is_discrete=True,
    ),
    "Poisson": Family(dist.Poisson, ("rate",), poisson, poisson_cdf, points=RATES, is_discrete=True),
    "LogPoisson": Family(
        dist.LogPoisson,
        ("log_rate",),
        by(lambda x: (mp.exp(x),), poisson),
        by(lambda x: (mp.exp(x),), poisson_cdf),
        points=[
            ((-50.0,), [0, 1, 50]),
            ((1.0,), [0, 1, 3, 30, 1000]),
            ((5.0,), [0, 100, 148, 300]),
            ((13.0,), [440000, 442413, 445000]),
        ],
        is_discrete=True,
    ),
    "GeometricProbs": Family(
        dist.GeometricProbs,
        ("probs",),
        lambda k, p: times_log(k, 1 - p) + mp.log(p),
        lambda k, p: 1 - (1 - p) ** (k + 1),
        points=[((p,), [0, 1, 7, 20000]) for p in (0.3, 1e-6, 1e-30, 0.999)],
        is_discrete=True,
    ),
    "GeometricLogits": Family(
        dist.GeometricLogits,
        ("logits",),
        lambda k, x: times_log(k, sigmoid(-x)) + mp.log(sigmoid(x)),
        lambda k, x: 1 - sigmoid(-x) ** (k + 1),
        points=[((x,), [0, 1, 7, 60] if x < 1 else [0]) for x in LOG_ODDS],
        is_discrete=True,
    ),
    "NegativeBinomialProbs": Family(
        dist.NegativeBinomialProbs,
        ("total_count", "probs"),
        negative_binomial,
        negative_binomial_cdf,
        points=NUMBERS,
        is_discrete=True,
    ),
    "NegativeBinomialLogits": Family(
        dist.NegativeBinomialLogits,
        ("total_count", "logits"),
        by(lambda r, x: (r, sigmoid(x)), negative_binomial),
        by(lambda r, x: (r, sigmoid(x)), negative_binomial_cdf),
        points=[
            ((2.5, 0.0), [0, 1, 2, 12, 400]),
            ((2.5, 7.0), [0, 100, 2500, 20000]),
            ((1e-6, 2.0), [0, 1, 50]),
            ((1e6, -13.0), [0, 1, 3, 30]),
            ((60.0, -60.0), [0, 1, 5]),
            ((0.5, 40.0), [0, 10, 3000]),
        ],
        is_discrete=True,
    ),
    "NegativeBinomial2": Family(
        dist.NegativeBinomial2,
        ("mean", "concentration"),
        by(_second_form, negative_binomial),
        by(_second_form, negative_binomial_cdf),
        points=[
            ((4.0, 2.5), [0, 1, 4, 30, 400]),
            ((1e-6, 1e-6), [0, 1, 9]),
            ((5.0, 1e-6), [0, 1, 50, 5000]),
            ((1e3, 0.5), [0, 1, 1000, 10000]),
            ((50.0, 12.0), [0, 20, 50, 51, 200]),
            ((5.0, 1e8), [0, 1, 5, 6, 40]),
            ((1e3, 1e6), [800, 990, 1000, 1010, 1200]),
            ((1e-3, 1e4), [0, 1, 5]),
            ((1e6, 1e6), [999000, 1000000, 1003000]),
        ],
        is_discrete=True,
    ),
    "GammaPoisson": Family(
        dist.GammaPoisson,
        ("concentration", "rate"),
        by(_rate_form, negative_binomial),
        by(_rate_form, negative_binomial_cdf),
        points=[
            ((2.5, 0.7), [0, 1, 4, 30, 400]),
            ((2.5, 1e-3), [0, 100, 2500, 20000]),
            ((1e-6, 1e-6), [0, 1, 5000]),
            ((1e6, 1e6), [0, 1, 2, 30]),
            ((1e6, 1.0), [998000, 1000000, 1000001, 1003000]),
            ((20.0, 1e6), [0, 1, 5]),
        ],
        is_discrete=True,
    ),
    "BetaBinomial50": Family(
        lambda a, b: dist.BetaBinomial(a, b, FEW),
        ("concentration1", "concentration0"),
        beta_binomial(FEW),
        beta_binomial_cdf(FEW),
        points=[
            (shapes, [0, 1, 15, 25, 49, 50])
            for shapes in [(2.5, 0.7), (1e-6, 1e-6), (1e6, 1e6), (1e-3, 1e6), (1e6, 30.0), (1e8, 1e8)]
        ],
        is_discrete=True,
    ),
    "OrderedLogistic": Family(
        lambda predictor, *cuts: dist.OrderedLogistic(predictor, jnp.stack(cuts)),
        ("predictor", "first", "second"),
        ordered,
        ordered_below,
        points=[
            (p, [0, 1, 2])
            for p in [
                (0.5, -1.0, 2.0),
                (60.0, -1.0, 2.0),
                (-60.0, -1.0, 2.0),
                (0.0, 0.5, 0.501),
                (3e3, -3e3, 10.0),
            ]
        ],
        is_discrete=True,
    ),
    "ZeroInflatedPoisson": Family(
        dist.ZeroInflatedPoisson,
        ("gate", "rate"),
        zero_inflated,
        lambda k, gate, rate: gate + (1 - gate) * poisson_cdf(k, rate),
        points=[((g, r), [0, 1, 9 if r > 1 else 3]) for g in (0.3, 1e-6, 0.999) for r in (1e-6, 2.5, 60.0)],
        is_discrete=True,
    ),
    "HurdlePoisson": Family(
        dist.HurdlePoisson,
        ("gate", "rate"),
        hurdle_of(poisson),
        lambda k, gate, rate: (
            gate + (1 - gate) * (poisson_cdf(k, rate) - mp.exp(-rate)) / (1 - mp.exp(-rate))
        ),
        points=[((g, r), [0, 1, 9]) for g in (0.3, 1e-6, 0.999) for r in (1e-6, 0.01, 2.5, 60.0)],
        is_discrete=True,
    ),
    "HurdleNegativeBinomial2": Family(
        lambda gate, *shape: dist.HurdleNegativeBinomial2(*shape, gate=gate),
        ("gate", "mean", "concentration"),
        hurdle_of(by(_second_form, negative_binomial)),
        points=[
            ((0.3, *shape), [0, 1, 9])
            for shape in [(1e-6, 2.0), (1e-3, 1e-6), (1e-3, 1e6), (5.0, 1e8), (5.0, 1e-3), (1e3, 10.0)]
        ],
        is_discrete=True,
    ),
}
