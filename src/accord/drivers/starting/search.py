"""Find where each chain begins: evaluate its places with the program that draws, and take one that is of use.

A single random point may have a density so low (1e-60 of the mode's is common in time series) that warm-up ends before
the chain has found its way in; the best of ten is still dispersed, and costs ten gradients. It may also lie below a
mode that has next to no mass, which the chain would reach and not leave. So the best places are climbed from, and where
that leads to tops of which one has far more mass than another, the chain begins there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...adaptation import metric as metrics
from .. import ensembles
from ..chain import Chain
from ..machine import Machine
from ..program import NUM_PLACES, STATS, start_state
from .ascent import Place, around, ascend, log_mass

_Number = tuple[int, int]  # of a climb: its lane, and which it is there

_NUM_CLIMBS = 6  # of which all would have to miss what four in ten miss
_FAR = 10.0  # nats; a mode with a mass of 5e-5 is no part of what is drawn
_MAX_DIM = 64  # beyond, the curvature at a top takes too many gradients


class StartFailedError(Exception):
    """No starting point of a chain was finite, for the caller to explain.

    **Fields**: `chain`; `position`, shape `(dim,)`: the one that was nearest to be of use, with a finite log density
    before -inf before NaN; `num_tries`; `origin`, where they came from; `what` would have begun there.
    """

    def __init__(self, chain: int, position: np.ndarray, num_tries: int, origin: str, what: str = "chain"):
        found = f"no starting point with a finite log density and gradient in {num_tries} tries, {origin}"
        if num_tries == 1:
            found = (
                f"the log density or its gradient is not finite at its only starting point, {origin}; give others, or "
                "leave sites out to have them drawn"
            )
        super().__init__(f"{what} {chain}: {found}")
        self.chain, self.position, self.num_tries, self.origin = chain, position, num_tries, origin
        self.what = what

    is_final = True  # to try again would change nothing

    def __reduce__(self) -> tuple[Any, ...]:
        return StartFailedError, (self.chain, self.position, self.num_tries, self.origin, self.what)


def find_starts(machine: Machine, chains: Sequence[Chain]) -> None:
    """Have every chain that has not begun stand at its start, evaluated.

    A function of each chain alone: others that search beside it, in other lanes, change nothing.

    **Raises** `StartFailedError` when a chain finds none.
    """
    plan, points = machine.plan, machine.plan.start
    tried: dict[int, list[Place]] = {lane: [] for lane, chain in enumerate(chains) if not chain.is_started}
    tries = {lane: points.num_tries(chains[lane].number) for lane in tried}
    first = 0
    while searching := [lane for lane in tried if first < tries[lane] and not _best(tried[lane])]:
        places = {
            lane: [
                points.position(plan.seed, chains[lane].number, attempt, plan.dim).astype(plan.dtype)
                for attempt in range(first, min(first + NUM_PLACES, tries[lane]))
            ]
            for lane in searching
        }
        for lane, found in _evaluate(machine, chains, places).items():
            tried[lane] += found
        first += NUM_PLACES
    best = {lane: _best(places) for lane, places in tried.items()}
    for lane, places in tried.items():
        if not best[lane]:
            nearest = max(places, key=lambda place: place.use)
            raise StartFailedError(chains[lane].number, nearest.position, tries[lane], points.origin)
    if plan.is_ensemble:  # its chains are many, and what they learn is that of all
        starts = {lane: places[0].position for lane, places in best.items()}
    else:
        starts = _heaviest(machine, chains, best)
    _evaluate(machine, chains, {lane: [position] for lane, position in starts.items()})
    for lane in starts:
        chain = chains[lane]
        chain.is_started = True
        chain.metric = metrics.initial_metric(np.asarray(chain.state.kernel.point.gradient), plan.metric_rank)
    if plan.is_ensemble:
        ensembles.begin(chains)


def _best(places: Sequence[Place]) -> list[Place]:
    """The best places from which a chain could begin, best first."""
    usable = [place for place in places if place.is_usable]
    return sorted(usable, key=lambda place: -place.height)[:_NUM_CLIMBS]


def _heaviest(
    machine: Machine, chains: Sequence[Chain], best: Mapping[int, list[Place]]
) -> dict[int, np.ndarray]:
    """Where each chain begins: at the best of its places, or where tops differ much, on that with the most mass."""

    def evaluate(positions: Mapping[_Number, np.ndarray]) -> dict[_Number, Place]:
        wanted: dict[int, list[np.ndarray]] = {}
        for (lane, _), position in positions.items():
            wanted.setdefault(lane, []).append(position)
        found = {lane: iter(places) for lane, places in _evaluate(machine, chains, wanted).items()}
        return {number: next(found[number[0]]) for number in positions}

    starts = {lane: places[0].position for lane, places in best.items()}
    several = {lane: places for lane, places in best.items() if len(places) > 1}
    if machine.plan.dim > _MAX_DIM or not several:
        return starts
    climbs = ascend({(lane, n): place for lane in several for n, place in enumerate(several[lane])}, evaluate)
    for lane, places in several.items():
        tops = [climbs[lane, n].end for n in range(len(places)) if not climbs[lane, n].is_lost]
        if not _are_apart([top.height for top in tops]):
            continue
        beside = [_evaluate(machine, chains, {lane: around(top.position)})[lane] for top in tops]
        masses = [log_mass(top, places) for top, places in zip(tops, beside, strict=True)]
        if _are_apart(masses):
            # From below, a chain need not end where a climb does: it begins on the top.
            starts[lane] = tops[int(np.nanargmax(masses))].position
    return starts


def _are_apart(logs: Sequence[float]) -> bool:
    """Whether one of them is far from another; those that are not known are left out."""
    known = [each for each in logs if np.isfinite(each)]
    return bool(known) and max(known) - min(known) > _FAR


def _evaluate(
    machine: Machine, chains: Sequence[Chain], wanted: Mapping[int, Sequence[np.ndarray]]
) -> dict[int, list[Place]]:
    """What is at some positions for each of some lanes; a chain ends at the last of its own."""
    found: dict[int, list[Place]] = {lane: [] for lane in wanted}
    for first in range(0, max(len(positions) for positions in wanted.values()), NUM_PLACES):
        part = {n: each[first : first + NUM_PLACES] for n, each in wanted.items() if len(each) > first}
        for lane, places in _evaluate_few(machine, chains, part).items():
            found[lane] += places
    return found


def _evaluate_few(
    machine: Machine, chains: Sequence[Chain], wanted: Mapping[int, Sequence[np.ndarray]]
) -> dict[int, list[Place]]:
    """The same for at most `NUM_PLACES` positions each, by one call."""
    plan = machine.plan
    begun = start_state(plan.kernel, np.zeros(plan.dim, plan.dtype))
    # Chains that move in step evaluate equally many.
    most = max(len(positions) for positions in wanted.values())
    # One that has what it looked for, or has begun, stands still: it is where it is to stop.
    stops, budgets = [0] * len(chains), [1] * len(chains)
    tables = np.zeros((len(chains), NUM_PLACES, plan.dim), plan.dtype)
    for lane, positions in wanted.items():
        count = most if plan.is_ensemble else len(positions)
        stops[lane], budgets[lane] = 1, count
        tables[lane, :count] = np.stack([*positions, *[positions[-1]] * (count - len(positions))])
        chains[lane].state = begun.moved_to(plan.kernel, positions[0])
    states, blocks, _ = machine.run(chains, [chain.state for chain in chains], stops, budgets, tables)
    found = {}
    for lane, positions in wanted.items():
        block = blocks[lane]
        chains[lane].take(states[lane], block, 0, ())
        heights, gradients = np.array(block.stats[:, STATS.index("lp")]), np.array(block.gradients)
        found[lane] = [Place(p, float(heights[row]), gradients[row]) for row, p in enumerate(positions)]
    return found
