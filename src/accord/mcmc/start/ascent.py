"""Climb a log density from several candidates at once, to find their modes and the mass of each.

The sampling program computes the gradient, in one call for all active climbs. The only question is whether one mode has
far more mass than another, so climbs end early.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...core.position import Position
from ...optimise.lbfgs import LBFGS, LBFGSState, Point

MAX_TURNS = 60  # calls of the program
RISE = 1e-5  # of the way to the top: curvature takes a hundredth of what is allowed, and rounding next to nothing
K = TypeVar("K")

_LONGEST = 2.0  # a line first moves a coordinate by at most so much, in unconstrained units
_GAIN = 0.1  # nats; less is little
_LEFT = 3.0  # nats below its top, by its curvature, that a climb may have ended
_TRUE = 0.01  # of a rise
_APART = {"float64": 1e-3, "float32": 1e-2}  # places whose gradients tell the curvature; models may be noisy


class Place(NamedTuple):
    """A point with its values: `position` and `gradient` have shape `(dim,)`; `height` is the log density.

    `whole` has the whole numbers of the point, where there are any.
    """

    position: np.ndarray
    height: float
    gradient: np.ndarray
    whole: np.ndarray | None = None

    @property
    def at(self) -> Position:
        """Where it is."""
        free: Any = self.position
        whole: Any = self.whole
        return Position(free, whole)

    @property
    def use(self) -> tuple[int, float]:
        """Rank as a starting point: no trajectory leaves a point where a derivative is not finite."""
        if not np.isfinite(self.height):
            return int(self.height == -np.inf), 0.0
        return 2 + int(np.all(np.isfinite(self.gradient))), self.height

    @property
    def is_usable(self) -> bool:
        """Return whether all values are finite there."""
        return self.use[0] == 3


Evaluate = Callable[[Mapping[K, np.ndarray]], Mapping[K, Place]]
"""Evaluates one position per climb, by the name of the climb."""

Resting = Callable[[Mapping[K, "Climb"]], Container[K]]
"""Selects the climbs, by name, that need not go on, whatever they would find."""


@dataclass(eq=False)
class Climb:
    """One climb.

    **Fields**: `search`, which computes in double precision, and its `state`; `dtype` of the positions that are
    evaluated.
    """

    search: LBFGS
    state: LBFGSState
    dtype: np.dtype

    @staticmethod
    def at(place: Place) -> "Climb":
        """Begin at a place."""
        dtype = place.position.dtype
        # It has arrived if it promises little three times in a row: what is remembered may know nothing of the longest
        # direction.
        search = LBFGS(memory=6, epsilon=float(np.finfo(dtype).eps), gain=_GAIN, patience=3, longest=_LONGEST)
        return Climb(search, search.init(_point(place)), dtype)

    @property
    def next_position(self) -> np.ndarray:
        """Return the next position to evaluate."""
        return self.search.ask(self.state).astype(self.dtype)

    @property
    def height(self) -> float:
        """Log density at the highest point so far."""
        return float(self.state.point.log_density)

    @property
    def end(self) -> Place:
        """Highest point so far."""
        point: Any = self.state.point
        return Place(point.position.astype(self.dtype), self.height, point.gradient)

    @property
    def is_over(self) -> bool:
        """Return whether the climb has arrived, or is lost."""
        return bool(self.state.is_over)

    @property
    def has_arrived(self) -> bool:
        """Return whether it is at a top, as far as can be told from its moves."""
        return bool(self.state.is_settled)

    @property
    def is_lost(self) -> bool:
        """Return whether the climb failed: it is not at a mode and cannot continue."""
        return self.is_over and not self.has_arrived

    @property
    def is_near_end(self) -> bool:
        """Return whether it can rise by less than a nat."""
        return self.has_arrived or bool(self.state.promise < 1.0)

    def take(self, place: Place) -> None:
        """Continue with the values at the next position."""
        self.state = self.search.tell(self.state, _point(place))


def _point(place: Place) -> Point:
    numbers: Any = (place.position.astype(float), np.float64(place.height), place.gradient.astype(float))
    return Point(*numbers)


def ascend(
    places: Mapping[K, Place], evaluate: Evaluate[K], resting: Resting[K] = lambda _: ()
) -> dict[K, Climb]:
    """Climb from each candidate until all climbs are over or rest, or for `MAX_TURNS` calls of `evaluate`."""
    # Gradients may be as large as numbers can be: a climb that overflows is lost, and that is all.
    with np.errstate(all="ignore"):
        climbs = {name: Climb.at(place) for name, place in places.items()}
        for _ in range(MAX_TURNS):
            rest = resting(climbs)
            going = {
                name: climb.next_position
                for name, climb in climbs.items()
                if not climb.is_over and name not in rest
            }
            if not going:
                break
            for name, place in evaluate(going).items():
                climbs[name].take(place)
    return climbs


def around(position: np.ndarray) -> list[np.ndarray]:
    """Return points near a position, one per coordinate, whose gradients give the curvature."""
    return list(position + _APART[position.dtype.name] * np.eye(len(position), dtype=position.dtype))


def log_mass(top: Place, beside: Sequence[Place]) -> float:
    """Estimate the log mass of a mode by Laplace's approximation, up to a constant; NaN if it is no mode.

    `beside` is what is at the places of `around(top.position)`. A place that a climb took for a top may lie in the neck
    of a funnel, or on a ridge: some direction is then not curved downwards, or promises much more.
    """
    gradients = np.stack([place.gradient for place in beside]).astype(float)
    curvature = (top.gradient - gradients) / _APART[top.position.dtype.name]
    curvature = (curvature + curvature.T) / 2
    widths = 1 / np.sqrt(np.abs(np.diag(curvature)) + 1e-300)
    if not np.all(np.isfinite(curvature)):
        return np.nan
    values, vectors = np.linalg.eigh(curvature * widths * widths[:, None])
    if values[0] <= 0 or np.sum((vectors.T @ (widths * top.gradient)) ** 2 / values) / 2 > _LEFT:
        return np.nan
    return top.height + float(np.sum(np.log(widths)) - np.sum(np.log(values)) / 2)


def uphill(place: Place, rise: float) -> np.ndarray:
    """Return the position that is `rise` nats higher, if the gradient is right; nowhere, if that is zero."""
    gradient = place.gradient.astype(float)
    with np.errstate(all="ignore"):
        return (place.position + rise * gradient / np.sum(gradient**2)).astype(place.position.dtype)


def is_true_slope(place: Place, beyond: Place, rise: float) -> bool:
    """Return whether `beyond`, at `uphill(place, rise)`, is as much higher as the gradient promises."""
    return bool(abs((beyond.height - place.height) / rise - 1) < _TRUE)
