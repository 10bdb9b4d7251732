"""Add up weights from the first to each, in an order that is fixed by their number."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def running_sum(weights: Any) -> Any:
    """Return the sums of the first one, two, ... weights, which do not decrease; shape `(particle,)`.

    In a program, sums are those of pairs, of pairs of pairs, and so on: the bits depend neither on how many cores there
    are nor on how XLA shares out a sum.
    """
    if not isinstance(weights, jax.Array):
        return np.cumsum(weights)
    return jax.lax.cummax(jax.lax.associative_scan(jnp.add, weights))


def total(weights: Any) -> Any:
    """Return the sum of all weights, shape `()`; in a program, the last one of `running_sum`."""
    return running_sum(weights)[-1] if isinstance(weights, jax.Array) else weights.sum()
