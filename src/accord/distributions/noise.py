"""Draw uniform numbers that an inverse cdf keeps finite, and keep draws inside their support."""

from typing import Any

import jax
import jax.numpy as jnp

from ..bijectors import align


def open_uniform(key: jax.Array, shape: tuple[int, ...], dtype: Any) -> jax.Array:
    """Draw uniform numbers strictly between 0 and 1, symmetric about 1/2, which an `icdf` maps to finite values."""
    half_step = 0.5 * float(jnp.finfo(dtype).eps)
    return jax.random.uniform(key, shape, dtype) + half_step


def keep_inside(draws: jax.Array, low: Any = None, high: Any = None) -> jax.Array:
    """Move draws that rounding put on or past an end of the open interval (low, high) just inside it."""
    limits = jnp.finfo(draws.dtype)
    least, most = jnp.asarray(-limits.max, draws.dtype), jnp.asarray(limits.max, draws.dtype)
    if low is not None:
        least = jnp.maximum(least, _next_to(low, 1.0, draws.dtype))
    if high is not None:
        most = jnp.minimum(most, _next_to(high, -1.0, draws.dtype))
    draws, least, most = align(draws, least, most)
    return jnp.where(draws < least, least, jnp.where(draws > most, most, draws))


def _next_to(bound: Any, direction: float, dtype: Any) -> jax.Array:
    """Return the normal number next to `bound` in a direction; most hardware treats subnormal ones as 0."""
    bound = jax.lax.stop_gradient(jnp.asarray(bound, dtype))
    tiny = jnp.asarray(direction * float(jnp.finfo(dtype).tiny), dtype)
    beside = jnp.nextafter(bound, jnp.full_like(bound, direction * jnp.inf))
    return jnp.where(jnp.abs(beside) < jnp.abs(tiny), tiny, beside)
