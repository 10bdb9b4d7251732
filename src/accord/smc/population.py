"""Carry populations as units of a run: particles at one power of the likelihood, and a stage that is under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..adaptation.metric import Metric
from ..core.tree import flatten, node
from ..runs.units import AbstractStretch, AbstractUnit
from ..storage import Segment
from .moves import Moved

TEMPER, DRAW = "temper", "draw"
"""Phases of a population."""

POSITION, SITE, STATE = "position", "site/", "state."
"""Names of arrays in segments; the others begin names of sites, and of parts of the state at their end."""


@node
class Cloud:
    """Particles of equal weight at one power of the likelihood; NumPy.

    **Fields**: `power`; `positions`, shape `(particle, dim)`; `log_likelihood` and `family`, the number of their
    ancestor one stage back, shape `(particle,)`; `step_size` for the next stage, 0 before any; `metric` of the last
    stage.
    """

    power: Any
    positions: Any
    log_likelihood: Any
    family: Any
    step_size: Any
    metric: Metric


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage that is under way: chains of a new power begin at chosen particles.

    **Fields**: `power`; `log_ratio`, the log of the mean weight of all particles, and its `variance`; `ess`, how many
    particles of equal weight these are worth; `ancestors`, their places; `metric` and `step_size` of the moves; `moved`
    so far, part by part.
    """

    power: float
    log_ratio: float
    variance: float
    ess: float
    ancestors: np.ndarray
    metric: Metric
    step_size: float
    moved: tuple[Moved, ...] = ()

    @property
    def num_moved(self) -> int:
        """Number of chains that have moved."""
        return sum(len(each.acceptance) for each in self.moved)


@dataclass(frozen=True, eq=False)
class Population(AbstractUnit):
    """A population between two tasks.

    **Fields**: `number`; `num_stages` that are complete, of which the first are the draws from the prior; `cloud`, None
    before these; `stage` that is under way, if any; `is_drawn`, whether its draws were handed over; `is_known`, whether
    the target was compared with the store's.
    """

    number: int
    num_stages: int = 0
    cloud: Cloud | None = None
    stage: Stage | None = None
    is_drawn: bool = False
    is_known: bool = False
    noun: ClassVar[str] = "population"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return self.is_drawn

    def done_by(self, numbers: Sequence[int]) -> int:
        """See `AbstractUnits.done_by`: stages."""
        del numbers
        return self.num_stages


@dataclass(frozen=True)
class StageStretch(AbstractStretch):
    """A complete stage. **Fields**: `population` after it; `row`, numbers of the stage by name."""

    population: Population
    row: Mapping[str, Any]

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        stop = self.population.num_stages
        arrays = {name: np.asarray(value, np.float64)[None] for name, value in self.row.items()}
        end = {f"{STATE}{name}": leaf for name, leaf in flatten(self.population.cloud).items()}
        return Segment(self.population.number, TEMPER, stop - 1, stop, arrays, end)


@dataclass(frozen=True)
class ParticleStretch(AbstractStretch):
    """Particles of the posterior. **Fields**: `number` of the population; `positions`; `sites`, by name."""

    number: int
    positions: np.ndarray
    sites: Mapping[str, np.ndarray] = field(default_factory=dict)

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        arrays = {POSITION: self.positions} | {f"{SITE}{name}": values for name, values in self.sites.items()}
        return Segment(self.number, DRAW, 0, len(self.positions), arrays)
