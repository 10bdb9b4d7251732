"""Say what passes between the host and the program that moves chains, block by block.

A block is what one call of the program does: from the state of a chain and limits to the next state and rows of draws.
What the host prepares here is NumPy: nothing is compiled or run for it.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from ..adaptation.ensemble import EnsembleState
from ..adaptation.step_size import StepSizeState
from ..core import keys
from ..core.pace import Pace
from ..core.tree import node
from ..kernels import ChEES
from ..kernels.base import DRAW, EVALUATE, AbstractKernel

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

PART_DTYPES = {"log_prior": "float64", "log_likelihood": "float64"}
"""Those that are worked out with the sites; there are none where the target has no sites."""

NUM_PLACES = 10
"""Positions that a chain which has not begun may have evaluated by one call."""


@node
class ChainState:
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


@node
class Limits:
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


@node
class Block:
    """What a block returns beside the next state.

    **Fields**: `positions` and `gradients`, shape `(rows, dim)`, unconstrained; `stats`, shape `(rows, len(STATS))`.
    The first `state.draw - start` rows are the block's draws, the others mean nothing; of a chain that has not begun,
    the first rows are the places it evaluated. `num_gradients`, shape `()`.
    """

    positions: Float[Array, "rows dim"]
    gradients: Float[Array, "rows dim"]
    stats: Float[Array, "rows stat"]
    num_gradients: Int[Array, ""]


def rows_for(dim: int, lanes: int, pace: Pace) -> int:
    """How many draws a block has room for, a power of two: fixed by the program, of which it is a part.

    Every block costs a few milliseconds on the host, so that few lanes of few dimensions have long ones, of 2 MB of
    positions. Many lanes make up for short ones.
    """
    room = 2 ** int(np.log2(max(2**18 // (dim * lanes), 1)))
    least = 2 ** int(np.log2(max(2**20 // dim, 1)))
    most = 2 ** int(np.log2(max(pace.most_numbers // (dim * lanes), 1)))
    return min(pace.most_rows, max(8, min(most, max(room, min(256, least)))))


def start_state(kernel: AbstractKernel, position: Any) -> ChainState:
    """The state of a chain at `position`, shape `(dim,)`, not yet evaluated; host-side: nothing is compiled or run."""
    count: Any = np.int32(0)
    if isinstance(kernel, ChEES):
        step = EnsembleState.begin(1.0, kernel.trajectory_length, 0.0, position.dtype)
    else:
        step = StepSizeState.start(1.0, position.dtype)
    mode: Any = np.int32(EVALUATE)
    return ChainState(kernel.init(position), step, mode, count, count)


def starting_states(kernel: AbstractKernel, dim: int, dtype: np.dtype) -> Callable[[np.ndarray], ChainState]:
    """A function that does as `start_state` with a kernel, and is ten times as quick for each position."""
    nowhere = np.zeros(dim, dtype)
    leaves, structure = jax.tree.flatten(start_state(kernel, nowhere))

    def at(position: np.ndarray) -> ChainState:
        return jax.tree.unflatten(structure, [position if leaf is nowhere else leaf for leaf in leaves])

    return at


def item_key(key: np.ndarray, chain: ChainState) -> np.ndarray:
    """The key of what a chain is at, a draw, or an evaluation or probe between draws; host-side."""
    if chain.mode == DRAW:
        return keys.item(key, keys.USE_DRAW, chain.draw)
    return keys.item(key, keys.USE_TUNE, chain.num_tuning)


def item_keys(key: np.ndarray, chains: ChainState) -> np.ndarray:
    """The same for several lanes at once: `key` is `(lanes, 2)`, and so is what is returned."""
    is_draw = np.asarray(chains.mode) == DRAW
    use = np.where(is_draw, keys.USE_DRAW, keys.USE_TUNE).astype(np.uint32)
    number = np.where(is_draw, chains.draw, chains.num_tuning).astype(np.uint32)
    return np.ascontiguousarray(keys.item(key.T, use, number).T)
