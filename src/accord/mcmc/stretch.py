"""Define what a chain hands over: stretches of draws, each with the state after it, as a store keeps them."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..adaptation.base import Fitted
from ..runs.stopping.sights import GIVEN_UP
from ..runs.units import AbstractStretch, News
from ..storage import Phase, Segment
from .block import ChainState
from .endings import Tally

GRADIENTS, WORK = "num_gradients", "piece_gradients"
WARMUP, IS_SETTLED = "num_warmup", "is_settled"
"""Names in the state at the end of a segment: gradients of the chain so far and of the segment; its warm-up."""


@dataclass(frozen=True)
class Stretch(AbstractStretch):
    """Consecutive draws of one phase of one chain, and the state after them; NumPy arrays.

    **Fields**: `start` and `stop` count draws before thinning, of which `arrays` hold every `step`-th one, the first
    included; `fitted`, what the host has learnt; `num_gradients`, of these draws; `total_gradients`, `tally`,
    `num_warmup` and `is_settled`, of the chain so far.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    fitted: Fitted
    num_gradients: int
    total_gradients: int
    tally: Tally
    num_warmup: int
    is_settled: bool
    step: int = 1

    def segment(self) -> Segment:
        """Return the draws as a store keeps them, with the state that the chain needs to continue.

        Besides its warm-up draws, during warm-up.
        """
        numbers = {
            GRADIENTS: self.total_gradients,
            WARMUP: self.num_warmup,
            IS_SETTLED: self.is_settled,
            WORK: self.num_gradients,
            GIVEN_UP: self.tally.is_stuck,
        }
        state = flatten({"state": self.end_state, "metric": self.fitted.metric})
        state |= {name: np.asarray(number) for name, number in numbers.items()}
        state |= self.tally.arrays() | self.fitted.choice.arrays()
        start, stop = -(-self.start // self.step), -(-self.stop // self.step)
        return Segment(self.chain, self.phase, start, stop, self.arrays, state)


@dataclass(frozen=True)
class Stuck(News):
    """A chain that is given up after `MAX_UNMOVED` draws without a move; `draw` counts warm-up too."""

    chain: int
    draw: int
    tally: Tally


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """Return the leaves of a tree by path."""
    leaves, structure = jax.tree.flatten(tree)
    return dict(zip(_paths(structure), map(np.asarray, leaves), strict=True))


@functools.lru_cache(maxsize=8)
def _paths(structure: Any) -> tuple[str, ...]:
    """Return the paths of the leaves of trees with one structure."""
    places = jax.tree_util.tree_flatten_with_path(structure.unflatten(range(structure.num_leaves)))[0]
    return tuple(jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in places)
