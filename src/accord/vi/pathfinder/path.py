"""Carry paths as units of a run: each climbs, and draws from the best normal on its way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ...core.tree import flatten
from ...runs.units import AbstractStretch, AbstractUnit
from ...storage import Segment
from .climbing import ClimbState, Points
from .curvature import Curvature
from .normal import Normal

CLIMB, DRAW = "climb", "draw"
"""Phases of a path."""

POSITION, GRADIENT, LOG_DENSITY, BOUND, SITE = "position", "gradient", "log_density", "bound", "site/"
"""Names of arrays in segments; `SITE` begins the name of a site's values."""

STATE, IS_OVER = "state.", "is_over"
"""Names in the state at the end of a segment of a climb."""


@dataclass(frozen=True, eq=False)
class Trail:
    """Trail of a climb: what its points so far tell, as a function of these; NumPy.

    **Fields**: `curvature`; `epsilon`, the relative rounding error of the log density; `count` of points; `position`
    and `gradient` of the last one, None before any; `best`, the normal with the highest evidence lower bound, None
    where no bound is finite; that `bound`; `place` of its point.
    """

    curvature: Curvature
    epsilon: float
    count: int = 0
    position: np.ndarray | None = None
    gradient: np.ndarray | None = None
    best: Normal | None = None
    bound: float = -np.inf
    place: int = -1

    def along(
        self, positions: np.ndarray, gradients: np.ndarray
    ) -> tuple["Trail", tuple[Normal | None, ...]]:
        """Return the trail after further points, of shape `(point, dim)`, and the normal at each, not judged so far."""
        trail, normals = self, []
        for position, gradient in zip(positions.astype(float), gradients.astype(float), strict=True):
            curvature = trail.curvature
            if trail.position is not None and trail.gradient is not None:
                move, turn = position - trail.position, trail.gradient - gradient
                curvature = curvature.after(move, turn, self.epsilon)
            count = trail.count + 1
            trail = replace(trail, curvature=curvature, count=count, position=position, gradient=gradient)
            normals.append(curvature.normal(position, gradient))
        return trail, tuple(normals)

    def judged(self, normals: Sequence[Normal | None], bounds: np.ndarray) -> "Trail":
        """Take the best of the normals at the last points, by their bounds, if it is better than what there was."""
        best = int(np.argmax(bounds))
        if not bounds[best] > self.bound:
            return self
        place = self.count - len(bounds) + best
        return replace(self, best=normals[best], bound=float(bounds[best]), place=place)


@dataclass(frozen=True)
class Path(AbstractUnit):
    """A path between two tasks; NumPy arrays.

    **Fields**: `number`; `trail`; `num_draws` to make, and `num_drawn`; `state` of the climb, None before it has begun;
    `is_over`, whether it has ended; `is_known`, whether the target was compared with the store's.
    """

    number: int
    trail: Trail
    num_draws: int
    num_drawn: int = 0
    state: ClimbState | None = None
    is_over: bool = False
    is_known: bool = False
    noun: ClassVar[str] = "path"

    @property
    def is_done(self) -> bool:
        """See `AbstractUnits.is_done`."""
        return self.is_over and self.num_drawn >= self.num_draws

    def done_by(self, numbers: Sequence[int]) -> int:
        """See `AbstractUnits.done_by`: points and draws."""
        del numbers
        return self.trail.count + self.num_drawn


@dataclass(frozen=True)
class ClimbStretch(AbstractStretch):
    """Points of a climb, each with a bound.

    **Fields**: `path` after them; `points`; `bounds`, shape `(point,)`.
    """

    path: Path
    points: Points
    bounds: np.ndarray

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        stop, points = self.path.trail.count, self.points
        arrays: dict[str, Any] = {
            POSITION: points.position,
            GRADIENT: points.gradient,
            LOG_DENSITY: points.log_density,
            BOUND: self.bounds,
        }
        end = {f"{STATE}{name}": leaf for name, leaf in flatten(self.path.state).items()}
        end[IS_OVER] = np.asarray(self.path.is_over)
        return Segment(self.path.number, CLIMB, stop - len(self.bounds), stop, arrays, end)


@dataclass(frozen=True)
class DrawStretch(AbstractStretch):
    """Draws of a path.

    **Fields**: `path` after them; `positions`, shape `(draw, dim)`; `log_density`, shape `(draw,)`; `sites`, by name.
    """

    path: Path
    positions: np.ndarray
    log_density: np.ndarray
    sites: Mapping[str, np.ndarray] = field(default_factory=dict)

    def segment(self) -> Segment:
        """See `AbstractStretch.segment`."""
        stop = self.path.num_drawn
        arrays = {POSITION: self.positions, LOG_DENSITY: self.log_density}
        arrays |= {f"{SITE}{name}": values for name, values in self.sites.items()}
        return Segment(self.path.number, DRAW, stop - len(self.positions), stop, arrays)
