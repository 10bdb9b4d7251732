"""Compute entropies of distributions of counts by sums of fixed length, whatever their size.

**Source**: sums by integrals of what is smooth, up to Poisson's summation formula: Trefethen & Weideman (2014), SIAM
Review 56(3), 385-458, section 5.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

# Up to this variance sum all terms; above it sum over a lattice of half a standard deviation, which
# for a smooth bell differs from the whole sum by exp(-8 pi^2), by Poisson's summation formula.
_MOST_VARIANCE = 64.0
_LENGTH = 300
_LATTICE = np.arange(-12.0, 12.5, 0.5)
# In long tails sum the first numbers; from about 12 on, with a blend that is smooth in the logarithm,
# integrate over the logarithm.
_FIRST, _MIDDLE, _BLEND = 96, math.log(12.0), 0.35
_POINTS = 320
_LEAST = 0.5
# In a tail so long that its end sets the steps, steps grow by this power of e from end to end.
_GROWTH = 24.0


def entropy_of_counts(
    log_prob: Callable[[jax.Array], jax.Array], mean: jax.Array, variance: jax.Array, last: jax.Array
) -> jax.Array:
    """Compute the entropy in nats, shape of `mean`.

    **Arguments**: `log_prob` of numbers along a new first axis, smooth between whole numbers; `mean`, at most twice the
    variance; `variance`; `last`, the largest value, or inf.
    """
    axes = (-1,) + (1,) * mean.ndim
    k = jnp.arange(_LENGTH, dtype=mean.dtype).reshape(axes)
    narrow = _surprise(log_prob, k, last)
    deviation = jnp.sqrt(jnp.where(variance > _MOST_VARIANCE, variance, 1.0))
    lattice = jnp.asarray(_LATTICE, mean.dtype).reshape(axes)
    wide = _surprise(log_prob, mean[None] + deviation[None] * lattice, last) * (0.5 * deviation)
    return jnp.where(variance > _MOST_VARIANCE, wide, narrow)


def entropy_of_long_tails(
    log_prob: Callable[[jax.Array], jax.Array], typical: jax.Array, spread: jax.Array, tail: jax.Array
) -> jax.Array:
    """Compute the entropy in nats of counts from 0 that may spread over many scales; shape of `typical`.

    **Arguments**: `log_prob` of numbers along a new first axis, smooth between whole numbers; `typical`, > 0, a number
    above which the probabilities fall; `spread`, the variance over its square, or more; `tail`, how much further the
    logarithm of a count may go, > 0.
    """
    typical, spread, tail = jax.lax.stop_gradient((typical, spread, tail))
    # Further down only zeros are likely.
    typical, spread = jnp.maximum(typical, 1e-12), jnp.minimum(spread, 1e18)
    axes, dtype = (-1,) + (1,) * typical.ndim, typical.dtype
    k = np.arange(_FIRST, dtype=dtype).reshape(axes)
    with np.errstate(divide="ignore"):
        share = 0.5 * jax.lax.erfc(jnp.asarray((np.log(k) - _MIDDLE) / _BLEND, dtype))
    first = _surprises(log_prob, jnp.broadcast_to(k, (_FIRST, *typical.shape)))

    # Logarithms from `low` on: even steps until the probabilities fall, then growing steps.
    centre, root = jnp.log(typical), jnp.sqrt(spread)
    low = jnp.maximum(centre - 16 * jnp.minimum(root, 0.35), _LEAST)
    low = jnp.where(root > 0.35, _LEAST, low)
    fall = centre + jnp.log1p(12 * root + 45 * spread)
    whole = jnp.maximum(fall + tail, low + 4) - low
    even = jnp.minimum(whole, 2 * jnp.maximum(fall - low, 0.0) + 20)
    t = ((np.arange(_POINTS, dtype=dtype) + 0.5) / _POINTS).reshape(axes)
    grown, slope = (
        np.expm1(_GROWTH * t) / math.expm1(_GROWTH),
        _GROWTH * np.exp(_GROWTH * t) / math.expm1(_GROWTH),
    )
    v = low[None] + even[None] * t + (whole - even)[None] * grown
    step = (even[None] + (whole - even)[None] * slope) / _POINTS
    is_number = v < 0.98 * math.log(float(jnp.finfo(dtype).max))
    x = jnp.exp(jnp.where(is_number, v, _MIDDLE))
    weight = jnp.where(is_number, 0.5 * jax.lax.erfc((_MIDDLE - v) / _BLEND) * x * step, 0.0)
    return (first * share).sum(axis=0) + (weight * _surprises(log_prob, x)).sum(axis=0)


def _surprise(log_prob: Callable[[jax.Array], jax.Array], k: jax.Array, last: jax.Array) -> jax.Array:
    """Sum -p log p along the first axis."""
    k = jnp.broadcast_to(k, (k.shape[0], *last.shape))
    is_inside = (k >= 0) & (k <= last[None])
    found = _surprises(log_prob, jnp.where(is_inside, k, 0.0))
    return jnp.where(is_inside, found, 0.0).sum(axis=0)


def _surprises(log_prob: Callable[[jax.Array], jax.Array], k: jax.Array) -> jax.Array:
    """Compute -p log p at each number."""
    log_p = log_prob(k)
    p = jnp.exp(log_p)
    return -p * jnp.where(p > 0, log_p, 0.0)
