"""Restarts of a fit as units of a run: each is a fit of its own, and the best one is the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..core.tree import flatten
from ..runs.units import AbstractStretch, AbstractUnit
from ..storage import Phase, Segment

STATE, PARAMS = "state.", "params."
LOCATION, SCALE = "frame.location", "frame.scale"
IS_OVER, CONVERGED, NUM_BAD = "is_over", "converged", "num_bad"
"""Names in the state at the end of a segment."""

LOSS = "loss"
"""Name of the losses in a segment, shape `(step,)`."""


@dataclass(frozen=True)
class Restart(AbstractUnit):
    """A restart between two tasks; NumPy arrays.

    **Fields**
    - `number`; `stage`, which of the plan's it is at; `is_over`, whether that stage is.
    - `given`, to the program, and `state`, of it: None before the stage has begun.
    - `losses` of the stage so far, shape `(step,)`.
    - `is_known`: whether the target was compared with the store's.
    - `frame`: location and scale for the next stage; None for the first.
    """

    number: int
    stage: int = 0
    is_over: bool = False
    given: Any = None
    state: Any = None
    losses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    is_known: bool = False
    frame: tuple[np.ndarray, np.ndarray] | None = None
    num_stages: int = 1
    noun: ClassVar[str] = "restart"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return self.is_over and self.stage == self.num_stages - 1

    def done_by(self, numbers: Sequence[int]) -> int:
        """See `AbstractUnits.done_by`."""
        del numbers
        return len(self.losses)

    def after(self, state: Any, losses: np.ndarray, *, is_over: bool) -> "Restart":
        """Return it after some steps."""
        return replace(self, state=state, losses=np.concatenate([self.losses, losses]), is_over=is_over)


@dataclass(frozen=True)
class Stretch(AbstractStretch):
    """Consecutive steps of one stage of a restart, and the state after them.

    **Fields**: `start`, the first step; `losses` of the steps; `params` so far; `restart` after them; `converged`,
    whether the stage ended because nothing was to be gained.
    """

    phase: Phase
    start: int
    losses: np.ndarray
    params: Mapping[str, Any]
    restart: Restart
    converged: bool

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        restart = self.restart
        given, state = restart.given, restart.state
        location = given.locations[int(state.best)]
        end = {f"{STATE}{path}": leaf for path, leaf in flatten(state).items()}
        end |= {f"{PARAMS}{path}": leaf for path, leaf in flatten(self.params).items()}
        end |= {
            LOCATION: np.asarray(location),
            SCALE: np.asarray(given.scale),
            IS_OVER: np.asarray(restart.is_over),
            CONVERGED: np.asarray(self.converged),
            NUM_BAD: np.asarray(state.num_bad),
        }
        stop = self.start + len(self.losses)
        return Segment(restart.number, self.phase, self.start, stop, {LOSS: self.losses}, end)
