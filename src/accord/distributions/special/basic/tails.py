"""Find the quantile of a distribution from the logarithms of its two tails."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .elementary import log1m, log1m_exp, log_of
from .quantile import solve_increasing


def tail_pair(small: jax.Array, is_lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Compute log probabilities below and above; `small` is the lower tail where `is_lower`."""
    small = jnp.minimum(small, -1e-30)
    large = log1m_exp(small)
    return jnp.where(is_lower, small, large), jnp.where(is_lower, large, small)


def solve_tails(
    log_tails: Callable[[jax.Array], tuple[jax.Array, jax.Array]],
    q: jax.Array,
    low: Any,
    high: Any,
    start: jax.Array,
) -> jax.Array:
    """Find x in [low, high] whose lower tail is q, matching the smaller tail for accuracy.

    **Arguments**
    - `log_tails`: of x to the logarithms of the probabilities below and above.
    - `q`: array in [0, 1]; at 0 and 1 the result is `low` and `high`, with a zero gradient.
    - `start`: where to begin.
    """
    is_lower, is_end = q < 0.5, (q == 0) | (q == 1)
    inside = jnp.where(is_end, 0.5, q)
    target = jnp.where(is_lower, log_of(inside), -log1m(inside))
    low, high, start = (jnp.asarray(x, q.dtype) for x in jax.lax.stop_gradient((low, high, start)))

    def level(x: jax.Array) -> jax.Array:
        below, above = log_tails(x)
        return jnp.where(is_lower, below, -above)

    found = solve_increasing(level, target, low, high, start)
    return jnp.where(is_end, jnp.where(q == 0, low, high), found)
