"""Climb from the candidates of each chain, and weigh the tops that the climbs lead to."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.position import Position
from .ascent import Climb, Place, ascend, begin
from .evaluate import Evaluator
from .masses import SAME, around, curvature, is_same_top, log_mass

_Number = tuple[int, int]  # of a climb: its lane, and which it is there

_FAR = 10.0  # nats; a mode with a mass of 5e-5 is no part of what is drawn
_FURTHER_TURNS = 140  # calls of the program for a climb that leads by far
_FINE = 1e-3  # nats that it may stop below its top


class Summits(NamedTuple):
    """Places that the climbs of a chain have led to, tops or not, each with the log mass of its mode.

    A mass is NaN where the place is no top, and where it is not known since all places are about as high.
    """

    places: tuple[Place, ...]
    masses: tuple[float, ...]

    def beside(self, other: "Summits") -> "Summits":
        """Return what further climbs have led to as well."""
        return Summits(self.places + other.places, self.masses + other.masses)

    @property
    def highest(self) -> Place | None:
        """The highest place; None if all climbs were lost."""
        return max(self.places, key=lambda place: place.height, default=None)

    @property
    def heaviest(self) -> Place | None:
        """The top of the mode with most mass, if modes differ much in it; else None."""
        known = [mass for mass in self.masses if np.isfinite(mass)]
        return self.places[int(np.nanargmax(self.masses))] if _are_apart(known) else None

    @property
    def share(self) -> float:
        """Share of the climbs that led to a mode about as heavy as the heaviest; 1 where modes do not differ much."""
        if not self.heaviest:
            return 1.0
        return float(np.mean(np.nanmax(self.masses) - np.array(self.masses) < _FAR))


def find_summits(
    evaluator: Evaluator,
    candidates: Mapping[int, Sequence[Place]],
    known: Mapping[int, Summits] | None = None,
) -> dict[int, Summits]:
    """Climb from all candidates of each lane; what is found depends on that lane's candidates alone.

    `known`: where earlier climbs of the lane have led to. A place about as high as a top there is taken for the same.
    """

    def evaluate(positions: Mapping[_Number, np.ndarray]) -> dict[_Number, Place]:
        wanted: dict[int, list[Position]] = {}
        for (lane, _), position in positions.items():
            wanted.setdefault(lane, []).append(free(position))
        found = {lane: iter(places) for lane, places in evaluator.look(wanted).items()}
        return {number: next(found[number[0]]) for number in positions}

    def mass(number: _Number) -> float:
        lane, top = number[0], climbs[number].end
        before = known[lane] if known else Summits((), ())
        for place, there in zip(before.places, before.masses, strict=True):
            if np.isfinite(there) and abs(place.height - top.height) < SAME:
                return there
        for place, curved, there in weighed[lane]:
            if is_same_top(place, curved, top):
                return there
        curved = curvature(top, evaluator.look({lane: [*map(free, around(top.position))]})[lane])
        found = log_mass(top, curved)
        if np.isfinite(found):
            weighed[lane].append((top, curved, found))
        return found

    weighed: dict[int, list[tuple[Place, np.ndarray, float]]] = {lane: [] for lane in candidates}
    climbs = begin(
        {(lane, n): place for lane, places in candidates.items() for n, place in enumerate(places)}
    )
    ascend(climbs, evaluate, _level)
    sound = {
        lane: [number for number, climb in climbs.items() if number[0] == lane and not climb.is_lost]
        for lane in candidates
    }
    apart = {
        lane: numbers
        for lane, numbers in sound.items()
        if known or _are_apart([climbs[number].height for number in numbers])
    }
    masses = {lane: {number: mass(number) for number in numbers} for lane, numbers in apart.items()}
    leading = [number for lane in apart for number in _leading(climbs, masses[lane])]
    if leading:
        # What earlier moves told of the curvature may be what holds it up.
        further = begin({number: climbs[number].end for number in leading}, _FINE)
        ascend(further, evaluate, turns=_FURTHER_TURNS)
        for number, climb in further.items():
            if not climb.is_lost:
                climbs[number] = climb
                masses[number[0]][number] = mass(number)
    return {
        lane: Summits(
            tuple(climbs[number].end for number in numbers),
            tuple(masses.get(lane, {}).get(number, np.nan) for number in numbers),
        )
        for lane, numbers in sound.items()
    }


def free(position: np.ndarray) -> Position:
    """Return a position without whole numbers."""
    numbers: Any = position
    return Position(numbers)


def _leading(climbs: Mapping[_Number, Climb], masses: Mapping[_Number, float]) -> list[_Number]:
    """Return the highest climb of a lane, if it has come far above all tops whose mass is known.

    It is at no top then, and may be on its way to the mode that has the mass. No more than one goes on: in a funnel,
    climbs have no end.
    """
    known = [climbs[number].height for number, mass in masses.items() if np.isfinite(mass)]
    highest = max(masses, key=lambda number: climbs[number].height, default=(0, 0))
    is_far = bool(known) and climbs[highest].height - max(known) > _FAR
    return [highest] if is_far else []


def _level(climbs: Mapping[_Number, Climb]) -> set[_Number]:
    """Return the climbs of lanes whose modes cannot differ much any more."""
    lanes: dict[int, list[Climb]] = {}
    for (lane, _), climb in climbs.items():
        if not climb.is_lost:
            lanes.setdefault(lane, []).append(climb)
    level = {
        lane
        for lane, going in lanes.items()
        if all(each.is_near_end for each in going)
        and max(each.height for each in going) - min(each.height for each in going) < _FAR / 2
    }
    return {(lane, n) for lane, n in climbs if lane in level}


def _are_apart(values: Sequence[float]) -> bool:
    """Return whether one value is far from another, in nats."""
    return bool(values) and max(values) - min(values) > _FAR
