"""Invert an increasing function between bounds, in a bounded number of steps and with implicit derivatives."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_MOST_STEPS = 100
# Steps of fewer units of rounding than this need not shrink.
_NOISE = 16


def solve_increasing(
    function: Callable[[jax.Array], jax.Array], target: Any, low: Any, high: Any, start: Any = None
) -> jax.Array:
    """Find x in [low, high] with function(x) = target, elementwise; the nearer bound where there is none.

    Newton's method, kept inside a bracket that shrinks at every step: where a step would leave it or gains too little,
    the bracket is halved in the order of the floating-point numbers, so that any scale, also of an infinite
    bracket, is found within as many steps as a number has bits.

    The result is differentiable, any number of times and in both modes, by everything that `function` and `target`
    depend on (not by the bounds): dx = (d target - d function) / function'(x), and 0 where that slope is 0.

    **Arguments**
    - `function`: increasing, of an array to one of its shape; it may close over traced values.
    - `target`: array; its shape is the shape of the result.
    - `low`, `high`: bounds, which broadcast to it; they may be infinite.
    - `start`: where to begin, by default the middle of the bracket.

    **Source**: safeguarded Newton as in Press et al. (2007), Numerical Recipes, section 9.4; the bracket is halved in
    the integers that represent the numbers.
    """
    target = jnp.asarray(target)
    shape, dtype = target.shape, target.dtype
    limit = float(jnp.finfo(dtype).max)
    lower, upper = (
        jnp.clip(jax.lax.stop_gradient(jnp.broadcast_to(jnp.asarray(b, dtype), shape)), -limit, limit)
        for b in (low, high)
    )
    first = _middle(lower, upper)
    if start is not None:
        begin = jax.lax.stop_gradient(jnp.broadcast_to(jnp.asarray(start, dtype), shape))
        first = jnp.where((begin > lower) & (begin < upper), begin, first)

    unit = float(jnp.finfo(dtype).eps) * jnp.abs(jax.lax.stop_gradient(target))

    def solve(residual: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
        return _search(residual, x, lower, upper, unit)

    def invert(linear: Callable[[jax.Array], jax.Array], y: jax.Array) -> jax.Array:
        slope = linear(jnp.ones_like(y))
        is_flat = ~(jnp.abs(slope) > 0)
        return jnp.where(is_flat, 0.0, y / jnp.where(is_flat, 1.0, slope))

    # NaN in the target leaves the search where it is, and must not look like a root.
    root = jax.lax.custom_root(lambda x: function(x) - target, first, solve, invert)
    return jnp.where(jnp.isnan(target), jnp.nan, root)


def _search(
    residual: Callable[[jax.Array], jax.Array],
    x: jax.Array,
    lower: jax.Array,
    upper: jax.Array,
    unit: jax.Array,
) -> jax.Array:
    """Find where an increasing residual is 0 or, under rounding, the point with the smallest residual seen.

    **Arguments**: `unit`: what the residual is rounded to.
    """
    eps = float(jnp.finfo(x.dtype).eps)

    def is_moving(state: tuple[Any, ...]) -> jax.Array:
        step, *_, moving = state
        return (step < _MOST_STEPS) & moving.any()

    def improve(state: tuple[Any, ...]) -> tuple[Any, ...]:
        step, x, low, high, last, best, least, moving = state
        error, slope = jax.jvp(residual, (x,), (jnp.ones_like(x),))
        is_best = jnp.abs(error) <= least
        best, least = jnp.where(is_best, x, best), jnp.where(is_best, jnp.abs(error), least)
        low = jnp.where(error <= 0, x, low)
        high = jnp.where(error >= 0, x, high)
        # An infinite slope (an overflow far out) must not look like a step of length 0.
        newton = x - error / jnp.where(jnp.isfinite(slope), slope, jnp.nan)
        size, reach = jnp.abs(newton - x), eps * jnp.abs(x)
        # A step must stay inside and be at most half of the one before, as in Brent's method.
        is_good = (newton > low) & (newton < high) & (size <= 0.5 * last)
        # Small steps that no longer shrink are rounding: halving a wide bracket would lead away.
        near = jnp.where(~is_good & (jnp.maximum(size, last) <= _NOISE * reach), 2 * _NOISE * reach, jnp.inf)
        low, high = jnp.maximum(low, x - near), jnp.minimum(high, x + near)
        proposal = jnp.where(is_good, newton, _middle(low, high))
        is_done = (size <= 2 * reach) | (least <= unit) | (proposal == x)
        proposal = jnp.where(is_done & ~is_good, best, proposal)
        last = jnp.where(is_good, size, jnp.inf)
        return step + 1, jnp.where(moving, proposal, x), low, high, last, best, least, moving & ~is_done

    far = jnp.full_like(x, jnp.inf)
    state = (0, x, lower, upper, far, x, far, jnp.ones(x.shape, bool))
    _, x, _, _, _, best, _, moving = jax.lax.while_loop(is_moving, improve, state)
    return jnp.where(moving, best, x)


def _middle(low: jax.Array, high: jax.Array) -> jax.Array:
    """Return the number halfway between two in representable numbers: a geometric mean across scales."""
    bits = np.dtype(f"int{jnp.finfo(low.dtype).bits}")
    least = np.iinfo(bits).min

    def order(x: jax.Array) -> jax.Array:
        whole = jax.lax.bitcast_convert_type(x, bits)
        return jnp.where(whole < 0, least - whole, whole)

    first, second = order(low), order(high)
    middle = (first >> 1) + (second >> 1) + (first & second & 1)
    return jax.lax.bitcast_convert_type(jnp.where(middle < 0, least - middle, middle), low.dtype)
