"""Build the program for chains that move in step: equal numbers of leapfrog steps per draw, shared adaptation.

The shared state (mode, draw, step size, trajectory length) is carried once, so that every condition is a branch and a
draw of all chains is written at one place. Its arguments are those of `program.advance_program`, but with one `given`.
Chains that have reached their last draw stand still for a whole block; chains that move are at the same draw.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import Given, Item, Learnt
from ..core.position import Position
from ..core.stats import Ending
from ..core.tree import node, where
from ..kernels import AbstractKernel, AbstractPopulation, Point, Target
from ..kernels.evaluated import advanced
from ..kernels.rarely import rarely_in_lanes
from ..kernels.vectors import IN_TURN
from .block import DRAW, EVALUATE, PROBE, Block, ChainState, Limits
from .program import advance_program, next_key, place_number, position_rows
from .statistics import row_of, width_of

_LANES = "lanes"


@node
class _Shared:
    """State that all chains share; all of shape `()`. See `ChainState`."""

    learnt: Learnt
    mode: Int[Array, ""]
    draw: Int[Array, ""]
    num_tuning: Int[Array, ""]


@node
class _Carry:
    """State carried from step to step; `positions`, `gradients` and `stats` have shapes `(rows, lanes, ...)`."""

    kernel: Any
    shared: _Shared
    item_key: UInt32[Array, "lanes 2"]
    num_gradients: Int[Array, ""]
    positions: Position
    gradients: Float[Array, "rows lanes dim"]
    stats: Float[Array, "rows lanes stat"]


def program_for(
    kernel: AbstractKernel,
    dim: int,
    dtype: np.dtype,
    lanes: int,
    rows: int,
    in_pieces: bool = True,
    in_turn: int = IN_TURN,
    num_whole: int = 0,
) -> Callable[..., Any]:
    """Return the program for `kernel`: this one for a population, or the one for independent chains."""
    if kernel.is_ensemble:
        return population_program(cast(AbstractPopulation, kernel), dim, dtype, lanes, rows, num_whole)
    return advance_program(kernel, dim, dtype, lanes, rows, in_pieces, in_turn, num_whole)


def population_program(
    kernel: AbstractPopulation, dim: int, dtype: np.dtype, lanes: int, rows: int, num_whole: int = 0
) -> Callable[..., Any]:
    """Return the function `(evaluate, chain, given, key, item_key, limits) -> (chain, block)` to compile.

    It equals `program.advance_program` with `lanes` lanes, but `given` has no lane axis, and the arrays of the block
    begin with `(rows, lanes)`.
    """
    adaptation = kernel.adaptation

    def run(
        evaluate: Target, chain: ChainState, given: Given, key: Array, item_key: Array, limits: Limits
    ) -> tuple[ChainState, Block]:
        moves = (chain.draw < limits.stop) & (limits.max_gradients > 0)
        leader = jnp.argmax(moves)
        limit = jax.tree.map(lambda leaf: leaf[leader], limits)
        first = _Shared(
            *jax.tree.map(lambda leaf: leaf[leader], (chain.learnt, chain.mode, chain.draw, chain.num_tuning))
        )

        def is_active(carry: _Carry) -> Array:
            has_room = (carry.shared.draw < limit.stop) & (carry.num_gradients < limit.max_gradients)
            return has_room & jnp.any(moves)

        def body(carry: _Carry) -> _Carry:
            shared = carry.shared
            item = Item(shared.mode == DRAW, shared.mode == PROBE, shared.draw, limit.num_warmup)
            tuning, is_usual = adaptation.tuning(shared.learnt, given, item)
            is_evaluation = shared.mode == EVALUATE

            def advance(item_key: Array, state: Any) -> Any:
                return advanced(
                    kernel, item_key, evaluate, state, tuning, is_evaluation, rarely_in_lanes(_LANES)
                )

            new, info, point = jax.vmap(advance, axis_name=_LANES)(carry.item_key, carry.kernel)
            evaluated = where(is_evaluation, point, new.point)
            has_ended = info.ending != Ending.GOOD
            # If all trajectories have failed, there is none to wait for.
            is_complete = jnp.any(info.is_complete & moves) | ~jnp.any(moves & ~has_ended)
            new = replace(new, is_fresh=jnp.full(lanes, is_complete))

            number = carry.num_gradients + 1
            goes_on = is_evaluation & (number < limit.max_gradients)

            def finish() -> tuple[_Shared, Array, Point]:
                places = jax.vmap(place_number, (0, None))(limits.places, number)
                seen = kernel.seen(carry.kernel, new, info, tuning, moves)
                learnt, is_next_draw = adaptation.update(shared.learnt, given, item, seen, is_usual)
                mode = jnp.where(goes_on, EVALUATE, jnp.where(is_next_draw, DRAW, PROBE)).astype(jnp.int32)
                draw, num_tuning = shared.draw + item.is_draw, shared.num_tuning + ~item.is_draw
                item_key = jax.vmap(next_key, (0, None, None, None))(key, mode, draw, num_tuning)
                after = _Shared(learnt, mode, draw, num_tuning)
                return after, item_key, where(goes_on, places, evaluated)

            unchanged = (shared, carry.item_key, evaluated)
            after, item_key, point = jax.lax.cond(is_complete, finish, lambda: unchanged)
            new = replace(new, point=point)
            row = jnp.where(is_evaluation, carry.num_gradients, shared.draw - first.draw)

            def put(buffer: Array, value: Array) -> Array:
                return jax.lax.dynamic_update_index_in_dim(buffer, value, row, 0)

            stats = row_of(evaluated.log_density, info)
            return _Carry(
                _where_lane(moves, new, carry.kernel),
                after,
                item_key,
                number,
                jax.tree.map(put, carry.positions, evaluated.position),
                put(carry.gradients, evaluated.gradient),
                put(carry.stats, stats),
            )

        positions = position_rows((rows, lanes), dim, dtype, num_whole)
        buffers = (jnp.zeros((rows, lanes, width), dtype) for width in (dim, width_of(kernel)))
        carry = _Carry(chain.kernel, first, item_key, jnp.zeros((), jnp.int32), positions, *buffers)
        carry = jax.lax.while_loop(is_active, body, carry)
        shared = carry.shared
        common = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (lanes, *leaf.shape)),
            (shared.learnt, shared.mode, shared.draw, shared.num_tuning),
        )
        own = (chain.learnt, chain.mode, chain.draw, chain.num_tuning)
        after = ChainState(carry.kernel, *_where_lane(moves, common, own))
        counts = jnp.where(moves, carry.num_gradients, 0)
        return after, Block(carry.positions, carry.gradients, carry.stats, counts)

    return run


def _where_lane(condition: Bool[Array, " lanes"], new: Any, old: Any) -> Any:
    """Select per lane: `new` where the condition holds, else `old`."""

    def choose(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(choose, new, old)
