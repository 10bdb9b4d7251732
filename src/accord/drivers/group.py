"""Take the chains of one group from their starting points to their last draw, a task at a time.

A group is as many chains as one compiled program carries. A task is a pure function of the group it is given: it may be
cut anywhere, run twice or run elsewhere, and the draws are the same.
"""

import copy
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..adaptation import fisher
from ..core import keys
from ..core.tree import to_numpy
from .chain import Chain
from .complete import check_replicas
from .fingerprint import Fingerprint, fixed_points
from .plan import Piece, Plan, Progress
from .program import ChainState, Limits, item_key, start_state

Start = Callable[[np.random.Generator, int], np.ndarray]
"""A starting point, shape `(dim,)`, for try number `int`."""

Item = Fingerprint | Progress | Piece
"""What comes back from a task."""

_BLOCK_SECONDS = 0.5  # a block returns about this often, for progress and interruption
_FIRST_BLOCK = 64  # gradients; before anything is known of their cost
_GROWTH = 8  # at most, from one block to the next
_MAX_STARTS = 100
_NUM_STARTS = 10  # finite starting points are chosen from


class StartFailedError(Exception):
    """No starting point was finite; `position` is the last one tried, for the caller to explain."""

    def __init__(self, chain: int, position: np.ndarray):
        super().__init__(f"chain {chain}: no finite starting point in {_MAX_STARTS} tries")
        self.chain, self.position, self.num_tries = chain, position, _MAX_STARTS

    is_final = True  # to try again would change nothing

    def __reduce__(self) -> tuple[Any, ...]:
        return StartFailedError, (self.chain, self.position)


@dataclass(frozen=True)
class Machine:
    """A plan with the programs that carry it out.

    **Fields**: `plan`; `advance(chain, metric, key, item_key, limits)` and `sites(positions, count)`, compiled;
    `start`, which chooses starting points; `clock`, in seconds: one for all processes that run these programs together,
    so that they call them equally often.
    """

    plan: Plan
    advance: Callable[..., Any]
    sites: Callable[..., dict[str, Any]]
    start: Start
    clock: Callable[[], float] = time.perf_counter


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
        _run_block(machine, chains, [chain.stop() for chain in chains], [group.budget] * len(chains))
        done = max(chain.num_gradients - count for chain, count in zip(chains, before, strict=True))
        elapsed = machine.clock() - block_began
        wanted = done * _BLOCK_SECONDS / max(elapsed, 1e-6)
        budget = int(np.clip(wanted, max(group.budget // 2, 1), min(group.budget * _GROWTH, 2**30)))
        group = replace(group, budget=budget)
        for lane, chain in enumerate(chains):
            chain.unsaved_seconds += elapsed
            found = list(chain.end_of_block(machine.sites))
            items += found if lane < group.num_kept else []
        if machine.clock() - began >= seconds:
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


def _start(machine: Machine, number: int, attempt: int) -> np.ndarray:
    generator = keys.generator(keys.chain_key(machine.plan.seed, number), keys.USE_START, attempt)
    return machine.start(generator, attempt).astype(machine.plan.dtype)


def _find_starts(machine: Machine, chains: list[Chain]) -> None:
    """Evaluate starting points with the program that draws, and give each chain the best of its first finite ones.

    A single random point may have a density so low (1e-60 of the mode's is common in time series) that warm-up ends
    before the chain has found its way in. The best of ten is still dispersed, and costs ten gradients.
    """
    best: dict[int, ChainState] = {}
    new = [lane for lane, chain in enumerate(chains) if not chain.is_started]
    # One that has begun stands still: it is where it is to stop.
    stops = [0 if chain.is_started else machine.plan.last + 1 for chain in chains]
    for attempt in range(_MAX_STARTS):
        if attempt >= _NUM_STARTS and len(best) == len(new):
            break
        for lane in new:
            position = _start(machine, chains[lane].number, attempt)
            chains[lane].state = start_state(machine.plan.kernel, position)
        _run_block(machine, chains, stops, [1] * len(chains))
        for lane in new:
            found = _log_density(chains[lane].state)
            is_better = lane not in best or found > _log_density(best[lane])
            if np.isfinite(found) and is_better and (attempt < _NUM_STARTS or lane not in best):
                best[lane] = chains[lane].state
    for lane in new:
        chain = chains[lane]
        if lane not in best:
            raise StartFailedError(chain.number, np.asarray(chain.state.kernel.point.position))
        chain.state, chain.is_started = best[lane], True
        chain.metric = fisher.initial_metric(np.asarray(chain.state.kernel.point.gradient))


def _fingerprint(machine: Machine) -> Fingerprint:
    """Evaluate the target at fixed points, with the program that draws."""
    plan, values = machine.plan, []
    for position in fixed_points(plan.dim).astype(plan.dtype):
        chains = [Chain.begin(plan, 0, position) for _ in range(plan.lanes)]
        check_replicas(_run_block(machine, chains, [plan.last + 1] * plan.lanes, [1] * plan.lanes))
        point = chains[0].state.kernel.point
        values.append([float(point.log_density), float(np.linalg.norm(point.gradient))])
    return Fingerprint(np.asarray(values))


def _log_density(state: ChainState) -> float:
    """That of where the chain stands; -inf where a derivative is not finite: no trajectory leaves such a point."""
    point = state.kernel.point
    return float(point.log_density) if np.all(np.isfinite(point.gradient)) else -np.inf


def _run_block(machine: Machine, chains: list[Chain], stops: list[int], budgets: list[int]) -> Any:
    """Run one block; returns what the program returned."""
    plan = machine.plan
    limits = [
        Limits.at(stop, budget, plan.num_warmup, plan.kernel.target_accept, plan.dtype)
        for stop, budget in zip(stops, budgets, strict=True)
    ]
    arguments = [
        (chain.state, chain.metric, chain.key, item_key(chain.key, chain.state), limit)
        for chain, limit in zip(chains, limits, strict=True)
    ]
    returned = machine.advance(*_pack(arguments))
    new_state, block = to_numpy(returned)
    states, blocks = _unpack(new_state, len(chains)), _unpack(block, len(chains))
    for chain, state, result in zip(chains, states, blocks, strict=True):
        chain.take(state, result)
    return returned


def _pack(trees: list[Any]) -> Any:
    """Stack the trees of several lanes; one lane has no lane axis."""
    if len(trees) == 1:
        return trees[0]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def _unpack(tree: Any, lanes: int) -> list[Any]:
    if lanes == 1:
        return [tree]
    return [jax.tree.map(operator.itemgetter(lane), tree) for lane in range(lanes)]
