"""Take the chains of one group from their starting points to their last draw, a task at a time.

A group is as many chains as one compiled program carries. A task is a pure function of the group it is given: it may be
cut anywhere, run twice or run elsewhere, and the draws are the same.
"""

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..adaptation import metric as metrics
from . import ensembles
from .chain import Chain
from .complete import check_replicas
from .fingerprint import Fingerprint, fixed_points
from .machine import Machine
from .plan import Piece, Progress, Stuck
from .program import ChainState, start_state
from .replay import bad_ends
from .tally import BadEnd

Item = Fingerprint | Progress | Piece | BadEnd | Stuck
"""What comes back from a task."""

_BLOCK_SECONDS = 0.5  # a block returns about this often, for progress and interruption
_FIRST_BLOCK = 64  # gradients; before anything is known of their cost
_GROWTH = 8  # at most, from one block to the next
_NUM_STARTS = 10  # finite starting points are chosen from


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


@dataclass(frozen=True)
class Group:
    """The chains of one program between two tasks.

    **Fields**: `chains`, as many as the plan has lanes, of which those from `num_kept` on repeat others and are
    dropped; `budget`, gradients of the next block; `is_known`, whether the target was compared with the store's.
    """

    chains: tuple[Chain, ...]
    num_kept: int
    budget: int = _FIRST_BLOCK
    is_known: bool = False

    @property
    def kept(self) -> tuple[Chain, ...]:
        """Chains whose draws are wanted."""
        return self.chains[: self.num_kept]

    @property
    def numbers(self) -> list[int]:
        """Their numbers."""
        return [chain.number for chain in self.kept]

    def without(self, number: int) -> "Group":
        """The other chains that are wanted, of which idle lanes repeat some."""
        kept = [chain for chain in self.kept if chain.number != number]
        lanes = range(len(self.chains))
        return replace(self, chains=tuple(kept[lane % len(kept)] for lane in lanes), num_kept=len(kept))

    @property
    def is_done(self) -> bool:
        """Whether every draw is made."""
        return all(chain.is_done for chain in self.kept)


def begin(machine: Machine, numbers: Sequence[int]) -> Group:
    """A group of chains that are to look for their starting points. Idle lanes repeat a chain."""
    plan = machine.plan
    nowhere = np.zeros(plan.dim, plan.dtype)
    lanes = [numbers[lane % len(numbers)] for lane in range(plan.lanes)]
    return Group(tuple(Chain.begin(plan, number, nowhere) for number in lanes), len(numbers))


def work(
    machine: Machine, group: Group, seconds: float, is_stopped: Callable[[], bool]
) -> tuple[Group, list[Item]]:
    """Go on for at least one block, until `seconds` are over, the group is done, or `is_stopped()`; what was completed.

    The group given is left as it was.

    **Raises** `StartFailedError` when a chain finds no finite starting point.
    """
    began = machine.clock()
    chains = [copy.copy(chain) for chain in group.chains]
    group = replace(group, chains=tuple(chains))
    items: list[Item] = []
    if not group.is_known:
        items += [_fingerprint(machine), *(chain.progress() for chain in group.kept)]
        group = replace(group, is_known=True)
    if not all(chain.is_started for chain in chains):
        _find_starts(machine, chains)
    while not group.is_done and not is_stopped():
        block_began = machine.clock()
        before = [chain.num_gradients for chain in chains]
        is_ensemble = machine.plan.is_ensemble
        stops = ensembles.stops(chains) if is_ensemble else [chain.stop() for chain in chains]
        _run_block(machine, chains, stops, [group.budget] * len(chains))
        if is_ensemble:
            ensembles.adapt(chains)
        done = max(chain.num_gradients - count for chain, count in zip(chains, before, strict=True))
        elapsed = machine.clock() - block_began
        wanted = done * _BLOCK_SECONDS / max(elapsed, 1e-6)
        budget = int(np.clip(wanted, max(group.budget // 2, 1), min(group.budget * _GROWTH, 2**30)))
        group = replace(group, budget=budget)
        has_look = False
        for lane, chain in enumerate(chains):
            chain.unsaved_seconds += elapsed
            found = list(chain.end_of_block(machine.sites))
            has_look = has_look or (chain.is_at_look and any(isinstance(each, Piece) for each in found))
            items += found if lane < group.num_kept else []
        # Handed over at once, since a rule may hold there, and since what a chain met beyond may then be of no account.
        if machine.clock() - began >= seconds or has_look:
            break
    return group, items


def flush(machine: Machine, group: Group) -> tuple[Group, list[Item]]:
    """Hand over what has been drawn since the last piece, before a run ends early."""
    chains = [copy.copy(chain) for chain in group.chains]
    items: list[Item] = [chain.piece(machine.sites) for chain in chains[: group.num_kept] if chain.blocks]
    return replace(group, chains=tuple(chains)), items


def run_chains(machine: Machine, numbers: Sequence[int], is_stopped: Callable[[], bool]) -> Iterator[Item]:
    """Run the chains `numbers`, as many as the plan has lanes or fewer, here and now; yield what is completed."""
    group = begin(machine, numbers)
    while not group.is_done and not is_stopped():
        group, items = work(machine, group, 0.0, is_stopped)
        yield from items
    yield from flush(machine, group)[1]


def _find_starts(machine: Machine, chains: list[Chain]) -> None:
    """Evaluate starting points with the program that draws, and give each chain the best of its first finite ones.

    A single random point may have a density so low (1e-60 of the mode's is common in time series) that warm-up ends
    before the chain has found its way in. The best of ten is still dispersed, and costs ten gradients.
    """
    plan, points = machine.plan, machine.plan.start
    best: dict[int, ChainState] = {}
    new = [lane for lane, chain in enumerate(chains) if not chain.is_started]
    begun = start_state(plan.kernel, np.zeros(plan.dim, plan.dtype))
    for attempt in itertools.count():
        searching = [
            lane
            for lane in new
            if attempt < points.num_tries(chains[lane].number)
            and (attempt < _NUM_STARTS or not _is_usable(best[lane]))
        ]
        if not searching:
            break
        for lane in searching:
            position = points.position(plan.seed, chains[lane].number, attempt, plan.dim)
            chains[lane].state = begun.moved_to(plan.kernel, position.astype(plan.dtype))
        # One that has what it looked for, or has begun, stands still: it is where it is to stop.
        stops = [1 if lane in searching else 0 for lane in range(len(chains))]
        _run_block(machine, chains, stops, [1] * len(chains))
        for lane in searching:
            state = chains[lane].state
            if lane not in best or _use(state) > _use(best[lane]):
                best[lane] = state
    for lane in new:
        chain = chains[lane]
        if not _is_usable(best[lane]):
            position = np.asarray(best[lane].kernel.point.position)
            raise StartFailedError(chain.number, position, points.num_tries(chain.number), points.origin)
        chain.state, chain.is_started = best[lane], True
        gradient = np.asarray(chain.state.kernel.point.gradient)
        chain.metric = metrics.initial_metric(gradient, plan.metric_rank)
    if plan.is_ensemble:
        ensembles.begin(chains)


def _fingerprint(machine: Machine) -> Fingerprint:
    """Evaluate the target at fixed points, with the program that draws."""
    plan, values = machine.plan, []
    for position in fixed_points(plan.dim).astype(plan.dtype):
        one = Chain.begin(plan, 0, position)
        chains = [copy.copy(one) for _ in range(plan.lanes)]
        check_replicas(_run_block(machine, chains, [1] * plan.lanes, [1] * plan.lanes))
        point = chains[0].state.kernel.point
        values.append([float(point.log_density), float(np.linalg.norm(point.gradient))])
    return Fingerprint(np.asarray(values))


def _use(state: ChainState) -> tuple[int, float]:
    """Of how much use a place is as a start: no trajectory leaves one where a derivative is not finite."""
    point = state.kernel.point
    log_density = float(point.log_density)
    if not np.isfinite(log_density):
        return int(log_density == -np.inf), 0.0
    return 2 + int(np.all(np.isfinite(point.gradient))), log_density


def _is_usable(state: ChainState) -> bool:
    return _use(state)[0] == 3


def _run_block(machine: Machine, chains: list[Chain], stops: list[int], budgets: list[int]) -> Any:
    """Run one block; returns what the program returned."""
    states, blocks, returned = machine.run(chains, [chain.state for chain in chains], stops, budgets)
    for lane, (chain, state, block) in enumerate(zip(chains, states, blocks, strict=True)):
        count = chain.num_drawn(state, block)
        chain.take(state, block, count, bad_ends(machine, chains, lane, count, block))
    return returned
