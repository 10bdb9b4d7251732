"""Climb a function by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno, inside of a program.

Each turn of the one loop evaluates the function once: places where a climb may begin, then points along a line. So the
program holds one copy of the gradient, and climbs side by side do not wait for each other's searches.

**Source**: Nocedal & Wright (2006), Numerical Optimization, Algorithm 7.4, for the direction; Lewis & Overton (2013),
Math. Program. 141, 135-163, Algorithm 2.6, for the bisection that ends where both of Wolfe's weak conditions hold.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...core import tree

_MEMORY = 10  # moves remembered
_MAX_TRIES = 30  # points along a line
_RISE, _SLOPE = 1e-4, 0.9  # Wolfe's constants


class Climb(NamedTuple):
    """The state of a climb, and its result.

    **Fields**
    - `position`, `gradient`: shape `(dim,)`; `value`: of the highest point reached, -inf where none was finite.
    - `direction`, `step`, `low`, `high`: the line that is searched; between `low` and `high` is where to stop.
    - `moves`, `turns`: shape `(memory, dim)`, newest last: by how much position and gradient changed; zero if not used.
    - `num_tries`: points looked at along the line; `num_steps`: lines done; `num_evaluations`.
    - `is_settled`: another step would gain nothing that can be told from rounding. `is_over`: or nothing can be done.
    """

    position: jax.Array
    value: jax.Array
    gradient: jax.Array
    direction: jax.Array
    step: jax.Array
    low: jax.Array
    high: jax.Array
    moves: jax.Array
    turns: jax.Array
    num_tries: jax.Array
    num_steps: jax.Array
    num_evaluations: jax.Array
    is_settled: jax.Array
    is_over: jax.Array


def climb(
    evaluate: Callable[[jax.Array], tuple[jax.Array, jax.Array]], candidates: jax.Array, max_steps: Any
) -> Climb:
    """Climb from the highest of some places.

    **Arguments**
    - `evaluate`: from a position, shape `(dim,)`, to value and gradient; neither need be finite.
    - `candidates`: shape `(place, dim)`. `max_steps`: lines that are searched at most, int32.
    """
    count, dim = candidates.shape
    zero, nothing = jnp.zeros((), candidates.dtype), jnp.zeros(dim, candidates.dtype)
    none, empty, no = jnp.int32(0), jnp.zeros((_MEMORY, dim), candidates.dtype), jnp.bool(False)
    begun = Climb(
        candidates[0],
        zero - jnp.inf,
        nothing,
        nothing,
        zero,
        zero,
        zero,
        empty,
        empty,
        none,
        none,
        none,
        no,
        no,
    )

    def advance(state: Climb) -> Climb:
        is_choosing = state.num_evaluations < count
        along = state.position + state.step * state.direction
        place = candidates[jnp.minimum(state.num_evaluations, count - 1)]
        position = jnp.where(is_choosing, place, along)
        point = (position, *evaluate(position))
        state = state._replace(num_evaluations=state.num_evaluations + 1)
        chosen, searched = _choose(state, point, state.num_evaluations == count), _search(state, point)
        state, is_aiming = tree.where(is_choosing, chosen, searched)
        state = tree.where(is_aiming & ~state.is_over, _aim(state), state)
        return state._replace(is_over=state.is_over | (state.num_steps >= max_steps))

    return jax.lax.while_loop(lambda state: ~state.is_over, advance, begun)


def _choose(state: Climb, point: Any, is_last: jax.Array) -> tuple[Climb, jax.Array]:
    """Keep a place where the climb may begin if it is higher than those before; and whether it is to begin now."""
    _, value, _ = point
    kept = (state.position, state.value, state.gradient)
    position, value, gradient = tree.where(_is_finite(point) & (value > state.value), point, kept)
    is_over = is_last & jnp.isinf(value)
    state = state._replace(position=position, value=value, gradient=gradient, is_over=is_over)
    return state, is_last


def _search(state: Climb, point: Any) -> tuple[Climb, jax.Array]:
    """Judge a point along the line: take it, or say where to look next; and whether another line is to be chosen."""
    position, value, gradient = point
    slope = state.gradient @ state.direction
    noise = 4 * jnp.finfo(value.dtype).eps * jnp.abs(state.value)
    is_higher = _is_finite(point) & (value >= state.value + _RISE * state.step * slope - noise)
    is_short = is_higher & (gradient @ state.direction > _SLOPE * slope)
    is_last = state.num_tries + 1 >= _MAX_TRIES
    is_taken = is_higher & (~is_short | is_last)
    taken = _remember(state, position - state.position, state.gradient - gradient)
    taken = taken._replace(position=position, value=value, gradient=gradient, num_steps=state.num_steps + 1)
    low = jnp.where(is_short, state.step, state.low)
    high = jnp.where(is_higher, state.high, state.step)
    between = jnp.where(jnp.isfinite(high), (low + high) / 2, 2 * low)
    # With its tries used up, a search goes back to the last point that was higher; without any it has failed.
    step = jnp.where(is_last, low, between)
    looking = state._replace(step=step, low=low, high=high, num_tries=state.num_tries + 1)
    has_failed = ~is_taken & is_last & (low == 0)
    # What is remembered may mislead where curvature changes: once more without it.
    is_fresh = jnp.all(state.turns == 0)
    failed = state._replace(moves=0 * state.moves, turns=0 * state.turns, is_over=is_fresh)
    return tree.where(is_taken, taken, tree.where(has_failed, failed, looking)), is_taken | has_failed


def _is_finite(point: Any) -> jax.Array:
    _, value, gradient = point
    return jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))


def _aim(state: Climb) -> Climb:
    """Choose the next direction, and see whether it promises anything."""
    direction = _direction(state)
    slope = state.gradient @ direction
    eps = jnp.finfo(state.value.dtype).eps
    least = 0.01 * jnp.sqrt(eps) + 4 * eps * jnp.abs(state.value)
    # Without a move nothing is known of scales: a gradient that is small may be so by its units.
    is_settled = ((slope / 2 <= least) & jnp.any(state.turns != 0)) | jnp.all(state.gradient == 0)
    return state._replace(
        direction=direction,
        step=jnp.ones_like(state.step),
        low=jnp.zeros_like(state.low),
        high=jnp.full_like(state.high, jnp.inf),
        num_tries=jnp.zeros_like(state.num_tries),
        is_settled=is_settled,
        is_over=is_settled | ~(slope > 0),
    )


def _remember(state: Climb, move: jax.Array, turn: jax.Array) -> Climb:
    """Add a move, unless the function curves upward along it."""
    eps = jnp.finfo(move.dtype).eps
    is_kept = move @ turn > eps * jnp.linalg.norm(move) * jnp.linalg.norm(turn)
    moves = jnp.concatenate([state.moves[1:], move[None]])
    turns = jnp.concatenate([state.turns[1:], turn[None]])
    moves, turns = tree.where(is_kept, (moves, turns), (state.moves, state.turns))
    return state._replace(moves=moves, turns=turns)


def _direction(state: Climb) -> jax.Array:
    """The gradient, by the approximate inverse of the curvature that the moves have shown."""

    def back(rest: jax.Array, pair: Any) -> tuple[jax.Array, jax.Array]:
        move, turn = pair
        share = _ratio(move @ rest, move @ turn)
        return rest - share * turn, share

    def forth(rest: jax.Array, pair: Any) -> tuple[jax.Array, None]:
        move, turn, share = pair
        return rest + (share - _ratio(turn @ rest, move @ turn)) * move, None

    pairs = (state.moves, state.turns)
    rest, shares = jax.lax.scan(back, state.gradient, pairs, reverse=True)
    move, turn = state.moves[-1], state.turns[-1]
    # The first step is one unit long at most: coordinates are of order one more often than gradients are.
    first = 1 / jnp.maximum(jnp.linalg.norm(state.gradient), 1)
    scale = jnp.where(jnp.any(turn != 0), _ratio(move @ turn, turn @ turn), first)
    return jax.lax.scan(forth, scale * rest, (*pairs, shares))[0]


def _ratio(above: jax.Array, below: jax.Array) -> jax.Array:
    """Zero where a pair is not in use."""
    return jnp.where(below > 0, above / jnp.where(below > 0, below, 1), 0)
