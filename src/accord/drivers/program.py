"""Build the two compiled programs of a run: one that moves chains, one that turns positions into sites.

The first holds the only copy of the gradient: start points, the search for a step size, warm-up and sampling all go
through its loop, one gradient an iteration. Everything that may change between runs of one model (data, metric, step
size, seed, how many draws) is an argument, so that changing it compiles nothing.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation import step_size as step_sizes
from ..adaptation.ensemble import EnsembleState
from ..adaptation.schedule import EARLY_PART
from ..adaptation.step_size import StepSizeState
from ..core import keys
from ..core.tree import where
from ..kernels import ChEES
from ..kernels.base import (
    DRAW,
    EVALUATE,
    PROBE,
    AbstractKernel,
    Info,
    Point,
    Rarely,
    Tuning,
    rarely,
    rarely_in_lanes,
)
from ..kernels.integrator import Target
from ..kernels.metric import Metric
from .pieces import MAX_DIM, marked, while_loop_in_pieces

STAT_DTYPES = {
    "lp": "float64",
    "energy": "float64",
    "diverging": "bool",
    "non_finite": "bool",
    "n_steps": "int32",
    "tree_depth": "int32",
    "acceptance_rate": "float64",
    "step_size": "float64",
}
"""Statistics of a draw, by ArviZ's names, and how they are kept."""

STATS = tuple(STAT_DTYPES)

NUM_PLACES = 10
"""Positions that a chain which has not begun may have evaluated by one call."""

_LANES = "lanes"
_MAX_UNROLLED = 16
_MAX_ROWS = 4096
_MOST_NUMBERS = 2**24  # positions of a block of very many lanes: 128 MB


class ChainState(eqx.Module):
    """All that one chain carries from block to block; with lanes, every array has a leading axis for them.

    **Fields**
    - `kernel`: the kernel's own state.
    - `step_size`: what is known of the step size.
    - `mode`: what the next advance is for (`EVALUATE`, `PROBE` or `DRAW`).
    - `draw`: how many draws are complete, warm-up included.
    - `num_tuning`: how many evaluations and probes are complete.
    """

    kernel: Any
    step_size: StepSizeState
    mode: Int[Array, ""]
    draw: Int[Array, ""]
    num_tuning: Int[Array, ""]

    def moved_to(self, kernel: AbstractKernel, position: Any) -> "ChainState":
        """The same at another position, not yet evaluated; host-side, as `start_state`, and much quicker."""
        return ChainState(kernel.init(position), self.step_size, self.mode, self.draw, self.num_tuning)


class Limits(eqx.Module):
    """How far a block may go, all of shape `()`.

    **Fields**: `stop`, total draws; `max_gradients`; `num_warmup`, draws; `target_accept` of step size adaptation;
    `places`, shape `(NUM_PLACES, dim)`: where else a chain that has not begun evaluates, one place a gradient, of which
    the first is not read.
    """

    stop: Int[Array, ""]
    max_gradients: Int[Array, ""]
    num_warmup: Int[Array, ""]
    target_accept: Float[Array, ""]
    places: Float[Array, "place dim"]

    @staticmethod
    def at(
        stop: int, max_gradients: int, num_warmup: int, target_accept: float, places: np.ndarray
    ) -> "Limits":
        """As a program takes them; host-side, NumPy."""
        as_int: Any = np.int32
        as_float: Any = places.dtype.type
        at: Any = places
        return Limits(as_int(stop), as_int(max_gradients), as_int(num_warmup), as_float(target_accept), at)


class Block(eqx.Module):
    """What a block returns beside the next state.

    **Fields**: `positions` and `gradients`, shape `(rows, dim)`, unconstrained; `stats`, shape `(rows, len(STATS))`.
    The first `state.draw - start` rows are the block's draws, the others mean nothing; of a chain that has not begun,
    the first rows are the places it evaluated. `num_gradients`, shape `()`.
    """

    positions: Float[Array, "rows dim"]
    gradients: Float[Array, "rows dim"]
    stats: Float[Array, "rows stat"]
    num_gradients: Int[Array, ""]


class _Row(eqx.Module):
    """The draw in progress, as a row of a block."""

    position: Float[Array, " dim"]
    gradient: Float[Array, " dim"]
    stats: Float[Array, " stat"]


class _Lane(eqx.Module):
    """What one lane carries from step to step."""

    chain: ChainState
    item_key: UInt32[Array, " 2"]
    num_gradients: Int[Array, ""]


def rows_for(dim: int, lanes: int) -> int:
    """How many draws a block has room for, a power of two: fixed by the program, of which it is a part.

    Every block costs a few milliseconds on the host, so that few lanes of few dimensions have long ones, of 2 MB of
    positions. Many lanes make up for short ones.
    """
    room = 2 ** int(np.log2(max(2**18 // (dim * lanes), 1)))
    least = 2 ** int(np.log2(max(2**20 // dim, 1)))
    most = 2 ** int(np.log2(max(_MOST_NUMBERS // (dim * lanes), 1)))
    return min(_MAX_ROWS, max(8, min(most, max(room, min(256, least)))))


def start_state(kernel: AbstractKernel, position: Any) -> ChainState:
    """The state of a chain at `position`, shape `(dim,)`, not yet evaluated; host-side: nothing is compiled or run."""
    count: Any = np.int32(0)
    if isinstance(kernel, ChEES):
        step = EnsembleState.begin(1.0, kernel.trajectory_length, 0.0, position.dtype)
    else:
        step = StepSizeState.start(1.0, position.dtype)
    mode: Any = np.int32(EVALUATE)
    return ChainState(kernel.init(position), step, mode, count, count)


def advance_program(
    kernel: AbstractKernel, dim: int, dtype: np.dtype, lanes: int, rows: int, in_pieces: bool = True
) -> Callable[..., Any]:
    """The function `(evaluate, chain, metric, key, item_key, limits) -> (chain, block)` to compile.

    `evaluate(position)` gives log density and gradient; `key` is the chain's, `item_key` that of what it is at. With
    `lanes` above one, every argument but `evaluate` has a leading axis of that size. A block has room for `rows` draws.
    """

    def run(
        evaluate: Target, chain: ChainState, metric: Metric, key: Array, item_key: Array, limits: Limits
    ) -> tuple[ChainState, Block]:
        first_draw, evaluate = chain.draw, marked(evaluate)

        def step(
            lane: _Lane, rarely: Rarely, metric: Metric, key: Array, limits: Limits
        ) -> tuple[_Lane, _Row]:
            return _step(kernel, evaluate, lane, metric, key, limits, rarely)

        def step_active(lane: _Lane, metric: Metric, key: Array, limits: Limits, first: Array) -> Any:
            new, row = step(lane, rarely_in_lanes(_LANES), metric, key, limits)
            active = _is_active(lane, limits)
            # A lane that waits for others writes to the spare row.
            return where(active, new, lane), row, jnp.where(active, _row_of(lane, first), rows)

        def body(carry: tuple[_Lane, _Row]) -> tuple[_Lane, _Row]:
            lane, buffers = carry
            if lanes == 1:
                new, row = step(lane, rarely, metric, key, limits)
                return new, _put(buffers, row, _row_of(lane, first_draw))
            mapped = jax.vmap(step_active, axis_name=_LANES)
            new, row, index = mapped(lane, metric, key, limits, first_draw)
            return new, _put_lanes(buffers, row, index, lanes)

        leading = (rows,) if lanes == 1 else (lanes, rows + 1)
        widths = (dim, dim, len(STATS))
        buffers = _Row(*(jnp.zeros((*leading, width), dtype) for width in widths))
        lane = _Lane(chain, item_key, jnp.zeros(leading[:-1], jnp.int32))
        loop = while_loop_in_pieces if in_pieces and lanes == 1 and dim <= MAX_DIM else jax.lax.while_loop
        lane, buffers = loop(lambda carry: jnp.any(_is_active(carry[0], limits)), body, (lane, buffers))
        return lane.chain, Block(buffers.position, buffers.gradient, buffers.stats, lane.num_gradients)

    return run


def sites_program(constrain: Callable[[Array], dict[str, Array]], rows: int) -> Callable[..., Any]:
    """The function `(positions, count) -> {site: (rows, *shape)}` to compile; rows from `count` on are left zero.

    One row at a time: in a batch, a row's bits could depend on where in it the row stands.
    """

    def run(positions: Float[Array, "rows dim"], count: Int[Array, ""]) -> dict[str, Array]:
        shapes = jax.eval_shape(constrain, positions[0])
        out = {name: jnp.zeros((rows, *leaf.shape), leaf.dtype) for name, leaf in shapes.items()}

        def put(row: Array, out: dict[str, Array]) -> dict[str, Array]:
            position = jax.lax.dynamic_index_in_dim(positions, row, keepdims=False)
            values = constrain(position)
            return {
                name: jax.lax.dynamic_update_index_in_dim(array, values[name], row, 0)
                for name, array in out.items()
            }

        return jax.lax.fori_loop(0, count, put, out)

    return run


def _is_active(lane: _Lane, limits: Limits) -> Bool[Array, "..."]:
    return (lane.chain.draw < limits.stop) & (lane.num_gradients < limits.max_gradients)


def _row_of(lane: _Lane, first_draw: Array) -> Int[Array, ""]:
    """Where a block keeps what a lane is at: by draws, and by places before the first."""
    return jnp.where(lane.chain.mode == EVALUATE, lane.num_gradients, lane.chain.draw - first_draw)


def _step(
    kernel: AbstractKernel,
    evaluate: Target,
    lane: _Lane,
    metric: Metric,
    key: UInt32[Array, " 2"],
    limits: Limits,
    rarely: Rarely,
) -> tuple[_Lane, _Row]:
    """Advance once, and account for a draw, evaluation or probe if that completes it."""
    chain = lane.chain
    is_early = chain.draw < limits.num_warmup // EARLY_PART
    tuning = Tuning(chain.step_size.step_size, metric, is_early)
    state, info = kernel.advance(lane.item_key, evaluate, chain.kernel, tuning, chain.mode, rarely)
    stats = _stats(state.point.log_density, info, tuning.step_size)
    row = _Row(state.point.position, state.point.gradient, stats)

    num_gradients = lane.num_gradients + 1
    goes_on = (chain.mode == EVALUATE) & (num_gradients < limits.max_gradients)

    def finish() -> tuple[StepSizeState, Array, Array, Array, Array, Point]:
        next_point = where(goes_on, place_number(limits.places, num_gradients), state.point)
        return *_finish(chain, info, goes_on, key, limits), next_point

    unchanged = (chain.step_size, chain.mode, chain.draw, chain.num_tuning, lane.item_key, state.point)
    adapted, mode, draw, num_tuning, item_key, point = rarely(info.is_complete, finish, unchanged)
    state = eqx.tree_at(lambda s: s.point, state, point)
    return _Lane(ChainState(state, adapted, mode, draw, num_tuning), item_key, num_gradients), row


def place_number(places: Float[Array, "place dim"], number: Int[Array, ""]) -> Point:
    """A place that is to be evaluated."""
    position = jax.lax.dynamic_index_in_dim(places, jnp.minimum(number, NUM_PLACES - 1), keepdims=False)
    return Point(position, jnp.zeros((), places.dtype), jnp.zeros_like(position))


def _finish(
    chain: ChainState, info: Info, goes_on: Bool[Array, ""], key: Array, limits: Limits
) -> tuple[StepSizeState, Array, Array, Array, Array]:
    is_draw, is_probe = chain.mode == DRAW, chain.mode == PROBE
    is_warmup = chain.draw < limits.num_warmup
    acceptance = jnp.where(info.is_divergent | info.is_non_finite, 0, info.acceptance)
    probed, is_found = step_sizes.probe(chain.step_size, acceptance)
    updated = step_sizes.update(chain.step_size, info.acceptance, limits.target_accept)
    updated = step_sizes.freeze(updated, chain.draw + 1 == limits.num_warmup)
    adapted = where(is_probe, probed, where(is_draw & is_warmup, updated, chain.step_size))
    mode = jnp.where(is_draw | (is_probe & is_found), DRAW, jnp.where(goes_on, EVALUATE, PROBE))
    mode = mode.astype(jnp.int32)
    draw, num_tuning = chain.draw + is_draw, chain.num_tuning + ~is_draw
    is_draw = mode == DRAW
    use = jnp.where(is_draw, keys.USE_DRAW, keys.USE_TUNE).astype(jnp.uint32)
    number = jnp.where(is_draw, draw, num_tuning).astype(jnp.uint32)
    return adapted, mode, draw, num_tuning, keys.fold(keys.fold(key, use), number)


def item_key(key: np.ndarray, chain: ChainState) -> np.ndarray:
    """The key of what a chain is at, a draw, or an evaluation or probe between draws; host-side."""
    if chain.mode == DRAW:
        return keys.fold(keys.fold(key, np.uint32(keys.USE_DRAW)), np.uint32(chain.draw))
    return keys.fold(keys.fold(key, np.uint32(keys.USE_TUNE)), np.uint32(chain.num_tuning))


def item_keys(key: np.ndarray, chains: ChainState) -> np.ndarray:
    """The same for several lanes at once: `key` is `(lanes, 2)`, and so is what is returned."""
    is_draw = np.asarray(chains.mode) == DRAW
    use = np.where(is_draw, keys.USE_DRAW, keys.USE_TUNE).astype(np.uint32)
    number = np.where(is_draw, chains.draw, chains.num_tuning).astype(np.uint32)
    return np.ascontiguousarray(keys.fold(keys.fold(key.T, use), number).T)


def _stats(log_density: Array, info: Info, step_size: Array) -> Array:
    columns = (
        log_density,
        info.energy,
        info.is_divergent,
        # 1 where the log density was not finite, 2 where the gradient alone was not.
        info.is_non_finite.astype(jnp.int32) * (1 + info.has_density.astype(jnp.int32)),
        info.num_steps,
        info.depth,
        info.acceptance,
        step_size,
    )
    return jnp.stack([column.astype(step_size.dtype) for column in columns])


def _put(buffers: _Row, row: _Row, index: Array) -> _Row:
    """Write the row of the draw in progress; it stands once the draw is complete.

    Writing it only then, under a condition, would copy the whole buffer.
    """

    def put(buffer: Array, value: Array) -> Array:
        return jax.lax.dynamic_update_index_in_dim(buffer, value, index, 0)

    return jax.tree.map(put, buffers, row)


def _put_lanes(buffers: _Row, row: _Row, index: Array, lanes: int) -> _Row:
    """The same for every lane at its own index; a few lanes one after the other, since a scatter is slow on CPU."""
    if lanes > _MAX_UNROLLED:
        return jax.tree.map(
            lambda buffer, value: buffer.at[jnp.arange(lanes), index].set(value), buffers, row
        )

    def put(buffer: Array, value: Array) -> Array:
        for lane in range(lanes):
            start = (jnp.int32(lane), index[lane], jnp.int32(0))
            buffer = jax.lax.dynamic_update_slice(buffer, value[lane][None, None], start)
        return buffer

    return jax.tree.map(put, buffers, row)
