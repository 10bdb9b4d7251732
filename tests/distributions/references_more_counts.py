"""State further distributions of counts and categories by their textbook formulas, in mpmath."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from accuracy import Family
from mpmath import mp as _mp
from references_discrete import choose
from references_noncentral import positive_inverse

import accord.distributions as dist

# Its functions are made at run time, where no type checker sees them.
mp: Any = _mp


def skellam(k: Any, rate1: Any, rate2: Any) -> Any:
    """The sum over how many are taken off, whose terms rise and then fall."""
    k, j = int(k), max(0, -int(k))
    term = rate1 ** (j + k) * rate2**j / (mp.factorial(j + k) * mp.factorial(j))
    total = term
    while True:
        j += 1
        factor = rate1 * rate2 / (mp.mpf(j) * (j + k))
        term *= factor
        total += term
        if factor < 1 and term < total * mp.mpf(10) ** -95:
            return mp.log(total) - rate1 - rate2


def skellam_cdf(k: Any, rate1: Any, rate2: Any) -> Any:
    """The mean, over how many are taken off, of the cdf of those that are added."""
    k = int(k)
    taken, added = max(0, -k), 0
    weight = rate2**taken / mp.factorial(taken)
    term = below = mp.mpf(1)
    for added in range(1, taken + k + 1):
        term *= rate1 / added
        below += term
    total, added = weight * below, taken + k
    while True:
        taken, added = taken + 1, added + 1
        factor = rate2 / taken
        weight *= factor
        term *= rate1 / added
        below += term
        total += weight * below
        if factor < 0.9 and weight * mp.exp(rate1) < total * mp.mpf(10) ** -95:
            return total * mp.exp(-rate1 - rate2)


def hypergeometric(k: Any, a: Any, b: Any, n: Any) -> Any:
    # They are whole numbers: there is nothing to differentiate by.
    a, b, n = mp.nint(a), mp.nint(b), mp.nint(n)
    return choose(a, k) + choose(b, n - k) - choose(a + b, n)


def fisher_terms(a: int, b: int, n: int, odds: Any) -> dict[int, Any]:
    """Weights of all values."""
    return {
        k: mp.binomial(a, k) * mp.binomial(b, n - k) * odds**k for k in range(max(0, n - b), min(a, n) + 1)
    }


def fisher(a: int, b: int, n: int) -> Callable[..., Any]:
    return lambda k, odds: mp.log(
        fisher_terms(a, b, n, odds)[int(k)] / sum(fisher_terms(a, b, n, odds).values())
    )


def fisher_cdf(a: int, b: int, n: int) -> Callable[..., Any]:
    def cdf(k: Any, odds: Any) -> Any:
        terms = fisher_terms(a, b, n, odds)
        return sum(w for j, w in terms.items() if j <= k) / sum(terms.values())

    return cdf


def trials(probs: Any) -> list[Any]:
    """Probabilities of all numbers of successes, one trial after the other."""
    table = [mp.mpf(1)]
    for p in probs:
        table = [
            (table[k] if k < len(table) else 0) * (1 - p) + (table[k - 1] if k else 0) * p
            for k in range(len(table) + 1)
        ]
    return table


SPREAD: Any = np.linspace(0.01, 1.0, 60).astype(np.float32).astype(np.float64)


def spread(p: Any) -> list[Any]:
    return trials([p * mp.mpf(float(weight)) for weight in SPREAD])


def polya_gamma_sum(x: Any, b: Any, term: Callable[[Any], Any]) -> Any:
    """The alternating sum, with the digits that its cancellation costs."""
    with mp.workdps(int(110 + 0.4 * b + 2.5 * x)):
        total, weight, n = mp.mpf(0), mp.mpf(1), 0
        while True:
            part = weight * term(2 * n + b)
            total += (-1) ** n * part
            if n > 10 and n > b and part < abs(total) * mp.mpf(10) ** -105:
                return total
            weight *= (n + b) / mp.mpf(n + 1)
            n += 1


def polya_gamma(x: Any, b: Any, c: Any) -> Any:
    total = polya_gamma_sum(x, b, lambda m: m * mp.exp(-(m**2) / (8 * x)))
    front = (b - 1) * mp.log(2) - mp.log(2 * mp.pi * x**3) / 2
    return front + b * mp.log(mp.cosh(c / 2)) - c * c * x / 2 + mp.log(total)


def polya_gamma_cdf(x: Any, b: Any, c: Any) -> Any:
    """A sum of inverse Gaussian cdfs."""

    def below(m: Any) -> Any:
        c_ = abs(c)
        one = mp.exp(-m * c_ / 2) * mp.erfc((m / 2 / x - c_) * mp.sqrt(x / 2))
        return (one + mp.exp(m * c_ / 2) * mp.erfc((m / 2 / x + c_) * mp.sqrt(x / 2))) / 2

    return (2 * mp.cosh(c / 2)) ** b * polya_gamma_sum(x, b, below)


def make_polya_gamma(shape: Any, tilt: Any) -> dist.PolyaGamma:
    return dist.PolyaGamma(shape, tilt)


FAMILIES: dict[str, Family] = {
    "Skellam": Family(
        lambda rate1, rate2: dist.Skellam(rate1, rate2),
        ("rate1", "rate2"),
        skellam,
        skellam_cdf,
        points=[
            ((2.5, 1.5), [-7, -1, 0, 1, 2, 12, 60]),
            ((1e-6, 1e-6), [-3, -1, 0, 1]),
            ((30.0, 40.0), [-100, -10, 0, 50]),
            ((1e-3, 20.0), [-40, -20, -1, 1]),
            ((100.0, 1e-4), [0, 50, 100, 130]),
            ((1e3, 500.0), [-300, 499, 500, 501, 800]),
            ((9e4, 1e5), [-12000, -10000]),
        ],
        is_discrete=True,
    ),
    "Hypergeometric": Family(
        lambda a, b, n: dist.Hypergeometric(a, b, n),
        ("num_successes", "num_failures", "total_count"),
        hypergeometric,
        points=[
            ((8.0, 12.0, 9.0), [0, 1, 4, 8]),
            ((100.0, 5.0, 60.0), [55, 57, 60]),
            ((1e6, 1e6, 1e6), [400000, 499000, 500000, 501000]),
            ((50.0, 1e6, 1e3), [0, 1, 5, 50]),
            ((1e4, 1e4, 2.0), [0, 1, 2]),
            ((5.0, 7.0, 12.0), [5]),
            ((0.0, 7.0, 3.0), [0]),
            ((1e3, 2e6, 1e6), [300, 333, 340]),
        ],
        is_discrete=True,
    ),
    "NoncentralHypergeometric50": Family(
        lambda odds: dist.NoncentralHypergeometric(50, 40, 30, odds),
        ("odds",),
        fisher(50, 40, 30),
        fisher_cdf(50, 40, 30),
        points=[
            ((1.0,), [0, 15, 17, 29]),
            ((0.01,), [0, 1, 10]),
            ((30.0,), [12, 27, 29]),
            ((1e-6,), [0, 2, 8]),
            ((1e6,), [10, 28, 29]),
        ],
        is_discrete=True,
    ),
    "PoissonBinomial3": Family(
        lambda p, q, r: dist.PoissonBinomial(jnp.stack([p, q, r])),
        ("p", "q", "r"),
        lambda k, p, q, r: mp.log(trials((p, q, r))[int(k)]),
        lambda k, p, q, r: sum(trials((p, q, r))[: int(k) + 1]),
        points=[
            ((0.3, 0.5, 0.9), [0, 1, 2, 3]),
            ((1e-6, 0.5, 1 - 1e-6), [0, 1, 2, 3]),
            ((1e-9, 1e-12, 0.999), [0, 1, 2]),
            ((0.01, 0.01, 0.01), [0, 1, 2, 3]),
        ],
        is_discrete=True,
    ),
    "PoissonBinomial60": Family(
        lambda p: dist.PoissonBinomial(p[..., None] * jnp.asarray(SPREAD, p.dtype)),
        ("scale",),
        lambda k, p: mp.log(spread(p)[int(k)]),
        lambda k, p: sum(spread(p)[: int(k) + 1]),
        points=[((0.9,), [0, 10, 27, 28, 50, 60]), ((1e-6,), [0, 1, 30, 60]), ((0.2,), [0, 6, 40])],
        is_discrete=True,
    ),
    "Categorical, probs": Family(
        lambda p, q: dist.Categorical(jnp.stack([p, q, 1 - p - q])),
        ("p", "q"),
        lambda k, p, q: mp.log((p, q, 1 - p - q)[int(k)]),
        lambda k, p, q: sum((p, q, 1 - p - q)[: int(k) + 1]),
        points=[
            ((0.25, 0.5), [0, 1, 2]),
            ((1e-6, 0.5), [0, 1, 2]),
            ((1e-30, 0.25), [0, 1, 2]),
            ((0.5, 1e-12), [0, 1]),
        ],
        is_discrete=True,
    ),
    "Categorical, logits": Family(
        lambda a, b, c: dist.Categorical(logits=jnp.stack([a, b, c])),
        ("a", "b", "c"),
        lambda k, *logits: logits[int(k)] - mp.log(sum(map(mp.exp, logits))),
        lambda k, *logits: sum(map(mp.exp, logits[: int(k) + 1])) / sum(map(mp.exp, logits)),
        points=[
            ((0.3, -1.0, 2.0), [0, 1, 2]),
            ((0.0, 0.0, 0.0), [0, 1, 2]),
            ((-80.0, 1.0, 2.0), [0, 1, 2]),
            ((-80.0, 1.0, 20.0), [0, 1, 2]),
            ((1e4, 0.0, -1e4), [0, 1, 2]),
            ((5e3, 5000.5, 4999.0), [0, 1, 2]),
            ((100.5, 101.0, 100.0), [0, 1, 2]),
            ((-50.0, 50.0, 50.0), [0, 1, 2]),
        ],
        is_discrete=True,
    ),
    "DiscreteUniform": Family(
        lambda low, high: dist.DiscreteUniform(low, high),
        ("low", "high"),
        # The ends are whole numbers: there is nothing to differentiate by.
        lambda k, low, high: -mp.log(mp.nint(high) - mp.nint(low) + 1),
        lambda k, low, high: (mp.floor(k) - mp.nint(low) + 1) / (mp.nint(high) - mp.nint(low) + 1),
        points=[
            ((0.0, 5.0), [0, 1, 3, 5]),
            ((-3.0, 9.0), [-3, 0, 9]),
            ((7.0, 7.0), [7]),
            ((-1e6, 1e6), [-1e6, -999999, 0, 1, 1e6]),
            ((0.0, 16777215.0), [0, 12345, 16777215]),
            ((-2.0, 1.0), [-2, -1, 0, 1]),
        ],
        is_discrete=True,
    ),
    "PolyaGamma": Family(
        make_polya_gamma,
        ("shape", "tilt"),
        polya_gamma,
        polya_gamma_cdf,
        positive_inverse(make_polya_gamma, polya_gamma_cdf, polya_gamma),
        [
            ((1.0, 0.0), [1e-5, 0.16, 0.25, 1.0, 10.0]),
            ((1.0, 3.0), [0.01, 0.2, 3.0]),
            ((4.0, -1.5), [0.05, 0.9, 1.1]),
            ((0.3, 0.5), [1e-4, 0.1, 2.0]),
            ((0.01, 1.0), [1e-6, 0.1]),
            ((12.0, 2.0), [0.3, 2.4]),
            ((1.0, 100.0), [1e-4, 4e-3]),
        ],
        q=(1e-8, 0.25, 0.99),
    ),
    "TruncatedPolyaGamma": Family(
        dist.TruncatedPolyaGamma,
        (),
        lambda x: (
            polya_gamma(x, mp.mpf(1), mp.mpf(0)) - mp.log(polya_gamma_cdf(mp.mpf(2.5), mp.mpf(1), mp.mpf(0)))
        ),
        lambda x: (
            polya_gamma_cdf(x, mp.mpf(1), mp.mpf(0)) / polya_gamma_cdf(mp.mpf(2.5), mp.mpf(1), mp.mpf(0))
        ),
        points=[((), [1e-4, 1e-3, 0.01, 0.1, 0.159, 0.161, 0.25, 0.5, 1.0, 1.5, 2.0, 2.25, 2.49])],
        q=(),
    ),
}
