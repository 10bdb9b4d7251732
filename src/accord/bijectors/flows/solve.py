"""Invert increasing functions by a bounded search, with the derivatives of the exact inverse."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_MAX_DOUBLINGS = 120  # from a first width of 1: every number a float32 can hold
_MAX_STEPS = 200


def solve_increasing(function: Callable[[jax.Array], jax.Array], start: jax.Array) -> jax.Array:
    """Find the zero of an elementwise increasing function, to rounding; not differentiable.

    The search doubles a bracket around `start`, at most 120 times. Then it takes at most 200 Newton steps, or halvings
    where a Newton step would leave the bracket or be slow. If the function has no zero in reach, the result is the
    nearest end of the bracket.
    """
    width = jnp.ones_like(start)

    def is_missed(state: tuple[Any, ...]) -> jax.Array:
        count, _, _, missed = state
        return missed.any() & (count < _MAX_DOUBLINGS)

    def widen(state: tuple[Any, ...]) -> tuple[Any, ...]:
        count, low, high, _ = state
        above, below = function(low) > 0, function(high) < 0
        step = width * jnp.exp2(jnp.asarray(count, start.dtype))
        # The end that was too near becomes the other end of the bracket.
        new_low = jnp.where(above, low - step, jnp.where(below, high, low))
        new_high = jnp.where(below, high + step, jnp.where(above, low, high))
        return count + 1, new_low, new_high, above | below

    state = (0, start - width, start + width, jnp.ones(start.shape, bool))
    _, low, high, _ = jax.lax.while_loop(is_missed, widen, state)
    eps = jnp.finfo(start.dtype).eps

    def goes_on(state: tuple[Any, ...]) -> jax.Array:
        count, *_, moved = state
        return moved.any() & (count < _MAX_STEPS)

    def refine(state: tuple[Any, ...]) -> tuple[Any, ...]:
        count, x, low, high, size, _ = state
        value, slope = jax.jvp(function, (x,), (jnp.ones_like(x),))
        low, high = jnp.where(value <= 0, x, low), jnp.where(value >= 0, x, high)
        newton = x - value / slope
        is_good = (newton > low) & (newton < high) & (jnp.abs(newton - x) < 0.5 * size)
        later = jnp.where(is_good, newton, low + 0.5 * (high - low))
        step = jnp.abs(later - x)
        # Near 0 the search stops at an absolute precision, which the function itself does not exceed.
        return count + 1, later, low, high, step, step > 2 * eps * (jnp.abs(later) + 1e-3)

    state = (0, low + 0.5 * (high - low), low, high, high - low, jnp.ones(start.shape, bool))
    return jax.lax.while_loop(goes_on, refine, state)[1]


def invert_triangular(forward: Callable[[jax.Array], jax.Array], y: jax.Array) -> jax.Array:
    """Find the `x`, shape `(..., n)`, that `forward` maps to `y`, with the derivatives of the inverse.

    Each element of `forward(x)` must increase with the same element of `x` and otherwise depend only on earlier ones.
    The elements are solved for in turn.
    """
    size = y.shape[-1]

    def solve(residual: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
        def of_one(index: jax.Array, x: jax.Array) -> jax.Array:
            is_this = row_of(index, x)
            return solve_increasing(
                lambda t: jnp.where(is_this, residual(jnp.where(is_this, t[..., None], x)), 0.0).sum(axis=-1),
                jnp.where(is_this, x, 0.0).sum(axis=-1),
            )

        def advance(x: jax.Array, index: jax.Array) -> tuple[jax.Array, None]:
            return jnp.where(row_of(index, x), of_one(index, x)[..., None], x), None

        return jax.lax.scan(advance, x, jnp.arange(size))[0]

    def row_of(index: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.broadcast_to(jnp.arange(size) == index, x.shape)

    def tangent_solve(linear: Callable[[jax.Array], jax.Array], target: jax.Array) -> jax.Array:
        basis = np.eye(size, dtype=target.dtype).reshape((size,) + (1,) * (target.ndim - 1) + (size,))
        columns = [linear(jnp.broadcast_to(unit, target.shape)) for unit in basis]
        return jnp.linalg.solve(jnp.stack(columns, axis=-1), target[..., None])[..., 0]

    return jax.lax.custom_root(lambda x: forward(x) - y, jax.lax.stop_gradient(y), solve, tangent_solve)
