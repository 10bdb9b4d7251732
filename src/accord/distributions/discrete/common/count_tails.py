"""Compute the tails of the Poisson, binomial and negative binomial families by incomplete gamma and beta functions.

Each tail is asked for as "cdf", "log_cdf" or "log_survival", and computed as itself, never as one less another.

**Source**: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, equations 4.91, 3.30 and 5.31.
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from ...special import (
    beta_cdf,
    beta_survival,
    gamma_survival,
    log1m_exp,
    log_beta_cdf,
    log_beta_survival,
    log_gamma_cdf,
    log_gamma_survival,
    one_less_exp,
)
from .counts import Odds
from .negative_binomial_tail import nearer_tail_by_mean

Tail = Literal["cdf", "log_cdf", "log_survival"]

_GAMMA: dict[str, Callable[..., jax.Array]] = {
    "cdf": gamma_survival,
    "log_cdf": log_gamma_survival,
    "log_survival": log_gamma_cdf,
}
_UPPER: dict[str, Callable[..., jax.Array]] = {
    "cdf": beta_survival,
    "log_cdf": log_beta_survival,
    "log_survival": log_beta_cdf,
}
_LOWER: dict[str, Callable[..., jax.Array]] = {
    "cdf": beta_cdf,
    "log_cdf": log_beta_cdf,
    "log_survival": log_beta_survival,
}


def poisson_tail(tail: Tail, k: jax.Array, rate: jax.Array) -> jax.Array:
    """Compute the probability of at most (or of more than) `k` events."""
    k = jnp.floor(k)
    is_within = (k >= 0) & (k < jnp.inf)
    a, rate = jnp.broadcast_arrays(jnp.where(is_within, k, 0.0) + 1, rate)
    return _with_ends(tail, k, is_within, k < 0, _GAMMA[tail](a, rate))


def binomial_tail(tail: Tail, k: jax.Array, n: jax.Array, chance: Odds, *, is_exact: bool) -> jax.Array:
    """Compute the probability of at most (or of more than) `k` successes in `n` trials.

    **Arguments**: `is_exact`: whether the probability of failure is known more accurately than as 1 - p.
    """
    value, n, p, q = jnp.broadcast_arrays(jnp.floor(k), n, chance.p, chance.q)
    is_within = (value >= 0) & (value < n)
    k = jnp.where(is_within, value, 0.0)
    inside = beta_tail(tail, k + 1, jnp.where(is_within, n - k, 1.0), p, q, is_exact=is_exact)
    return _with_ends(tail, value, is_within, value < 0, inside)


def negative_binomial_tail(
    tail: Tail, k: jax.Array, n: jax.Array, chance: Odds, *, is_exact: bool
) -> jax.Array:
    """Compute the probability of at most (or more than) `k` successes before `n` failures, `n` any positive number."""
    value, n, p, q = jnp.broadcast_arrays(jnp.floor(k), n, chance.p, chance.q)
    is_within = (value >= 0) & (value < jnp.inf)
    inside = beta_tail(tail, jnp.where(is_within, value, 0.0) + 1, n, p, q, is_exact=is_exact)
    return _with_ends(tail, value, is_within, value < 0, inside)


def negative_binomial_tail_by_mean(
    tail: Tail, k: jax.Array, mean: jax.Array, concentration: jax.Array, log_prob: Callable[..., jax.Array]
) -> jax.Array:
    """Compute a negative binomial tail from mean and concentration; `log_prob` is a function of count and both."""
    value = jnp.floor(k)
    is_within = (value >= 0) & (value < jnp.inf)
    k = jnp.where(is_within, value, 0.0)
    logarithm, is_upper = nearer_tail_by_mean(log_prob(k, mean, concentration), k, mean, concentration)
    # The other tail is the complement.
    is_known = is_upper == (tail == "log_survival")
    if tail == "cdf":
        inside = jnp.where(is_known, jnp.exp(logarithm), one_less_exp(logarithm))
    else:
        inside = jnp.where(is_known, logarithm, log1m_exp(jnp.where(is_known, -1.0, logarithm)))
    return _with_ends(tail, value, is_within, value < 0, inside)


def beta_tail(tail: Tail, a: Any, b: Any, p: Any, q: Any, *, is_exact: bool) -> jax.Array:
    """Compute a count tail whose upper tail is I_p(a, b); use the smaller of p and q = 1 - p if `is_exact`."""
    if not is_exact:
        return _UPPER[tail](a, b, p)
    is_low = p <= q
    below = _UPPER[tail](jnp.where(is_low, a, 1.0), jnp.where(is_low, b, 1.0), jnp.where(is_low, p, 0.5))
    above = _LOWER[tail](jnp.where(is_low, 1.0, b), jnp.where(is_low, 1.0, a), jnp.where(is_low, 0.5, q))
    return jnp.where(is_low, below, above)


def _with_ends(tail: Tail, k: jax.Array, is_within: jax.Array, is_below: jax.Array, inside: Any) -> jax.Array:
    """Return the tail inside the support, its limits outside, and NaN where the value is NaN."""
    under, over = {"cdf": (0.0, 1.0), "log_cdf": (-jnp.inf, 0.0), "log_survival": (0.0, -jnp.inf)}[tail]
    outside = jnp.where(jnp.isnan(k), jnp.nan, jnp.where(is_below, under, over)).astype(k.dtype)
    return jnp.where(is_within, inside, outside)
