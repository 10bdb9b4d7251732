"""Define the data that host and sampling program exchange for each block.

A block is what one call of the program does: from the state of a chain and limits to the next state and rows of draws.
What the host prepares here is NumPy: nothing is compiled or run for it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from ..core import keys
from ..core.pace import Pace
from ..core.position import Position
from ..core.tree import node
from ..kernels import AbstractKernel, Point

# What an item of a chain is. A start point and the search for a step size use the program that draws.
EVALUATE = 0  # evaluate where the state stands
PROBE = 1  # take one step to see how well the step size fits, and do not move
DRAW = 2  # go on with the current draw

ATTEMPTS = 10
"""Candidates that are drawn and evaluated together for a chain without a starting point."""

MAX_CLIMB_DIM = 64
"""Dimension beyond which starts are not sought by climbing: the curvature at a top takes too many gradients."""


@node
class ChainState:
    """State of one chain between blocks; with lanes, every array has a leading axis of lanes.

    **Fields**
    - `kernel`: the kernel's own state; on the host it may be a `held.Lane`, which stands for it.
    - `learnt`: what adaptation carries with the chain.
    - `mode`: what the next evaluation is for (`EVALUATE`, `PROBE` or `DRAW`).
    - `draw`: how many draws are complete, warm-up included.
    - `num_tuning`: how many evaluations and probes are complete.
    """

    kernel: Any
    learnt: Any
    mode: Int[Array, ""]
    draw: Int[Array, ""]
    num_tuning: Int[Array, ""]


@node
class Limits:
    """Limits of a block, all of shape `()`.

    **Fields**: `stop`, total draws; `max_gradients`; `num_warmup`, draws; `places`, `num_places` positions: more
    candidates for a chain without a starting point, one gradient each; the first is not read.
    """

    stop: Int[Array, ""]
    max_gradients: Int[Array, ""]
    num_warmup: Int[Array, ""]
    places: Position

    @staticmethod
    def at(stop: int, max_gradients: int, num_warmup: int, places: Position) -> "Limits":
        """Return the limits as a program takes them; host-side, NumPy."""
        as_int: Any = np.int32
        return Limits(as_int(stop), as_int(max_gradients), as_int(num_warmup), places)


@node
class Block:
    """Results of a block beside the next state.

    **Fields**: `positions`, with an axis of rows, and `gradients`, shape `(rows, dim)`; `stats`, shape `(rows, stat)`,
    see `statistics`.
    The first `state.draw - start` rows are the block's draws, the others are undefined. For a chain without a starting
    point, the first rows are the candidates it evaluated. `num_gradients`, shape `()`. On the host, `gradients` are a
    `held.Lane`, since few of them are read.
    """

    positions: Position
    gradients: Any
    stats: Float[Array, "rows stat"]
    num_gradients: Int[Array, ""]


def rows_for(dim: int, lanes: int, pace: Pace) -> int:
    """Return how many draws a block has room for, at least `ATTEMPTS`: a constant of the program.

    Every block costs a few milliseconds on the host. So blocks of few lanes and dimensions are long, 2 MB of
    positions. Many lanes compensate for short ones. The candidates of a chain without a starting point are rows of a
    block too, and the fixed points that identify a target, so no size of a model and no pace goes below their number.
    """
    room = 2 ** int(np.log2(max(2**18 // (dim * lanes), 1)))
    least = 2 ** int(np.log2(max(2**20 // dim, 1)))
    most = 2 ** int(np.log2(max(pace.most_numbers // (dim * lanes), 1)))
    return max(ATTEMPTS, min(pace.most_rows, most, max(room, min(256, least))))


def num_places(dim: int, lanes: int, num_rows: int) -> int:
    """Return how many positions one call evaluates for a chain without a starting point: a constant of the program.

    A call takes half a millisecond beside its gradients. So the curvature at a top, one gradient for each of `dim`
    free coordinates, is taken at once: by a program of one lane, in a block with room for so many rows.
    """
    return max(ATTEMPTS, min(dim, num_rows)) if lanes == 1 and dim <= MAX_CLIMB_DIM else ATTEMPTS


def start_state(kernel: AbstractKernel, position: Position) -> ChainState:
    """Make the state of a chain at `position`, not yet evaluated; host-side, without compiling."""
    count: Any = np.int32(0)
    mode: Any = np.int32(EVALUATE)
    free: Any = position.free
    zero: Any = np.zeros((), free.dtype)
    point = Point(position, zero, np.zeros_like(free))
    learnt = kernel.adaptation.begin(len(free), free.dtype)
    return ChainState(kernel.init(point), learnt, mode, count, count)


def starting_states(
    kernel: AbstractKernel, nowhere: Position, put: Callable[[Any], Any] | None = None
) -> Callable[[Position], ChainState]:
    """Return a function equal to `start_state` for one kernel, and ten times as fast per position.

    `nowhere` is like the positions. What is equal in all states goes where `put` puts it, so that it is not handed over
    with each of them.
    """
    nowhere = jax.tree.map(np.copy, nowhere)
    state, parts = start_state(kernel, nowhere), jax.tree.leaves(nowhere)
    places = [
        next((n for n, part in enumerate(parts) if part is leaf), None) for leaf in jax.tree.leaves(state)
    ]
    if put is not None:
        kernel_state, learnt = put((state.kernel, state.learnt))  # the host reads the rest
        state = replace(state, kernel=kernel_state, learnt=learnt)
    leaves, structure = jax.tree.flatten(state)

    def at(position: Position) -> ChainState:
        new = jax.tree.leaves(position)
        filled = (leaf if n is None else new[n] for leaf, n in zip(leaves, places, strict=True))
        return jax.tree.unflatten(structure, filled)

    return at


def item_key(key: np.ndarray, chain: ChainState) -> np.ndarray:
    """Return the key of the current draw, or of the evaluation or probe between draws; host-side."""
    if chain.mode == DRAW:
        return keys.item(key, keys.USE_DRAW, chain.draw)
    return keys.item(key, keys.USE_TUNE, chain.num_tuning)


def item_keys(key: np.ndarray, chains: ChainState) -> np.ndarray:
    """Return such keys for several lanes: `key` and the result have shape `(lanes, 2)`."""
    is_draw = np.asarray(chains.mode) == DRAW
    use = np.where(is_draw, keys.USE_DRAW, keys.USE_TUNE).astype(np.uint32)
    number = np.where(is_draw, chains.draw, chains.num_tuning).astype(np.uint32)
    return np.ascontiguousarray(keys.item(key.T, use, number).T)
