"""Define what a chain hands over: stretches of draws, each with the state after it, as a store keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..core.tree import flatten
from ..runs.stopping.sights import GIVEN_UP
from ..runs.units import AbstractStretch, News
from ..storage import Phase, Segment
from .block import ChainState
from .endings import Tally

GRADIENTS, WORK = "num_gradients", "piece_gradients"
WARMUP, IS_SETTLED = "num_warmup", "is_settled"
STATE, FITTED = "state.", "fitted."
"""Names in the state at the end of a segment: gradients of the chain so far and of the segment; its warm-up;
beginnings of those of its state, and of what the host has learnt."""


@dataclass(frozen=True)
class Stretch(AbstractStretch):
    """Consecutive draws of one phase of one chain, and the state after them; NumPy arrays.

    **Fields**: `start` and `stop` count draws before thinning, of which `arrays` hold every `step`-th one, the first
    included; `fitted`, what the host has learnt, and `tuning`, what is shown of warm-up, as a store keeps them;
    `num_gradients`, of these draws; `total_gradients`, `tally`, `num_warmup` and `is_settled`, of the chain so far.
    """

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    fitted: Mapping[str, np.ndarray]
    tuning: Mapping[str, np.ndarray]
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
        state = {f"{STATE}{path}": leaf for path, leaf in flatten(self.end_state).items()}
        state |= {f"{FITTED}{path}": leaf for path, leaf in self.fitted.items()}
        state |= {name: np.asarray(number) for name, number in numbers.items()}
        state |= {**self.tuning, **self.tally.arrays()}
        start, stop = -(-self.start // self.step), -(-self.stop // self.step)
        return Segment(self.chain, self.phase, start, stop, self.arrays, state)


@dataclass(frozen=True)
class Stuck(News):
    """A chain that is given up after `MAX_UNMOVED` draws without a move; `draw` counts warm-up too."""

    chain: int
    draw: int
    tally: Tally
