"""Climb a log density from several candidates at once, to find its modes.

The sampling program computes the gradient, in one call for all active climbs. The only question is whether one mode has
far more mass than another, so climbs end early.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

from ...core.position import Position
from ...optimise.lbfgs import LBFGS, LBFGSState, Point

MAX_TURNS = 60  # calls of the program
RISE = 1e-5  # of the way to the top: curvature takes a hundredth of what is allowed, and rounding next to nothing
K = TypeVar("K")

_LONGEST = 2.0  # a line first moves a coordinate by at most so much, in unconstrained units
GAIN = 0.1  # nats; less is little
_TRUE = 0.01  # of a rise


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
class Climbs:
    """Climbs side by side, whose arithmetic is done once for all that go on.

    **Fields**
    - `search`, which computes in double precision.
    - `state` of the climbs that go on, with an axis of climbs in front; `rows`, their numbers.
    - `last`: for each climb, the state that holds it as far as it has come, and its index there.
    - `dtype` of the positions that are evaluated.
    """

    search: LBFGS
    state: LBFGSState
    rows: list[int]
    last: list[tuple[LBFGSState, int]]
    dtype: np.dtype

    @staticmethod
    def at(places: Sequence[Place], gain: float) -> "Climbs":
        """Begin at places."""
        dtype = places[0].position.dtype
        # It has arrived if it promises little three times in a row: what is remembered may know nothing of the longest
        # direction.
        search = LBFGS(memory=6, epsilon=float(np.finfo(dtype).eps), gain=gain, patience=3, longest=_LONGEST)
        state, rows = search.init(_points(places)), list(range(len(places)))
        return Climbs(search, state, rows, [(state, row) for row in rows], dtype)

    def next_positions(self, rows: Sequence[int]) -> np.ndarray:
        """Return the next positions to evaluate of the climbs that go on, shape `(climb, dim)`; the others end."""
        if list(rows) != self.rows:
            kept = [self.rows.index(row) for row in rows]
            self.state, self.rows = jax.tree.map(lambda leaf: leaf[kept], self.state), list(rows)
        return self.search.ask(self.state).astype(self.dtype)

    def take(self, places: Sequence[Place]) -> None:
        """Continue with the values at the next positions."""
        self.state = self.search.tell(self.state, _points(places))
        for index, row in enumerate(self.rows):
            self.last[row] = self.state, index


class Climb(NamedTuple):
    """One of several climbs, as far as it has come."""

    of: Climbs
    row: int

    @property
    def height(self) -> float:
        """Log density at the highest point so far."""
        state, index = self.of.last[self.row]
        return float(state.point.log_density[index])

    @property
    def end(self) -> Place:
        """Highest point so far."""
        state, index = self.of.last[self.row]
        point = state.point
        return Place(point.position[index].astype(self.of.dtype), self.height, point.gradient[index])

    @property
    def is_over(self) -> bool:
        """Return whether the climb has arrived, or is lost."""
        state, index = self.of.last[self.row]
        return bool(state.is_over[index])

    @property
    def has_arrived(self) -> bool:
        """Return whether it is at a top, as far as can be told from its moves."""
        state, index = self.of.last[self.row]
        return bool(state.is_settled[index])

    @property
    def is_lost(self) -> bool:
        """Return whether the climb failed: it is not at a mode and cannot continue."""
        return self.is_over and not self.has_arrived

    @property
    def is_near_end(self) -> bool:
        """Return whether it can rise by less than a nat."""
        state, index = self.of.last[self.row]
        return self.has_arrived or bool(state.promise[index] < 1.0)


def _points(places: Sequence[Place]) -> Point:
    def joined(rows: Sequence[Any]) -> Any:
        return np.array(rows, float)

    return Point(*map(joined, zip(*(place[:3] for place in places), strict=True)))


def begin(places: Mapping[K, Place], gain: float = GAIN) -> dict[K, Climb]:
    """Begin a climb at each place, by its name."""
    with np.errstate(all="ignore"):
        together = Climbs.at(list(places.values()), gain)
    return {name: Climb(together, row) for row, name in enumerate(places)}


def ascend(
    climbs: Mapping[K, Climb],
    evaluate: Evaluate[K],
    resting: Resting[K] = lambda _: (),
    turns: int = MAX_TURNS,
) -> None:
    """Climb on until all are over or rest, or for so many calls of `evaluate`; `climbs` began together."""
    # Gradients may be as large as numbers can be: a climb that overflows is lost, and that is all.
    with np.errstate(all="ignore"):
        for _ in range(turns):
            rest = resting(climbs)
            going = {
                name: climb.row for name, climb in climbs.items() if not climb.is_over and name not in rest
            }
            if not going:
                break
            together = climbs[next(iter(going))].of
            found = evaluate(dict(zip(going, together.next_positions([*going.values()]), strict=True)))
            together.take([found[name] for name in going])


def uphill(place: Place, rise: float) -> np.ndarray:
    """Return the position that is `rise` nats higher, if the gradient is right; nowhere, if that is zero."""
    gradient = place.gradient.astype(float)
    with np.errstate(all="ignore"):
        return (place.position + rise * gradient / np.sum(gradient**2)).astype(place.position.dtype)


def is_true_slope(place: Place, beyond: Place, rise: float) -> bool:
    """Return whether `beyond`, at `uphill(place, rise)`, is as much higher as the gradient promises."""
    return bool(abs((beyond.height - place.height) / rise - 1) < _TRUE)
