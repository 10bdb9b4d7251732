"""Find the starting point of each chain: evaluate its candidates by the sampling program, and choose one.

A single random point may have a density so low (1e-60 of the mode's is common in time series) that warm-up ends before
the chain has found its way in; the best of ten is still dispersed, and costs ten gradients. It may also lie below a
mode that has next to no mass, which the chain would reach and not leave. So all ten are climbed from, and where that
leads to tops of which one has far more mass than another, the chain begins there. It begins on a top as well where its
best candidate is far below and the gradient there is not that of the log density, as where a solver's rounding is all
that the data are compared with: no step from there would be accepted. Not so a chain of which a user has given values:
a climb would move them, and who gives them may mean the lighter mode.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...runs.units import UnitFailedError
from .. import ensembles
from ..block import ATTEMPTS, MAX_CLIMB_DIM
from ..chain import Chain
from ..held import on_host
from ..machine import Machine
from .ascent import RISE, Place, is_true_slope, uphill
from .evaluate import Evaluator
from .summits import find_summits, free

_DEEP = 1000.0  # nats below its tops, where a candidate's gradient is looked at
_SURE = 0.4  # share of the climbs, from which on the mode that they led to is taken for the heaviest
_FURTHER_TURNS = 2  # of ten candidates each


class StartFailedError(UnitFailedError):
    """Error of a chain without a finite starting point, for the caller to explain.

    **Fields**: `number` of the chain; `position`, the most promising one: a finite log density is better than -inf, and
    that than NaN; `num_tries`; `origin`, where they came from; `what` would have begun there.
    """

    def __init__(self, chain: int, position: Any, num_tries: int, origin: str, what: str = "chain"):
        found = f"no starting point with a finite log density and gradient in {num_tries} tries, {origin}"
        if num_tries == 1:
            found = (
                f"the log density or its gradient is not finite at its only starting point, {origin}; give others, or "
                "leave sites out to have them drawn"
            )
        super().__init__(f"{what} {chain}: {found}")
        self.number, self.position, self.num_tries, self.origin = chain, position, num_tries, origin
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return StartFailedError, (self.number, self.position, self.num_tries, self.origin, self.what)


def find_starts(machine: Machine, chains: Sequence[Chain]) -> None:
    """Place every chain without a starting point at its start, evaluated.

    The result depends on each chain alone, and not on chains in other lanes.

    **Raises** `StartFailedError` if a chain finds none.
    """
    plan, points = machine.plan, machine.plan.start
    evaluator = Evaluator.of(machine, chains)
    tried: dict[int, list[Place]] = {lane: [] for lane, chain in enumerate(chains) if not chain.is_started}
    tries = {lane: points.num_tries(chains[lane].number) for lane in tried}

    def look_further(lanes: Sequence[int]) -> dict[int, list[Place]]:
        """Evaluate the next candidates of lanes, where they have some left."""
        places = {
            lane: [
                points.at(plan.seed, chains[lane].number, attempt, plan.nowhere)
                for attempt in range(len(tried[lane]), min(len(tried[lane]) + ATTEMPTS, tries[lane]))
            ]
            for lane in lanes
            if len(tried[lane]) < tries[lane]
        }
        found = evaluator.look(places) if places else {}
        for lane, some in found.items():
            tried[lane] += some
        return found

    while look_further([lane for lane in tried if not _best(tried[lane])]):
        pass
    best = {lane: _best(places) for lane, places in tried.items()}
    for lane, places in tried.items():
        if not best[lane]:
            nearest = max(places, key=lambda place: place.use)
            raise StartFailedError(chains[lane].number, nearest.at, tries[lane], points.origin)
    starts = {lane: places[0].at for lane, places in best.items()}
    # The chains of an ensemble are many, and what they learn is that of all. Between whole numbers there is no climb.
    if not plan.is_ensemble and not plan.num_whole:
        drawn = {lane: places for lane, places in best.items() if not points.is_given(chains[lane].number)}
        starts |= {lane: free(at) for lane, at in _chosen(evaluator, plan.dim, drawn, look_further).items()}
    evaluator.stand(starts)
    for lane in starts:
        chain = chains[lane]
        chain.is_started = True
        chain.fitted = plan.adaptation.at_start(np.asarray(on_host(chain.state.kernel).point.gradient))
    if plan.is_ensemble:
        ensembles.begin(chains)


def _best(places: Sequence[Place]) -> list[Place]:
    """Return the usable candidates of a chain, best first.

    Climbs start at all of them. Three in four climbs of a hidden Markov model end on a mode without mass: all of six
    would do so in a fifth of its chains, all of ten in a sixteenth.
    """
    usable = [place for place in places if place.is_usable]
    return sorted(usable, key=lambda place: -place.height)


def _chosen(
    evaluator: Evaluator,
    dim: int,
    best: Mapping[int, list[Place]],
    look_further: Callable[[Sequence[int]], Mapping[int, list[Place]]],
) -> dict[int, np.ndarray]:
    """Choose each chain's start: its best candidate, the mode with most mass if modes differ much, or the highest one.

    The last if the candidate is far below, with a gradient that misleads. Where few climbs have led to the mode with
    most mass, there may be one with more: the chain climbs from the candidates of `look_further` as well.
    """
    starts = {lane: places[0].position for lane, places in best.items()}
    several = {lane: places for lane, places in best.items() if len(places) > 1}
    if dim > MAX_CLIMB_DIM or not several:
        return starts
    found = find_summits(evaluator, several)
    for _ in range(_FURTHER_TURNS):
        unsure = [lane for lane, each in found.items() if each.share < _SURE]
        places = {lane: usable for lane, each in look_further(unsure).items() if (usable := _best(each))}
        more = find_summits(evaluator, places, found) if places else {}
        found |= {lane: found[lane].beside(each) for lane, each in more.items()}
    for lane, each in found.items():
        start = several[lane][0]
        if each.heaviest:
            # From below, a chain need not end where a climb does: it begins on the top.
            starts[lane] = each.heaviest.position
        elif each.highest and not _is_sound(evaluator, lane, start, each.highest.height - start.height):
            starts[lane] = each.highest.position
    return starts


def _is_sound(evaluator: Evaluator, lane: int, place: Place, depth: float) -> bool:
    """Return whether the gradient at a place, `depth` nats below a top, is that of the log density.

    It is looked at from `_DEEP` on, and in double precision: single precision cannot tell.

    At the starting points of all posteriors of posteriordb that are so deep, the log density rises by 0.9997 to 1.0000
    of what the gradient promises; where the solver of `sir` rounds the rates of a Poisson, by 0.97.
    """
    if depth < _DEEP or place.position.dtype != np.float64:
        return True
    rise = RISE * depth
    (beyond,) = evaluator.look({lane: [free(uphill(place, rise))]})[lane]
    return is_true_slope(place, beyond, rise)
