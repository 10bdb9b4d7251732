"""Say at which levels quantiles are asked, so that between them a density is smooth on its own scale."""

import jax
import jax.numpy as jnp
import numpy as np

# In steps of 1.5 in the log odds a power law x^-2 grows by a factor of 4.5, over which twelve nodes resolve it.
_LOG_ODDS = np.linspace(-36.0, 36.0, 49)
_COUNT = _LOG_ODDS.size


def levels(batch_shape: tuple[int, ...], dtype: np.dtype) -> jax.Array:
    """Levels in (0, 1) from far down in one tail to far up in the other, along a new first axis."""
    odds = _LOG_ODDS.astype(dtype).reshape((-1,) + (1,) * len(batch_shape))
    highest = 1 - float(jnp.finfo(dtype).epsneg)
    return jnp.broadcast_to(jnp.minimum(jax.lax.logistic(odds), highest), (_COUNT, *batch_shape))


def spread(knots: jax.Array, batch_shape: tuple[int, ...]) -> jax.Array:
    """Points along a first axis, of a batch shape that broadcasts to another one, in that."""
    missing = 1 + len(batch_shape) - knots.ndim
    return jnp.broadcast_to(jax.lax.expand_dims(knots, range(1, 1 + missing)), (knots.shape[0], *batch_shape))
