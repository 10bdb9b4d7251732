"""Evaluate a distribution given by a table of all its log probabilities."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...base import Shape
from .counts import select


def draw_from_table(key: jax.Array, log_table: jax.Array, sample_shape: Shape) -> jax.Array:
    """Draw indices into the first axis of a table, shape `sample_shape + batch_shape`; one search for each draw."""
    probs = jnp.moveaxis(jnp.exp(log_table), 0, -1)
    batch, size = probs.shape[:-1], probs.shape[-1]
    # Sums never decrease: an index of probability 0 ends where the one before it ends, and is never found.
    sums = jnp.cumsum(probs, axis=-1).reshape(-1, size)
    last = jnp.where(probs > 0, jnp.arange(size), 0).max(axis=-1)
    uniform = jax.random.uniform(key, (*sample_shape, *batch), probs.dtype)
    levels = jnp.moveaxis(uniform.reshape(-1, sums.shape[0]), 0, 1) * sums[:, -1:]
    found = jax.vmap(lambda s, u: jnp.searchsorted(s, u, side="right"))(sums, levels)
    indices = jnp.moveaxis(found, 1, 0).reshape(uniform.shape)
    return jnp.minimum(indices, jnp.broadcast_to(last, indices.shape).astype(indices.dtype))


def look_up(log_table: jax.Array, index: Any) -> jax.Array:
    """Look up entries of a table, shape `(n,) + batch_shape`, at indices that broadcast against its batch."""
    table = jnp.moveaxis(log_table, 0, -1)
    if table.ndim == 1:
        return table[index]
    shape = np.broadcast_shapes(table.shape[:-1], index.shape)
    table = jnp.broadcast_to(table, (*shape, table.shape[-1]))
    index = jnp.broadcast_to(index, shape)
    return jnp.take_along_axis(table, jnp.expand_dims(index, -1), axis=-1).squeeze(-1)


def log_prob_of_table(value: Any, log_table: jax.Array, first: int) -> jax.Array:
    """Return log probabilities of values from a table of shape `(n,) + batch_shape` that starts at `first`."""
    value = jnp.asarray(value)
    is_inside = (value >= first) & (value < first + log_table.shape[0]) & (value % 1 == 0)
    found = look_up(log_table, (jnp.where(is_inside, value, first) - first).astype(jnp.int32))
    shape = (1,) * (found.ndim - value.ndim) + value.shape
    x = jnp.broadcast_to(value.astype(found.dtype).reshape(shape), found.shape)
    return select(jnp.broadcast_to(is_inside.reshape(shape), found.shape), found, x)
