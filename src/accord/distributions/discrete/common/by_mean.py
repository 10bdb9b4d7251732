"""Compute the negative binomial log probability by mean and concentration, whatever their size.

It is written as an excess and remainders of log-gamma functions (see `counts`): the excess compares k successes and c
failures with their expected shares of k + c. Its slope by the concentration is of second order where that is large.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ....bijectors.quick_log import quick_log
from ...special import log_factorial_remainder
from ...special.basic.excess import log_of_ratio, near_zero
from ...special.basic.gamma_ratio import remainder_rise


def log_prob_by_mean(k: jax.Array, mean: jax.Array, c: jax.Array) -> jax.Array:
    """Compute the log probability of the whole number k >= 0, given the mean and the concentration c.

    What depends on the concentration alone is computed as often as it has entries.
    """
    return _shared_excess(k, mean, c) + remainder_rise(c, k) - log_factorial_remainder(k)


@jax.custom_jvp
def _shared_excess(k: jax.Array, mean: jax.Array, c: jax.Array) -> jax.Array:
    """Compute k log(mean (k + c) / (k (mean + c))) + c log((k + c) / (mean + c)), to the rounding of mean - k."""
    return k * _log_of_share(k, mean, c) + c * _log_of_rest(k, mean, c)


def _shared_excess_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[jax.Array, Any]:
    (k, mean, c), (k_dot, mean_dot, c_dot) = primals, tangents
    fall = (mean - k) / (mean + c)
    total = jnp.zeros_like(fall)
    if not isinstance(k_dot, SymbolicZero):
        total = total + _log_of_share(k, mean, c) * k_dot
    if not isinstance(mean_dot, SymbolicZero):
        total = total - c * (fall / mean) * mean_dot
    if not isinstance(c_dot, SymbolicZero):
        # Of second order in `fall`, which is small for a large concentration.
        is_small = jnp.abs(fall) < 0.25
        near = near_zero(jnp.where(is_small, -fall, 0.0))
        total = total + jnp.where(is_small, near, _log_of_rest(k, mean, c) + fall) * c_dot
    return _shared_excess(k, mean, c), total


_shared_excess.defjvp(_shared_excess_jvp, symbolic_zeros=True)


def _log_of_share(k: jax.Array, mean: jax.Array, c: jax.Array) -> jax.Array:
    """Compute the log of the expected over the observed share of successes; of the expected share where k is 0."""
    gap = (mean - k) * (c / (mean + c))
    is_near, safe = jnp.abs(gap) <= 0.5 * k, jnp.where(k > 0, k, 1.0)
    found = log_of_ratio(gap / safe, mean * ((k + c) / (mean + c)), is_near)
    return found - jnp.where(is_near, 0.0, jnp.log(safe))


def _log_of_rest(k: jax.Array, mean: jax.Array, c: jax.Array) -> jax.Array:
    """Compute the log of the expected over the observed share of failures, of k + c."""
    total = mean + c
    fall = (mean - k) / total
    is_near = jnp.abs(fall) <= 0.5
    return log_of_ratio(-fall, k + c, is_near) - jnp.where(is_near, 0.0, quick_log(total))
