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
from ..adaptation.step_size import StepSizeState
from ..core import keys
from ..core.tree import where
from ..kernels.base import (
    DRAW,
    EVALUATE,
    PROBE,
    AbstractKernel,
    Info,
    Rarely,
    Tuning,
    rarely,
    rarely_in_lanes,
)
from ..kernels.integrator import Target
from ..kernels.metric import Metric

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

_LANES = "lanes"


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


class Limits(eqx.Module):
    """How far a block may go: `stop` (total draws), `max_gradients`, `num_warmup` (draws), all of shape `()`; and the
    `target_accept` of step size adaptation."""

    stop: Int[Array, ""]
    max_gradients: Int[Array, ""]
    num_warmup: Int[Array, ""]
    target_accept: Float[Array, ""]


class Block(eqx.Module):
    """What a block returns beside the next state.

    **Fields**: `positions` and `gradients`, shape `(rows, dim)`, unconstrained, and `stats`, shape `(rows, len(STATS))`;
    the first `state.draw - start` rows are the block's draws. `num_gradients`, shape `()`.
    """

    positions: Float[Array, "rows dim"]
    gradients: Float[Array, "rows dim"]
    stats: Float[Array, "rows stat"]
    num_gradients: Int[Array, ""]


def rows_for(dim: int) -> int:
    """How many draws a block has room for: fixed by the dimension alone, since it is part of the program."""
    return int(min(256, max(8, 2 ** int(np.log2(2**20 / dim)))))


def start_state(kernel: AbstractKernel, position: np.ndarray) -> ChainState:
    """The state of a chain at `position`, shape `(dim,)`, not yet evaluated; host-side: nothing is compiled or run."""
    shapes = jax.eval_shape(kernel.init, jax.ShapeDtypeStruct(position.shape, position.dtype))
    state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
    state = eqx.tree_at(lambda s: (s.point.position, s.is_fresh), state, (position, np.ones((), bool)))
    count = np.int32(0)
    step = StepSizeState.start(1.0, position.dtype)
    return ChainState(state, step, np.int32(EVALUATE), count, count)


def advance_program(kernel: AbstractKernel, dim: int, dtype: np.dtype, lanes: int) -> Callable[..., Any]:
    """The function `(evaluate, chain, metric, key, item_key, limits) -> (chain, block)` to compile.

    `evaluate(position)` gives log density and gradient; `key` is the chain's, `item_key` that of what it is at. With `lanes` above one, every argument but `evaluate` has a
    leading axis of that size.
    """
    rows = rows_for(dim)

    def run(
        evaluate: Target, chain: ChainState, metric: Metric, key: Array, item_key: Array, limits: Limits
    ) -> Any:
        block = Block(
            jnp.zeros((rows, dim), dtype),
            jnp.zeros((rows, dim), dtype),
            jnp.zeros((rows, len(STATS)), dtype),
            jnp.zeros((), jnp.int32),
        )

        if lanes == 1:

            def is_active(carry: tuple[ChainState, Block, Array]) -> Array:
                return _is_active(carry[0], carry[1], limits)

            def step(carry: tuple[ChainState, Block, Array]) -> tuple[ChainState, Block, Array]:
                return _step(kernel, evaluate, carry, metric, key, limits, first_draw, rarely)

            first_draw = chain.draw
            carry = (chain, block, item_key)
            return jax.lax.while_loop(is_active, step, carry)[:2]

        block = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (lanes, *leaf.shape)), block)
        first_draws = chain.draw
        in_lanes = rarely_in_lanes(_LANES)

        def any_active(carry: Any) -> Array:
            return jnp.any(jax.vmap(_is_active)(carry[0], carry[1], limits))

        def step_lane(carry: Any, metric: Metric, key: Array, limits: Limits, first_draw: Array) -> Any:
            active = _is_active(carry[0], carry[1], limits)
            return where(
                active, _step(kernel, evaluate, carry, metric, key, limits, first_draw, in_lanes), carry
            )

        def step_all(carry: Any) -> Any:
            return jax.vmap(step_lane, axis_name=_LANES)(carry, metric, key, limits, first_draws)

        carry = (chain, block, item_key)
        return jax.lax.while_loop(any_active, step_all, carry)[:2]

    return run


def sites_program(constrain: Callable[[Array], dict[str, Array]], dim: int) -> Callable[..., Any]:
    """The function `(positions, count) -> {site: (rows, *shape)}` to compile; rows from `count` on are left zero.

    One row at a time: in a batch, a row's bits could depend on where in it the row stands.
    """
    rows = rows_for(dim)

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


def _is_active(chain: ChainState, block: Block, limits: Limits) -> Bool[Array, ""]:
    return (chain.draw < limits.stop) & (block.num_gradients < limits.max_gradients)


def _step(
    kernel: AbstractKernel,
    evaluate: Target,
    carry: tuple[ChainState, Block, UInt32[Array, " 2"]],
    metric: Metric,
    key: UInt32[Array, " 2"],
    limits: Limits,
    first_draw: Int[Array, ""],
    rarely: Rarely,
) -> tuple[ChainState, Block, UInt32[Array, " 2"]]:
    """Advance once, and account for a draw, evaluation or probe if that completes it."""
    chain, block, item_key = carry
    step_size = chain.step_size.step_size
    state, info = kernel.advance(
        item_key, evaluate, chain.kernel, Tuning(step_size, metric), chain.mode, rarely
    )
    # The row of the draw in progress is written at every step, and stands once the draw is complete. Writing it under
    # a condition would copy the whole buffer.
    row = chain.draw - first_draw
    block = Block(
        _put(block.positions, state.point.position, row),
        _put(block.gradients, state.point.gradient, row),
        _put(block.stats, _stats(state.point.log_density, info, step_size), row),
        block.num_gradients + 1,
    )
    chain = eqx.tree_at(lambda c: c.kernel, chain, state)

    def finish() -> tuple[StepSizeState, Array, Array, Array, Array]:
        return _finish(chain, info, key, limits)

    unchanged = (chain.step_size, chain.mode, chain.draw, chain.num_tuning, item_key)
    adapted, mode, draw, num_tuning, item_key = rarely(info.is_complete, finish, unchanged)
    return ChainState(state, adapted, mode, draw, num_tuning), block, item_key


def _finish(
    chain: ChainState, info: Info, key: Array, limits: Limits
) -> tuple[StepSizeState, Array, Array, Array, Array]:
    is_draw, is_probe = chain.mode == DRAW, chain.mode == PROBE
    is_warmup = chain.draw < limits.num_warmup
    acceptance = jnp.where(info.is_divergent | info.is_non_finite, 0, info.acceptance)
    probed, is_found = step_sizes.probe(chain.step_size, acceptance)
    updated = step_sizes.update(chain.step_size, info.acceptance, limits.target_accept)
    updated = step_sizes.freeze(updated, chain.draw + 1 == limits.num_warmup)
    adapted = where(is_probe, probed, where(is_draw & is_warmup, updated, chain.step_size))
    mode = jnp.where(is_draw | (is_probe & is_found), DRAW, PROBE).astype(jnp.int32)
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


def _stats(log_density: Array, info: Info, step_size: Array) -> Array:
    columns = (
        log_density,
        info.energy,
        info.is_divergent,
        info.is_non_finite,
        info.num_steps,
        info.depth,
        info.acceptance,
        step_size,
    )
    return jnp.stack([column.astype(step_size.dtype) for column in columns])


def _put(rows: Array, value: Array, index: Array) -> Array:
    return jax.lax.dynamic_update_index_in_dim(rows, value, index, 0)
