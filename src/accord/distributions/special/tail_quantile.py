"""Find the quantile of a law that is known by the logarithms of its two tails."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .elementary import log1m, log_of

_MOST_STEPS = 60


def solve_tails(
    log_tails: Callable[[jax.Array], tuple[jax.Array, jax.Array]],
    q: jax.Array,
    low: Any,
    high: Any,
    start: jax.Array,
) -> jax.Array:
    """Find x in [low, high] of which the lower tail is q; the smaller tail is matched, so that none loses its digits.

    **Arguments**
    - `log_tails`: of x to the logarithms of the probabilities below and above, both concave.
    - `q`: array in [0, 1]; at 0 and 1 the result is `low` and `high`, with a zero gradient.
    - `start`: where to begin.
    """
    is_lower, is_end = q < 0.5, (q == 0) | (q == 1)
    inside = jnp.where(is_end, 0.5, q)
    target = jnp.where(is_lower, log_of(inside), -log1m(inside))
    low, high, first = (jnp.asarray(x, q.dtype) for x in jax.lax.stop_gradient((low, high, start)))
    first = jnp.clip(jnp.where(is_end, 0.5 * (low + high), first), low, high)

    def level(x: jax.Array) -> jax.Array:
        below, above = log_tails(x)
        return jnp.where(is_lower, below, -above)

    def solve(residual: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
        def is_moving(state: tuple[Any, ...]) -> jax.Array:
            step, _, moving = state
            return (step < _MOST_STEPS) & moving.any()

        def improve(state: tuple[Any, ...]) -> tuple[Any, ...]:
            # A concave function needs no bracket: one step too far, and the others come from one side.
            step, x, moving = state
            error, slope = jax.jvp(residual, (x,), (jnp.ones_like(x),))
            moved = jnp.clip(x - error / jnp.where(slope > 0, slope, jnp.inf), low, high)
            still = moving & (jnp.abs(moved - x) > 4.0 * float(jnp.finfo(x.dtype).eps) * jnp.abs(x))
            return step + 1, jnp.where(moving, moved, x), still

        return jax.lax.while_loop(is_moving, improve, (0, x, ~jnp.isnan(target)))[1]

    def invert(linear: Callable[[jax.Array], jax.Array], y: jax.Array) -> jax.Array:
        slope = linear(jnp.ones_like(y))
        return jnp.where(slope > 0, y / jnp.where(slope > 0, slope, 1.0), 0.0)

    found = jax.lax.custom_root(lambda x: level(x) - target, first, solve, invert)
    found = jnp.where(is_end, jnp.where(q == 0, low, high), found)
    return jnp.where(jnp.isnan(q), jnp.nan, found)
