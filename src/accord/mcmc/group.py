"""Run the chains of one group from their starting points to their last draw, one task at a time.

A group has as many chains as one compiled program carries. A task is a pure function of its group: it may end anywhere,
run twice or run elsewhere, and the draws are the same.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import numpy as np

from ..core import precision as precisions
from ..core.pace import Pace
from ..runs.complete import check_replicas
from ..runs.fingerprint import Fingerprint, fixed_points
from ..runs.units import AbstractMachine, AbstractUnits, Item, Progress
from . import ensembles
from .chain import Chain
from .columns import columns
from .held import on_host
from .machine import BlockResult, Machine
from .replay import bad_ends
from .start.search import find_starts
from .statistics import HEIGHT
from .stretch import Stretch

_SECONDS_BESIDE = 0.5  # that the host may take for a block: beyond, blocks get longer


@dataclass(frozen=True)
class NotBegun(AbstractUnits):
    """Numbers of chains to start, at most as many as the plan has lanes."""

    chains: tuple[int, ...]
    noun: ClassVar[str] = "chain"

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the chains."""
        return self.chains

    @property
    def is_done(self) -> bool:
        """Return False."""
        return False

    def without(self, number: int) -> "NotBegun":
        """See `AbstractUnits.without`."""
        return NotBegun(tuple(each for each in self.chains if each != number))


@dataclass(frozen=True)
class Group(AbstractUnits):
    """The chains of one program between two tasks.

    **Fields**: `chains`, as many as the plan has lanes, where chains from `num_kept` on repeat others and are
    dropped; `budget`, gradients of the next block; `is_known`, whether the target was compared with the store's.
    """

    chains: tuple[Chain, ...]
    num_kept: int
    budget: int
    is_known: bool = False
    noun: ClassVar[str] = "chain"

    @property
    def kept(self) -> tuple[Chain, ...]:
        """Chains whose draws are kept."""
        return self.chains[: self.num_kept]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the kept chains."""
        return tuple(chain.number for chain in self.kept)

    @property
    def has_rest(self) -> bool:
        """Return whether a kept chain has draws that it has not handed over."""
        return any(chain.blocks for chain in self.kept)

    def done_by(self, numbers: Sequence[int]) -> int:
        """Return the draws of the slowest of these chains, warm-up included."""
        return min((chain.draw for chain in self.kept if chain.number in numbers), default=0)

    def without(self, number: int) -> "Group":
        """Return the group without a chain; idle lanes repeat others."""
        kept = [chain for chain in self.kept if chain.number != number]
        lanes = range(len(self.chains))
        return replace(self, chains=tuple(kept[lane % len(kept)] for lane in lanes), num_kept=len(kept))

    @property
    def is_done(self) -> bool:
        """Return whether all draws are made."""
        return all(chain.is_done for chain in self.kept)


def begin(machine: Machine, numbers: Sequence[int]) -> Group:
    """Make a group of chains without starting points. Idle lanes repeat a chain."""
    plan = machine.plan
    lanes = [numbers[lane % len(numbers)] for lane in range(plan.lanes)]
    return Group(
        tuple(Chain.begin(plan, number, plan.nowhere) for number in lanes),
        len(numbers),
        plan.pace.first_block,
    )


def work(
    machine: Machine, group: Group, seconds: float, is_stopped: Callable[[], bool]
) -> tuple[Group, list[Item]]:
    """Run one block or more, until `seconds` have passed, the group is done, or `is_stopped()`; return the results.

    The given group is not changed.

    **Raises** `StartFailedError` if a chain finds no finite starting point.
    """
    began = now = machine.clock()
    chains = [copy.copy(chain) for chain in group.chains]
    group = replace(group, chains=tuple(chains))
    made: list[tuple[float, Item]] = []
    if not group.is_known:
        target: list[Item] = [] if machine.constants is None else [machine.constants]
        target.append(_fingerprint(machine))
        made += [(now, item) for item in (*(chain.progress() for chain in group.kept), *target)]
        group = replace(group, is_known=True)
    if not all(chain.is_started for chain in chains):
        find_starts(machine, chains)
    while not group.is_done and not is_stopped():
        block_began = machine.clock()
        before, drawn = [chain.num_gradients for chain in chains], [chain.draw for chain in chains]
        is_ensemble = machine.plan.is_ensemble
        stops = ensembles.stops(chains) if is_ensemble else [chain.stop() for chain in chains]
        in_program = run_block(machine, chains, stops, [group.budget] * len(chains)).seconds
        if is_ensemble:
            ensembles.adapt(chains, drawn)
        done = max(chain.num_gradients - count for chain, count in zip(chains, before, strict=True))
        now = machine.clock()
        elapsed = now - block_began
        budget = next_budget(machine.plan.pace, group.budget, done, in_program, elapsed - in_program)
        group = replace(group, budget=budget)
        has_look = False
        for chain in chains:
            chain.unsaved_seconds += elapsed
        for lane, (chain, arrays) in enumerate(zip(chains, _columns(machine, chains, group), strict=True)):
            found = list(chain.end_of_block(arrays))
            has_look = has_look or (chain.is_at_look and any(isinstance(each, Stretch) for each in found))
            made += [(now, item) for item in found if lane < group.num_kept]
        # Handed over at once, since a rule may hold there, and since what a chain met beyond may then be of no account.
        if now - began >= seconds or has_look:
            break
    ended = machine.clock()
    return group, [_aged(item, ended - at) for at, item in made]


def _aged(item: Item, age: float) -> Item:
    return replace(item, age=age) if isinstance(item, Progress) else item


def next_budget(pace: Pace, budget: int, done: int, seconds: float, beside: float) -> int:
    """Return the gradients of the next block, after one of `done` gradients that took `seconds` plus host time.

    The host needs a second for a block of thousands of chains, so the block should be longer.
    """
    aim = pace.block_seconds * max(1.0, beside / _SECONDS_BESIDE)
    wanted = done * aim / max(seconds, 1e-6)
    return int(np.clip(wanted, max(budget // 2, 1), min(budget * pace.growth, 2**30)))


def flush(machine: Machine, group: Group) -> tuple[Group, list[Item]]:
    """Return the draws since the last stretch, before a run ends early."""
    chains = [copy.copy(chain) for chain in group.chains]
    left = [chain for chain in chains[: group.num_kept] if chain.blocks]
    arrays = columns([chain.drawn() for chain in left], machine.sites)
    items: list[Item] = [chain.stretch(each) for chain, each in zip(left, arrays, strict=True)]
    return replace(group, chains=tuple(chains)), items


def run_chains(machine: Machine, numbers: Sequence[int], is_stopped: Callable[[], bool]) -> Iterator[Item]:
    """Run the chains `numbers`, at most as many as the plan has lanes, in this thread; yield the results."""
    group = begin(machine, numbers)
    while not group.is_done and not is_stopped():
        group, items = work(machine, group, 0.0, is_stopped)
        yield from items
    yield from flush(machine, group)[1]


def _fingerprint(machine: Machine) -> Fingerprint:
    """Evaluate the target at fixed points, with the program that draws."""
    plan, points = machine.plan, fixed_points(machine.plan.dim)
    lanes, count = plan.lanes, len(points)
    places = plan.no_places(lanes, plan.num_places)
    for rows, values in zip(jax.tree.leaves(places), (points, plan.whole), strict=False):
        rows[:, :count] = values
    chains = [Chain.begin(plan, 0, jax.tree.map(lambda rows: rows[0, 0], places))] * lanes
    states = [chain.state for chain in chains]
    answer = machine.run(chains, states, [1] * lanes, [count] * lanes, places)
    check_replicas(answer.returned)
    block = answer.blocks[0]
    heights, gradients = block.stats[:count, HEIGHT], on_host(block.gradients)[:count]
    return Fingerprint(np.stack([heights, np.linalg.norm(gradients, axis=1)], axis=1).astype(float))


def _columns(machine: Machine, chains: Sequence[Chain], group: Group) -> list[dict[str, np.ndarray] | None]:
    """Return the columns of the stretches that are due, by lane: none for idle ones, and None where nothing is due."""
    due = {lane for lane, chain in enumerate(chains) if chain.is_stretch_due}
    kept = sorted(lane for lane in due if lane < group.num_kept)
    found = dict(zip(kept, columns([chains[lane].drawn() for lane in kept], machine.sites), strict=True))
    return [found.get(lane, {}) if lane in due else None for lane in range(len(chains))]


def run_block(machine: Machine, chains: list[Chain], stops: list[int], budgets: list[int]) -> BlockResult:
    """Run one block, and add its draws to the chains."""
    answer = machine.run(chains, [chain.state for chain in chains], stops, budgets)
    for lane, (chain, state, block) in enumerate(zip(chains, answer.states, answer.blocks, strict=True)):
        count = chain.num_drawn(state, block)
        chain.take(state, block, count, bad_ends(machine, chains, lane, count, block))
    return answer


@dataclass(frozen=True)
class GroupMachine(AbstractMachine[NotBegun | Group]):
    """A machine as a worker knows it: it carries groups of chains."""

    machine: Machine

    def work(
        self, units: NotBegun | Group, seconds: float, is_stopped: Callable[[], bool]
    ) -> tuple[Group, Sequence[Item]]:
        """See `AbstractMachine.work`."""
        with precisions.scope(self.machine.plan.precision):
            return work(self.machine, self._begun(units), seconds, is_stopped)

    def flush(self, units: NotBegun | Group) -> tuple[Group, Sequence[Item]]:
        """See `AbstractMachine.flush`."""
        with precisions.scope(self.machine.plan.precision):
            return flush(self.machine, self._begun(units))

    def holds(self, units: NotBegun | Group) -> bool:
        """See `AbstractMachine.holds`."""
        return isinstance(units, Group) and self.machine.holds(units.chains[0])

    def _begun(self, units: NotBegun | Group) -> Group:
        return units if isinstance(units, Group) else begin(self.machine, units.numbers)
