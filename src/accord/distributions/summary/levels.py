"""Choose quantile levels between which a density is smooth on its own scale."""

import jax
import jax.numpy as jnp
import numpy as np

# In steps of 1.5 in the log odds a power law x^-2 grows by a factor of 4.5, over which twelve nodes resolve it.
_LOG_ODDS = np.linspace(-36.0, 36.0, 49)
_COUNT = _LOG_ODDS.size


def levels(batch_shape: tuple[int, ...], dtype: np.dtype) -> jax.Array:
    """Return levels in (0, 1) from far in one tail to far in the other, along a new first axis."""
    odds = _LOG_ODDS.astype(dtype).reshape((-1,) + (1,) * len(batch_shape))
    highest = 1 - float(jnp.finfo(dtype).epsneg)
    return jnp.broadcast_to(jnp.minimum(jax.lax.logistic(odds), highest), (_COUNT, *batch_shape))


def spread(knots: jax.Array, batch_shape: tuple[int, ...]) -> jax.Array:
    """Broadcast points along a first axis to another batch shape."""
    missing = 1 + len(batch_shape) - knots.ndim
    return jnp.broadcast_to(jax.lax.expand_dims(knots, range(1, 1 + missing)), (knots.shape[0], *batch_shape))
