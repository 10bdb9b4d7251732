"""Compute the terms of count probabilities without subtracting large numbers from one another.

Every probability of the Poisson, binomial and Polya families is a sum of three kinds of terms: remainders of log
factorials, remainders of log-gamma functions, and excesses x log(m/x) - (m - x), which compare what was seen (x) with
what was expected (m). Each is small when its arguments are large, and so are its derivatives: a family goes over into
its limit (beta-binomial into binomial, negative binomial into Poisson) without loss of digits.

**Source**: Loader (2000), "Fast and accurate computation of binomial probabilities", extended to the Polya families.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ....bijectors.elementwise import log1p_of_positive
from ...special import excess, log1m, log_factorial_remainder, log_of, logistic, softplus
from ...special.basic.excess import log1p_excess_over_square, near_zero
from ...special.basic.gamma_ratio import remainder_rise
from ...special.basic.smooth import expm1_ratio


class Odds(NamedTuple):
    """Probabilities of success and failure, their logarithms, and p - 1/2 where it is known more accurately than p."""

    p: jax.Array
    q: jax.Array
    log_p: jax.Array
    log_q: jax.Array
    lead: Any = None


def success(probs: Any, logits: Any, dtype: Any) -> jax.Array:
    """Compute the probability of success alone: outside of a program, each operation is compiled by itself."""
    return jnp.asarray(probs, dtype) if logits is None else logistic(jnp.asarray(logits, dtype))


def odds(probs: Any, logits: Any, dtype: Any) -> Odds:
    """Compute the probabilities of success and failure from `probs` or `logits`, each exact where it is small."""
    if logits is None:
        p = jnp.asarray(probs, dtype)
        return Odds(p, 1 - p, log_of(p), log1m(p), p - 0.5)
    logits = jnp.asarray(logits, dtype)
    lead = 0.5 * jnp.tanh(0.5 * logits)
    return Odds(logistic(logits), logistic(-logits), -softplus(-logits), -softplus(logits), lead)


def select(is_inside: jax.Array, log_prob: Any, value: jax.Array) -> jax.Array:
    """Return the log probability inside the support, -inf outside it, and NaN where the value is NaN."""
    outside = jnp.where(jnp.isnan(value), jnp.nan, -jnp.inf)
    return jnp.where(is_inside, log_prob, outside.astype(value.dtype))


def filled(*arrays: Any) -> tuple[jax.Array, ...]:
    """Return the arguments as arrays of one shape and of the first argument's dtype."""
    return tuple(jnp.broadcast_arrays(*(jnp.asarray(array, arrays[0].dtype) for array in arrays)))


def poisson_log_prob(k: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log probability of k >= 0 events, smooth between whole ones; -inf where it is impossible."""
    return _excess_by_rate(k, rate) - log_factorial_remainder(k)


def poisson_log_prob_of_any(k: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log probability of k events; -inf with a zero gradient where it is impossible."""
    number, rest = _number_and_rest(k)
    return _excess_by_rate(number, rate) + rest


def log_poisson_log_prob_of_any(k: jax.Array, log_rate: jax.Array) -> jax.Array:
    """Compute the same by the logarithm of the rate."""
    number, rest = _number_and_rest(k)
    return _excess_by_log_rate(number, log_rate) + rest


def _number_and_rest(k: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return k, -1 in place of what is no number of events, and what does not depend on the rate.

    One array of the data alone, in place of a choice: XLA adds in the same pass, and reads less.
    """
    is_inside = (k >= 0) & (jnp.floor(k) == k) & (k < jnp.inf)
    rest = select(is_inside, -log_factorial_remainder(jnp.where(is_inside, k, 0.0)), k)
    return jnp.where(is_inside, k, -1.0), rest


@jax.custom_jvp
def _excess_by_rate(k: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute k log(rate/k) - (rate - k), to the rounding of rate - k; -inf where `rate` is 0 and k is not.

    -rate, with a zero gradient, where k is -1.
    """
    # The logarithm of just this argument: of a rate exp(x), XLA takes x.
    return _count_excess(k, rate, jnp.log(rate))


def _excess_by_rate_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, Any]:
    (k, rate), (k_dot, rate_dot) = primals, tangents
    total = jnp.zeros_like(rate - k)
    if not isinstance(rate_dot, SymbolicZero):
        slope = (k - rate) / jnp.where(rate > 0, rate, 1.0)
        total = total + jnp.where(k == 0, -1.0, jnp.where((rate > 0) & (k > 0), slope, 0.0)) * rate_dot
    if not isinstance(k_dot, SymbolicZero):
        total = total + _slope_by_count(k, rate, jnp.log(rate)) * k_dot
    return _excess_by_rate(k, rate), total


_excess_by_rate.defjvp(_excess_by_rate_jvp, symbolic_zeros=True)


@jax.custom_jvp
def _excess_by_log_rate(k: jax.Array, log_rate: jax.Array) -> jax.Array:
    """Compute the same from log(rate)."""
    return _count_excess(k, jnp.exp(log_rate), log_rate)


def _excess_by_log_rate_jvp(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[jax.Array, Any]:
    (k, log_rate), (k_dot, log_rate_dot) = primals, tangents
    rate = jnp.exp(log_rate)
    total = jnp.zeros_like(rate - k)
    if not isinstance(log_rate_dot, SymbolicZero):
        total = total + jnp.where(k >= 0, k - rate, 0.0) * log_rate_dot
    if not isinstance(k_dot, SymbolicZero):
        total = total + _slope_by_count(k, rate, log_rate) * k_dot
    return _excess_by_log_rate(k, log_rate), total


_excess_by_log_rate.defjvp(_excess_by_log_rate_jvp, symbolic_zeros=True)


def _count_excess(k: jax.Array, rate: jax.Array, log_rate: jax.Array) -> jax.Array:
    """Compute k (log(1 + u) - u), u = rate/k - 1, by a series where u is small."""
    # A choice between values, not between arguments: the slope has a rule of its own. By a product with 1/k, since XLA
    # computes a quotient that several places use, and all that it is made of, in passes of their own.
    gap, safe = rate - k, jnp.where(k > 0, k, 1.0)
    u = gap * (1.0 / safe)
    near = gap * (u * log1p_excess_over_square(u))
    far = k * (log_rate - jnp.log(safe)) - gap
    return jnp.where(k <= 0, -rate, jnp.where(jnp.abs(u) < 0.25, near, far))


def _slope_by_count(k: jax.Array, rate: jax.Array, log_rate: jax.Array) -> jax.Array:
    """Compute log(rate / k), and 0 where k is not above 0."""
    gap, safe = rate - k, jnp.where(k > 0, k, 1.0)
    is_near = jnp.abs(gap) < 0.25 * k
    u = jnp.where(is_near, gap, 0.0) / safe
    return jnp.where(k <= 0, 0.0, jnp.where(is_near, near_zero(u) + u, log_rate - jnp.log(safe)))


def poisson_log_prob_above_zero(k: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the log probability of k >= 1 events, given at least one, accurately for small rates."""
    return poisson_log_prob(k - 1, rate) - jnp.log(k) - jnp.log(expm1_ratio(-rate))


def binomial_log_prob(k: jax.Array, n: jax.Array, chance: Odds) -> jax.Array:
    """Compute the log probability of k successes in n trials, 0 <= k <= n; -inf with a zero gradient if impossible."""
    # Compare logs: a probability may underflow where its log does not.
    is_possible = ((k == 0) | (chance.log_p > -jnp.inf)) & ((k == n) | (chance.log_q > -jnp.inf))
    # Expected less observed, from the rarer outcome, whose probability is the more accurate; near
    # a half from the distance to a half, which is accurate.
    lead = chance.p - 0.5 if chance.lead is None else chance.lead
    gap = jnp.where(chance.p <= chance.q, n * chance.p - k, (n - k) - n * chance.q)
    gap = jnp.where(jnp.abs(lead) < 0.25, n * lead + (0.5 * n - k), gap)
    return jnp.where(is_possible, _binomial_terms(k, n, gap, chance.log_p, chance.log_q), -jnp.inf)


@jax.custom_jvp
def binomial_log_prob_by_logits(k: jax.Array, n: jax.Array, logits: jax.Array) -> jax.Array:
    """Compute the same from the log odds of success, with the slope k - n p by them."""
    small = jnp.exp(-jnp.abs(logits))
    rest = log1p_of_positive(small)
    log_p, log_q = jnp.minimum(logits, 0.0) - rest, -jnp.maximum(logits, 0.0) - rest
    log_prob = _binomial_terms(k, n, _gap_by_logits(k, n, logits), log_p, log_q)
    return jnp.where(_is_possible(k, n, logits), log_prob, -jnp.inf)


def _binomial_log_prob_by_logits_jvp(
    primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, Any]:
    (k, n, logits), (k_dot, n_dot, logits_dot) = primals, tangents
    log_prob = binomial_log_prob_by_logits(k, n, logits)
    total = jnp.zeros_like(log_prob)
    if not isinstance(logits_dot, SymbolicZero):
        slope = jnp.where(_is_possible(k, n, logits), -_gap_by_logits(k, n, logits), 0.0)
        total = total + slope * logits_dot
    if not (isinstance(k_dot, SymbolicZero) and isinstance(n_dot, SymbolicZero)):
        chance = odds(None, logits, log_prob.dtype)
        dots = [
            jnp.zeros_like(x) if isinstance(dot, SymbolicZero) else dot for x, dot in ((k, k_dot), (n, n_dot))
        ]
        _, by_counts = jax.jvp(lambda k, n: binomial_log_prob(k, n, chance), (k, n), tuple(dots))
        total = total + by_counts
    return log_prob, total


binomial_log_prob_by_logits.defjvp(_binomial_log_prob_by_logits_jvp, symbolic_zeros=True)


def _is_possible(k: jax.Array, n: jax.Array, logits: jax.Array) -> jax.Array:
    return ((k == 0) | (logits > -jnp.inf)) & ((k == n) | (logits < jnp.inf))


def _gap_by_logits(k: jax.Array, n: jax.Array, logits: jax.Array) -> jax.Array:
    """Return expected less observed successes, as `binomial_log_prob` finds them."""
    small = jnp.exp(-jnp.abs(logits))
    is_rare = logits <= 0
    gap = n * (small / (1.0 + small)) - jnp.where(is_rare, k, n - k)
    lead = 0.5 * jnp.tanh(0.5 * logits)
    return jnp.where(jnp.abs(logits) < 1.0, n * lead + (0.5 * n - k), jnp.where(is_rare, gap, -gap))


def _binomial_terms(
    k: jax.Array, n: jax.Array, gap: jax.Array, log_p: jax.Array, log_q: jax.Array
) -> jax.Array:
    """Add up the terms of a log probability from expected less observed successes, and the logs of both chances."""
    rest = n - k
    log_n = jnp.log(jnp.where(n > 0, n, 1.0))
    return (
        log_factorial_remainder(n)
        - log_factorial_remainder(k)
        - log_factorial_remainder(rest)
        + excess(k, gap, log_n - jnp.log(jnp.where(k > 0, k, 1.0)) + log_p)
        + excess(rest, -gap, log_n - jnp.log(jnp.where(rest > 0, rest, 1.0)) + log_q)
    )


def polya_urn(counts: jax.Array, weights: jax.Array, number: jax.Array, total: jax.Array) -> jax.Array:
    """Compute one outcome's term of a Polya log probability: seen `counts` times, with prior `weights`.

    **Arguments**: `number`, `total`, the sums of counts and of weights over all kinds.
    """
    gap = (number * weights - counts * total) / (total + number)
    log_counts = jnp.log(jnp.where(counts > 0, counts, 1.0))
    log_share = jnp.log(counts + weights) - jnp.log(total + number)
    log_number = jnp.log(jnp.where(number > 0, number, 1.0))
    return (
        excess(counts, gap, log_share + log_number - log_counts)
        + excess(weights, -gap, log_share + jnp.log(total) - jnp.log(weights))
        + remainder_rise(weights, counts)
    )
