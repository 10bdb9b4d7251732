"""Compute the parts that probabilities of counts are made of, with nothing large subtracted from anything large.

Every probability of the Poisson, binomial and Polya families is a sum of three kinds of terms: remainders of log
factorials, remainders of log-gamma functions, and excesses x log(m/x) - (m - x), which compare what was seen (x) with
what was expected (m). Each is small when its arguments are large, and so are its derivatives: a family goes over into
its limit (beta-binomial into binomial, negative binomial into Poisson) without loss of digits.

**Source**: Loader (2000), "Fast and accurate computation of binomial probabilities", extended to the Polya families.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..special import log1m, log_factorial_remainder, log_gamma_remainder, log_of, logistic, softplus

# Coefficients of r, r^3, ... in log Gamma(1/r) without its leading growth: Abramowitz & Stegun (1964), 6.1.40.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_STIRLING_FROM = 10.0


class Odds(NamedTuple):
    """The probabilities of success and failure, and their logarithms."""

    p: jax.Array
    q: jax.Array
    log_p: jax.Array
    log_q: jax.Array


def odds(probs: Any, logits: Any, dtype: Any) -> Odds:
    """Probabilities of success and failure from whichever of the two was given, each exact where it is small."""
    if logits is None:
        p = jnp.asarray(probs, dtype)
        return Odds(p, 1 - p, log_of(p), log1m(p))
    logits = jnp.asarray(logits, dtype)
    return Odds(logistic(logits), logistic(-logits), -softplus(-logits), -softplus(logits))


def select(is_inside: jax.Array, log_prob: Any, value: jax.Array) -> jax.Array:
    """The log probability inside the support, -inf outside it; NaN where the value is NaN."""
    outside = jnp.where(jnp.isnan(value), jnp.nan, -jnp.inf)
    return jnp.where(is_inside, log_prob, outside.astype(value.dtype))


def filled(*arrays: Any) -> tuple[jax.Array, ...]:
    """Arrays of one dtype, that of the first, and one shape."""
    return tuple(jnp.broadcast_arrays(*(jnp.asarray(array, arrays[0].dtype) for array in arrays)))


def excess(x: jax.Array, gap: jax.Array, log_ratio: jax.Array) -> jax.Array:
    """Compute x log(1 + gap/x) - gap, for x >= 0 and x + gap >= 0.

    **Arguments**: `log_ratio` is that logarithm, used where `gap` is not small beside `x`; it may be -inf.
    """
    is_zero = x == 0
    safe = jnp.where(is_zero, 1.0, x)
    is_near = jnp.abs(gap) <= 0.5 * x
    near = safe * log1p_excess(jnp.where(is_near, gap, 0.0) / safe)
    far = safe * jnp.where(is_near | is_zero, 0.0, log_ratio) - gap
    return jnp.where(is_zero, -gap, jnp.where(is_near, near, far))


@jax.custom_jvp
def log1p_excess(u: jax.Array) -> jax.Array:
    """Compute log(1 + u) - u, for u > -1, to full relative accuracy."""
    is_small = jnp.abs(u) < 0.25
    small, large = jnp.where(is_small, u, 0.0), jnp.where(is_small, 1.0, u)
    # log(1 + u) = 2 atanh(z), and 2 z - u = -u z.
    z = small / (2 + small)
    square, total = z * z, 0.0
    for odd in range(21, 1, -2):
        total = 1 / odd + square * total
    return jnp.where(is_small, z * (2 * square * total - small), jnp.log1p(large) - large)


@log1p_excess.defjvp
def _log1p_excess_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (u,), (u_dot,) = primals, tangents
    return log1p_excess(u), -u / (1 + u) * u_dot


def log_gamma_rise(a: jax.Array, k: jax.Array) -> jax.Array:
    """Compute G(a + k) - G(a), G(a) = log Gamma(a) - a log(a) + a, for a > 0, k >= 0: -log(1 + k/a)/2 for large `a`."""
    is_large = a >= _STIRLING_FROM
    large, small = jnp.where(is_large, a, _STIRLING_FROM), jnp.where(is_large, 1.0, a)
    # r, s: inverses of the two arguments. The divided difference of Stirling's series needs no difference of its sums.
    r, s = 1 / large, 1 / (large + k)
    at_s, slope = _STIRLING[-1], 0.0
    for coefficient in _STIRLING[-2::-1]:
        slope = at_s + r * r * slope
        at_s = coefficient + s * s * at_s
    series = -0.5 * jnp.log1p(k * r) - k * r * s * (at_s + r * slope * (s + r))
    return jnp.where(is_large, series, log_gamma_remainder(small + k) - log_gamma_remainder(small))


def poisson_log_prob(k: jax.Array, rate: jax.Array) -> jax.Array:
    """Log probability of the whole number k >= 0 of events; -inf with a zero gradient where it is impossible."""
    is_possible = (k == 0) | (rate > 0)
    k = jnp.where(is_possible, k, 0.0)
    log_ratio = log_of(rate) - jnp.log(jnp.where(k > 0, k, 1.0))
    log_prob = excess(k, rate - k, log_ratio) - log_factorial_remainder(k)
    return jnp.where(is_possible, log_prob, -jnp.inf)


def binomial_log_prob(k: jax.Array, n: jax.Array, chance: Odds) -> jax.Array:
    """Log probability of k successes in n trials, 0 <= k <= n; -inf with a zero gradient where it is impossible."""
    # By the logs: a probability may be too small for a number where its log is not.
    is_possible = ((k == 0) | (chance.log_p > -jnp.inf)) & ((k == n) | (chance.log_q > -jnp.inf))
    rest = n - k
    # What was expected less what was seen, by way of the rarer outcome: its probability is the more exact one.
    gap = jnp.where(chance.p <= chance.q, n * chance.p - k, rest - n * chance.q)
    log_n = jnp.log(jnp.where(n > 0, n, 1.0))
    log_prob = (
        log_factorial_remainder(n)
        - log_factorial_remainder(k)
        - log_factorial_remainder(rest)
        + excess(k, gap, log_n - jnp.log(jnp.where(k > 0, k, 1.0)) + chance.log_p)
        + excess(rest, -gap, log_n - jnp.log(jnp.where(rest > 0, rest, 1.0)) + chance.log_q)
    )
    return jnp.where(is_possible, log_prob, -jnp.inf)


def polya_urn(counts: jax.Array, weights: jax.Array, number: jax.Array, total: jax.Array) -> jax.Array:
    """The part of a Polya log probability that belongs to one kind of outcome: seen `counts` times, of prior `weights`.

    **Arguments**: `number`, `total`, the sums of counts and of weights over all kinds.
    """
    gap = (number * weights - counts * total) / (total + number)
    log_counts = jnp.log(jnp.where(counts > 0, counts, 1.0))
    log_share = jnp.log(counts + weights) - jnp.log(total + number)
    log_number = jnp.log(jnp.where(number > 0, number, 1.0))
    return (
        excess(counts, gap, log_share + log_number - log_counts)
        + excess(weights, -gap, log_share + jnp.log(total) - jnp.log(weights))
        + log_gamma_rise(weights, counts)
    )
