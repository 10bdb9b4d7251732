"""Carry live points as units of a run, with a round of replacements that is under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..adaptation.metric import Metric
from ..core.tree import flatten, node
from ..runs.units import AbstractStretch, AbstractUnit
from ..storage import Segment

SHRINK, DRAW = "shrink", "draw"
"""Phases of a run: rounds of replacements, and the live points that are left at the end."""

POSITION, HEIGHT, TIE = "position", "log_likelihood", "tie"
SITE, STATE = "site/", "state."
"""Names of arrays in segments; the others begin names of sites, and of parts of the state at their end."""


@node
class Points:
    """Points of the prior; arrays of NumPy or JAX, with an axis of points in front.

    **Fields**: `positions`, shape `(dim,)`; `log_prior`, with the Jacobian, and `log_likelihood` there; `tie`, a
    uniform number that orders points of equal likelihood.
    """

    positions: Any
    log_prior: Any
    log_likelihood: Any
    tie: Any

    def at(self, places: np.ndarray) -> "Points":
        """Return some of them; NumPy."""
        return Points(
            self.positions[places], self.log_prior[places], self.log_likelihood[places], self.tie[places]
        )

    def order(self) -> np.ndarray:
        """Return their places by rising likelihood, and by tie where that is equal; NumPy."""
        return np.lexsort((self.tie, self.log_likelihood))


def joined(parts: Sequence[Points]) -> Points:
    """Put points one after the other; NumPy."""
    fields = ("positions", "log_prior", "log_likelihood", "tie")
    return Points(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


@node
class Live:
    """Live points of a run between two rounds; NumPy.

    **Fields**: `points`; `log_volume` of the prior where they are, as expected; `log_evidence` of the points that were
    replaced; `metric`, by which they spread.
    """

    points: Points
    log_volume: Any
    log_evidence: Any
    metric: Metric


@dataclass(frozen=True, eq=False)
class Round:
    """A round that is under way.

    **Fields**: `points`, live now; `dead`, those that were replaced, batch by batch; `ranks` of the new points; and
    how many densities were evaluated, moves that stayed, and likelihoods that were no number.
    """

    points: Points
    dead: tuple[Points, ...] = ()
    ranks: tuple[np.ndarray, ...] = ()
    evaluations: int = 0
    stayed: int = 0
    non_finite: int = 0


@dataclass(frozen=True, eq=False)
class NestedRun(AbstractUnit):
    """A run of nested sampling between two tasks.

    **Fields**: `number`; `num_rounds` that are complete, of which the first are the draws from the prior; `live`, None
    before these; `round` that is under way, if any; `is_over`, whether no round is left; `is_drawn`, whether its live
    points were handed over; `is_known`, whether the target was compared with the store's.
    """

    number: int
    num_rounds: int = 0
    live: Live | None = None
    round: Round | None = None
    is_over: bool = False
    is_drawn: bool = False
    is_known: bool = False
    noun: ClassVar[str] = "run"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return self.is_drawn

    def done_by(self, numbers: Sequence[int]) -> int:
        """See `AbstractUnits.done_by`: rounds."""
        del numbers
        return self.num_rounds


@dataclass(frozen=True)
class RoundStretch(AbstractStretch):
    """A complete round.

    **Fields**: `run` after it; `row`, numbers of the round by name; `dead` points, and `sites` of these, by name.
    """

    run: NestedRun
    row: Mapping[str, Any]
    dead: Points
    sites: Mapping[str, np.ndarray] = field(default_factory=dict)

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        stop = self.run.num_rounds
        rows = {name: np.asarray(value, np.float64)[None] for name, value in self.row.items()}
        arrays = rows | {name: values[None] for name, values in _kept(self.dead, self.sites).items()}
        end = {f"{STATE}{name}": leaf for name, leaf in flatten(self.run.live).items()}
        return Segment(self.run.number, SHRINK, stop - 1, stop, arrays, end)


@dataclass(frozen=True)
class LiveStretch(AbstractStretch):
    """Live points at the end. **Fields**: `number` of the run; `points`, in their order; `sites`, by name."""

    number: int
    points: Points
    sites: Mapping[str, np.ndarray] = field(default_factory=dict)

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        return Segment(self.number, DRAW, 0, len(self.points.tie), _kept(self.points, self.sites))


def _kept(points: Points, sites: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    own = {POSITION: points.positions, HEIGHT: points.log_likelihood, TIE: points.tie}
    return own | {f"{SITE}{name}": values for name, values in sites.items()}
