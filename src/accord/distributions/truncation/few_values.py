"""Condition a whole-number distribution on an interval with few numbers, by sums over all of them."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ...bijectors import is_concrete
from ..parameters import without_gradient
from ..special import log_sum_exp
from .interval_support import ends

if TYPE_CHECKING:
    from ..base import AbstractDistribution

# Up to this many values a sum compiles and runs faster than most cdfs.
_MOST = 64
# A cumulative probability within this many units of rounding below a level counts as having reached it.
_SLACK = 16


def span_if_few(base: "AbstractDistribution", low: Any, high: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the first and last whole number within the bounds; None if many, or known only at run time."""
    lower, upper = ends(base.support)
    low, high = lower if low is None else low, upper if high is None else high
    if not (base.is_discrete and all(is_concrete(end) for end in (lower, upper, low, high))):
        return None
    first, last = np.maximum(np.ceil(low), lower), np.minimum(np.floor(high), upper)
    return (first, last) if np.all(last - first < _MOST) else None


def few_log_density(
    base: "AbstractDistribution", x: jax.Array, span: tuple[np.ndarray, np.ndarray]
) -> jax.Array:
    """Return the log probability at `x`, given a value in the interval."""
    return base.log_prob(x) - log_sum_exp(_terms(base, x, span)[1], axis=0)


def few_log_share(
    base: "AbstractDistribution", x: jax.Array, span: tuple[np.ndarray, np.ndarray], *, is_above: bool
) -> jax.Array:
    """Return the log share of the mass of at most `x`, or above it."""
    values, terms = _terms(base, x, span)
    x = jnp.expand_dims(x, 0)
    is_counted = values > x if is_above else values <= x
    result = log_sum_exp(jnp.where(is_counted, terms, -jnp.inf), axis=0) - log_sum_exp(terms, axis=0)
    return jnp.where(result > 0, 0.0, result)


def few_shares(
    base: "AbstractDistribution", like: jax.Array, span: tuple[np.ndarray, np.ndarray]
) -> tuple[jax.Array, jax.Array]:
    """Return the values along a new first axis, and the log share of each, in the shape of `like`."""
    values, terms = _terms(base, like, span)
    log_share = terms - jnp.expand_dims(log_sum_exp(terms, axis=0), 0)
    return jnp.broadcast_to(values, log_share.shape), log_share


def few_quantile(
    base: "AbstractDistribution", q: jax.Array, span: tuple[np.ndarray, np.ndarray]
) -> jax.Array:
    """Return the smallest value at which the share is at least `q`, in (0, 1); it has no derivative."""
    values, terms = _terms(without_gradient(base), q, span)
    shares = jnp.exp(terms - jnp.expand_dims(log_sum_exp(terms, axis=0), 0)).cumsum(axis=0)
    target = jax.lax.stop_gradient(q) * (1 - _SLACK * float(jnp.finfo(q.dtype).eps))
    # The last value is reached whatever the sum rounds to.
    first = (shares[:-1] < jnp.expand_dims(target, 0)).sum(axis=0)
    last = (terms > -jnp.inf).cumsum(axis=0).argmax(axis=0)
    return values[0] + jnp.minimum(first, last).astype(q.dtype)


def _terms(
    base: "AbstractDistribution", like: jax.Array, span: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, jax.Array]:
    """Return the values and log probabilities on a new first axis; some batch elements have fewer values."""
    first, last = (np.asarray(end, like.dtype) for end in span)
    first, last = (end.reshape((1,) * (like.ndim - end.ndim) + end.shape) for end in (first, last))
    steps = np.arange(int((last - first).max()) + 1, dtype=like.dtype)
    values = first + steps.reshape((-1,) + (1,) * like.ndim)
    is_there = values <= last
    terms = base.log_prob(np.where(is_there, values, first))
    return values, jnp.where(is_there, terms, -jnp.inf)
