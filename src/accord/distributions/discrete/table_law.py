"""Evaluate a distribution given by a table of all its log probabilities."""

from typing import Any

import jax
import jax.numpy as jnp

from .counts import select
from .table_draws import look_up


def log_prob_of_table(value: Any, log_table: jax.Array, first: int) -> jax.Array:
    """Return log probabilities of values from a table of shape `(n,) + batch_shape` that starts at `first`."""
    value = jnp.asarray(value)
    is_inside = (value >= first) & (value < first + log_table.shape[0]) & (value % 1 == 0)
    found = look_up(log_table, (jnp.where(is_inside, value, first) - first).astype(jnp.int32))
    shape = (1,) * (found.ndim - value.ndim) + value.shape
    x = jnp.broadcast_to(value.astype(found.dtype).reshape(shape), found.shape)
    return select(jnp.broadcast_to(is_inside.reshape(shape), found.shape), found, x)
