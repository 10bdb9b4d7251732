"""Build the program that moves chains.

It contains the gradient once: starting points, the search for a step size, warm-up and sampling all use its
loop, with one gradient per iteration. Everything that may change between runs of one model (data, metric, step
size, seed, how many draws) is an argument, so that changing it compiles nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.base import AbstractChainAdaptation, Given, Item, Learnt
from ..core import keys
from ..core.position import Position
from ..core.tree import node, where
from ..kernels import AbstractKernel, Info, Point, Target
from ..kernels.evaluated import advanced
from ..kernels.rarely import Rarely, rarely, rarely_in_lanes
from ..kernels.vectors import IN_TURN, put_row, put_rows
from ..programs.loop import marked, while_loop_in_pieces
from .block import DRAW, EVALUATE, PROBE, Block, ChainState, Limits
from .statistics import row_of, width_of

T = TypeVar("T")

_LANES = "lanes"


@node
class _Row:
    """The draw in progress, as a row of a block."""

    position: Position
    gradient: Float[Array, " dim"]
    stats: Float[Array, " stat"]


@node
class _Lane:
    """State that one lane carries from step to step."""

    chain: ChainState
    item_key: UInt32[Array, " 2"]
    num_gradients: Int[Array, ""]


def advance_program(
    kernel: AbstractKernel,
    dim: int,
    dtype: np.dtype,
    lanes: int,
    rows: int,
    in_pieces: bool = True,
    in_turn: int = IN_TURN,
    num_whole: int = 0,
) -> Callable[..., Any]:
    """Return the function `(evaluate, chain, given, key, item_key, limits) -> (chain, block)` to compile.

    `evaluate(position)` gives log density and gradient at a position of `dim` free and `num_whole` whole numbers; `key`
    is the key of the chain, `item_key` of its current draw. With `lanes` above one, every argument but `evaluate` has a
    leading axis of that size. A block has room for `rows` draws. With more than `in_turn` lanes, their rows are written
    by one scatter.
    """

    def run(
        evaluate: Target, chain: ChainState, given: Given, key: Array, item_key: Array, limits: Limits
    ) -> tuple[ChainState, Block]:
        first_draw, evaluate = chain.draw, marked(evaluate)

        def step_active(lane: _Lane, given: Given, key: Array, limits: Limits, first: Array) -> Any:
            # Rows are written for all lanes together, outside of the `vmap`.
            new, row, _ = _step(
                kernel, evaluate, lane, given, key, limits, rarely_in_lanes(_LANES), (), lambda kept, _: kept
            )
            active = _is_active(lane, limits)
            # A lane that waits for others writes to the spare row.
            return where(active, new, lane), row, jnp.where(active, _row_of(lane, first), rows)

        def body(carry: tuple[_Lane, _Row]) -> tuple[_Lane, _Row]:
            lane, buffers = carry
            if lanes == 1:
                at = _row_of(lane, first_draw)

                def keep(buffers: _Row, row: _Row) -> _Row:
                    return jax.tree.map(lambda rows, value: put_row(rows, at, value), buffers, row)

                new, _, buffers = _step(kernel, evaluate, lane, given, key, limits, rarely, buffers, keep)
                return new, buffers
            mapped = jax.vmap(step_active, axis_name=_LANES)
            new, row, at = mapped(lane, given, key, limits, first_draw)
            return new, jax.tree.map(lambda rows, values: put_rows(rows, at, values, in_turn), buffers, row)

        leading = (rows,) if lanes == 1 else (lanes, rows + 1)
        positions = position_rows(leading, dim, dtype, num_whole)
        gradients, stats = (jnp.zeros((*leading, width), dtype) for width in (dim, width_of(kernel)))
        buffers = _Row(positions, gradients, stats)
        lane = _Lane(chain, item_key, jnp.zeros(leading[:-1], jnp.int32))
        loop = while_loop_in_pieces if in_pieces and lanes == 1 else jax.lax.while_loop
        lane, buffers = loop(lambda carry: jnp.any(_is_active(carry[0], limits)), body, (lane, buffers))
        return lane.chain, Block(buffers.position, buffers.gradient, buffers.stats, lane.num_gradients)

    return run


def _is_active(lane: _Lane, limits: Limits) -> Bool[Array, "..."]:
    return (lane.chain.draw < limits.stop) & (lane.num_gradients < limits.max_gradients)


def _row_of(lane: _Lane, first_draw: Array) -> Int[Array, ""]:
    """Return the row of a block for the current item of a lane: by draws, and by candidates before the first."""
    return jnp.where(lane.chain.mode == EVALUATE, lane.num_gradients, lane.chain.draw - first_draw)


def _step(
    kernel: AbstractKernel,
    evaluate: Target,
    lane: _Lane,
    given: Given,
    key: UInt32[Array, " 2"],
    limits: Limits,
    rarely: Rarely,
    kept: T,
    keep: Callable[[T, _Row], T],
) -> tuple[_Lane, _Row, T]:
    """Advance once, and finish a draw, evaluation or probe if this completes it: its row is then kept."""
    chain = lane.chain
    adaptation = kernel.adaptation
    assert isinstance(adaptation, AbstractChainAdaptation)
    item = Item(chain.mode == DRAW, chain.mode == PROBE, chain.draw, limits.num_warmup)
    tuning, is_evaluation = adaptation.tuning(chain.learnt, given, item), chain.mode == EVALUATE
    # A chain compares places, and begins, by a part of the data of its own: the starts of several lie as far apart as
    # these say, so that chains which have not left them are told from those that have.
    part = keys.item(key, jnp.uint32(keys.USE_BATCH), jnp.uint32(0)) if kernel.needs_minibatch else None
    state, info, evaluated = advanced(
        kernel, lane.item_key, evaluate, chain.kernel, tuning, is_evaluation, rarely, part
    )
    num_gradients = lane.num_gradients + 1
    goes_on = is_evaluation & (num_gradients < limits.max_gradients)

    # What was evaluated where the chain stands is where it stands.
    log_density = jnp.where(is_evaluation, evaluated.log_density, state.point.log_density)
    stats = row_of(log_density, info)

    def finish(old: Any) -> Any:
        *_, point, kept = old
        point = where(is_evaluation, evaluated, point)
        kept = keep(kept, _Row(point.position, point.gradient, stats))
        next_point = where(goes_on, place_number(limits.places, num_gradients), point)
        return *_finish(adaptation, given, chain, item, info, goes_on, key), next_point, kept

    unchanged = (chain.learnt, chain.mode, chain.draw, chain.num_tuning, lane.item_key, state.point, kept)
    learnt, mode, draw, num_tuning, item_key, point, kept = rarely(info.is_complete, finish, unchanged)
    here = where(is_evaluation, evaluated, state.point)
    row = _Row(here.position, here.gradient, stats)
    chain = ChainState(replace(state, point=point), learnt, mode, draw, num_tuning)
    return _Lane(chain, item_key, num_gradients), row, kept


def position_rows(leading: tuple[int, ...], dim: int, dtype: np.dtype, num_whole: int) -> Position:
    """Return room for positions, zeros, with these axes in front."""
    free = jnp.zeros((*leading, dim), dtype)
    return Position(free, jnp.zeros((*leading, num_whole), jnp.int32) if num_whole else None)


def place_number(places: Position, number: Int[Array, ""]) -> Point:
    """Return a candidate to evaluate."""
    row = jnp.minimum(number, len(places.free) - 1)
    at = jax.tree.map(lambda rows: jax.lax.dynamic_index_in_dim(rows, row, keepdims=False), places)
    return Point(at, jnp.zeros((), at.free.dtype), jnp.zeros_like(at.free))


def _finish(
    adaptation: AbstractChainAdaptation,
    given: Given,
    chain: ChainState,
    item: Item,
    info: Info,
    goes_on: Bool[Array, ""],
    key: Array,
) -> tuple[Learnt, Array, Array, Array, Array]:
    learnt, is_next_draw = adaptation.update(chain.learnt, given, item, info)
    mode = jnp.where(goes_on, EVALUATE, jnp.where(is_next_draw, DRAW, PROBE)).astype(jnp.int32)
    draw, num_tuning = chain.draw + item.is_draw, chain.num_tuning + ~item.is_draw
    return learnt, mode, draw, num_tuning, next_key(key, mode, draw, num_tuning)


def next_key(key: Array, mode: Array, draw: Array, num_tuning: Array) -> UInt32[Array, " 2"]:
    """Return the key of the next item of a chain."""
    use = jnp.where(mode == DRAW, keys.USE_DRAW, keys.USE_TUNE).astype(jnp.uint32)
    number = jnp.where(mode == DRAW, draw, num_tuning).astype(jnp.uint32)
    return keys.item(key, use, number)
