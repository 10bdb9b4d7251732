"""Climb a log density from several candidates at once, to find their modes and the mass of each.

The sampling program computes the gradient, in one call for all active climbs. The only question is whether one mode has
far more mass than another, so climbs end early and their line searches are short.

**Source**: Nocedal & Wright (2006), Numerical Optimization, Algorithm 7.4 for the direction, 3.1 for the steps.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

MAX_TURNS = 60  # calls of the program
K = TypeVar("K")

_MEMORY = 6  # moves remembered
_RISE = 1e-4  # of what the slope promises has to come true
_LONGEST = 2.0  # a coordinate moves by at most so much in a step, in unconstrained units
_GAIN = 0.1  # nats; a climb that promises less has arrived
_NUM_FLAT = 3  # times in a row, because what is remembered may know nothing of the longest direction
_LEFT = 3.0  # nats below its top, by its curvature, that a climb may have ended
_APART = {"float64": 1e-3, "float32": 1e-2}  # places whose gradients tell the curvature; models may be noisy
_MAX_HALVINGS = 12


class Place(NamedTuple):
    """A point with its values: `position` and `gradient` have shape `(dim,)`; `height` is the log density."""

    position: np.ndarray
    height: float
    gradient: np.ndarray

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
"""From positions by the name of their climb to what is there."""

Resting = Callable[[Mapping[K, "Climb"]], Container[K]]
"""From all climbs to those that need not go on, whatever they would find."""


@dataclass(eq=False)
class Climb:
    """State of one climb.

    **Fields**: `position`, `gradient`, shape `(dim,)`, and `height`, the log density: of the highest place so far;
    `has_arrived`: as far as can be told from its moves, it is at a top; `is_over`: or lost.
    """

    position: np.ndarray
    height: float
    gradient: np.ndarray
    has_arrived: bool = False
    is_over: bool = False
    _moves: list[tuple[np.ndarray, np.ndarray]] = field(
        default_factory=list
    )  # of position, and fall of the gradient
    _direction: np.ndarray = field(default_factory=lambda: np.zeros(0))
    _step: float = 1.0
    _first: float = 1.0  # length of a step of which nothing is known
    _num_halvings: int = 0
    _num_flat: int = 0  # turns in a row that promised little
    _promise: float = np.inf  # nats that the next move is to gain, by what is known of the curvature

    def __post_init__(self) -> None:
        self._aim()

    @property
    def next_position(self) -> np.ndarray:
        """Return the next position to evaluate."""
        return self.position + (self._step * self._direction).astype(self.position.dtype)

    @property
    def is_lost(self) -> bool:
        """Return whether the climb failed: it is not at a mode and cannot continue."""
        return self.is_over and not self.has_arrived

    @property
    def is_near_end(self) -> bool:
        """Return whether it can rise by less than a nat."""
        return self.has_arrived or self._promise < 1.0

    @property
    def end(self) -> Place:
        """Highest point so far."""
        return Place(self.position, self.height, self.gradient)

    def take(self, place: Place) -> None:
        """Continue with the values at the next position."""
        position, height, gradient = place
        promised = _RISE * self._step * float(self.gradient @ self._direction)
        if not place.is_usable or height < self.height + promised:
            self._step *= 0.5 if place.is_usable else 0.2
            self._num_halvings += 1
            self.is_over = self._num_halvings > _MAX_HALVINGS
            return
        moved, fallen = position - self.position, self.gradient - gradient
        if float(moved @ fallen) > 1e-10 * float(fallen @ fallen):
            self._moves = [*self._moves, (moved, fallen)][-_MEMORY:]
        else:  # it curves upwards: nothing to learn of where the top is
            self._moves, self._first = [], 2 * self._first
        self.position, self.height, self.gradient = position, height, gradient
        self._aim()

    def _aim(self) -> None:
        direction = self._newton()
        slope = float(self.gradient @ direction)
        if not slope > 0 and self._moves:
            self._moves = []
            direction = self._newton()
            slope = float(self.gradient @ direction)
        self._promise = slope / 2 if self._moves else np.inf
        self._num_flat = self._num_flat + 1 if self._promise < _GAIN else 0
        self.has_arrived = self._num_flat >= _NUM_FLAT or not np.any(self.gradient)
        self.is_over = self.has_arrived or not np.isfinite(slope)
        self._direction, self._num_halvings = direction, 0
        self._step = min(1.0, _LONGEST / max(float(np.max(np.abs(direction))), 1e-30))

    def _newton(self) -> np.ndarray:
        """Multiply the gradient by the approximate inverse curvature, in double precision."""
        direction, weights = self.gradient.astype(float), []
        if not self._moves:
            return direction * (self._first / max(float(np.linalg.norm(direction)), 1e-30))
        for moved, fallen in reversed(self._moves):
            weights.append(float(moved @ direction) / float(moved @ fallen))
            direction = direction - weights[-1] * fallen
        moved, fallen = self._moves[-1]
        direction = direction * (float(moved @ fallen) / float(fallen @ fallen))
        for (moved, fallen), weight in zip(self._moves, reversed(weights), strict=True):
            direction = direction + (weight - float(fallen @ direction) / float(moved @ fallen)) * moved
        return direction


def ascend(
    places: Mapping[K, Place], evaluate: Evaluate[K], resting: Resting[K] = lambda _: ()
) -> dict[K, Climb]:
    """Climb from each candidate until all climbs are over or rest, or for `MAX_TURNS` calls of `evaluate`."""
    # Gradients may be as large as numbers can be: a climb that overflows is lost, and that is all.
    with np.errstate(all="ignore"):
        climbs = {name: Climb(*place) for name, place in places.items()}
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
