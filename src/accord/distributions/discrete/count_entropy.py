"""Compute entropies of bell-shaped laws of counts by sums of fixed length, whatever their size."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

# Up to this variance all terms are summed; above it the sum is one over a lattice of half a standard deviation, which
# for a smooth bell differs from the whole sum by exp(-8 pi^2), by Poisson's summation formula.
_MOST_VARIANCE = 64.0
_LENGTH = 300
_LATTICE = np.arange(-12.0, 12.5, 0.5)


def entropy_of_counts(
    log_prob: Callable[[jax.Array], jax.Array], mean: jax.Array, variance: jax.Array, last: jax.Array
) -> jax.Array:
    """Entropy in nats, shape of `mean`.

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


def _surprise(log_prob: Callable[[jax.Array], jax.Array], k: jax.Array, last: jax.Array) -> jax.Array:
    """Sum of -p log p along the first axis."""
    k = jnp.broadcast_to(k, (k.shape[0], *last.shape))
    is_inside = (k >= 0) & (k <= last[None])
    log_p = log_prob(jnp.where(is_inside, k, 0.0))
    p = jnp.where(is_inside, jnp.exp(log_p), 0.0)
    return -(p * jnp.where(p > 0, log_p, 0.0)).sum(axis=0)
