"""Take a group of chains from their starting points through warm-up to their last draw, block by block.

This is the one loop. It runs compiled blocks, learns metrics between them at fixed draws, and yields what was done; it
knows neither who runs it nor where the draws go.
"""

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..adaptation import fisher
from ..adaptation.schedule import MetricUpdate, metric_updates
from ..adaptation.step_size import StepSizeState
from ..core import keys
from ..core.tree import to_numpy
from ..kernels.base import PROBE, AbstractKernel
from ..kernels.metric import Metric
from ..storage import Phase
from .program import STAT_DTYPES, STATS, ChainState, Limits, item_key, start_state

Start = Callable[[np.random.Generator, int], np.ndarray]
"""A starting point, shape `(dim,)`, for try number `int`."""

_BLOCK_SECONDS = 0.5  # a block returns about this often, for progress and interruption
_FIRST_BLOCK = 2000  # gradients; before anything is known of their cost
_MAX_STARTS = 100
_NUM_STARTS = 10  # finite starting points are chosen from


class StartFailedError(Exception):
    """No starting point was finite; `position` is the last one tried, for the caller to explain."""

    def __init__(self, chain: int, position: np.ndarray):
        super().__init__(f"chain {chain}: no finite starting point in {_MAX_STARTS} tries")
        self.chain, self.position, self.num_tries = chain, position, _MAX_STARTS


@dataclass(frozen=True)
class Plan:
    """What every chain of a run is to do.

    **Fields**: `kernel`; `num_warmup` and `num_draws`, counts before thinning; `seed`; `lanes`; `segment`, the count of
    draws after which a segment ends; `thinning`, for those who keep the draws; `dtype`; `start`; and the two compiled
    programs, `advance(chain, metric, key, item_key, limits)` and `sites(positions, count)`.
    """

    kernel: AbstractKernel
    num_warmup: int
    num_draws: int
    seed: int
    lanes: int
    segment: int
    thinning: int
    dtype: np.dtype
    start: Start
    advance: Callable[..., Any]
    sites: Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Progress:
    """What a chain has done so far: draws of the current phase, gradients since it began, divergences after warm-up."""

    chain: int
    phase: Phase
    num_draws: int
    num_divergent: int
    num_gradients: int
    step_size: float


@dataclass(frozen=True)
class Piece:
    """Consecutive draws of one phase of one chain, before thinning, and the state after them; NumPy arrays."""

    chain: int
    phase: Phase
    start: int
    stop: int
    arrays: dict[str, np.ndarray]
    end_state: ChainState
    metric: Metric
    num_gradients: int


@dataclass(eq=False)
class _Chain:
    """One chain on the host, between two blocks."""

    number: int
    plan: Plan
    updates: tuple[MetricUpdate, ...]
    key: np.ndarray
    state: ChainState
    metric: Metric
    num_applied: int = 0  # of the metric updates
    num_gradients: int = 0
    num_divergent: int = 0
    piece_start: int = 0
    gradients_at_piece: int = 0
    window: list[dict[str, np.ndarray]] = field(default_factory=list)  # blocks of warm-up, for the metric
    blocks: list[dict[str, np.ndarray]] = field(default_factory=list)  # blocks of the piece in progress

    @property
    def draw(self) -> int:
        return int(self.state.draw)

    @property
    def phase(self) -> Phase:
        """That of the piece in progress."""
        return "warmup" if self.piece_start < self.plan.num_warmup else "sample"

    @property
    def phase_start(self) -> int:
        return 0 if self.phase == "warmup" else self.plan.num_warmup

    @property
    def last(self) -> int:
        return self.plan.num_warmup + self.plan.num_draws

    @property
    def is_warmup(self) -> bool:
        return self.draw < self.plan.num_warmup

    def stop(self) -> int:
        """The draw at which the next block must end at the latest."""
        warmup, segment = self.plan.num_warmup, self.plan.segment
        if self.is_warmup:
            ends = [warmup, (self.draw // segment + 1) * segment]
            if self.num_applied < len(self.updates):
                ends.append(self.updates[self.num_applied].at)
            return min(ends)
        return min(self.last, warmup + ((self.draw - warmup) // segment + 1) * segment)


def run_chains(
    plan: Plan, numbers: Sequence[int], is_stopped: Callable[[], bool]
) -> Iterator[Progress | Piece]:
    """Run the chains `numbers`, as many as the plan has lanes or fewer, and yield what is done as it is done.

    When `is_stopped()` turns true, what has been drawn is yielded and the iterator ends; whatever was yielded before is
    what it would have been.

    **Raises** `StartFailedError` when a chain finds no finite starting point.
    """
    updates = metric_updates(plan.num_warmup)
    chains = [_begin(plan, number, updates) for number in numbers]
    for number in range(plan.lanes - len(chains)):  # idle lanes repeat a chain; nothing of them is kept
        chains.append(_begin(plan, numbers[number % len(numbers)], updates))
    kept = chains[: len(numbers)]
    for chain in kept:
        yield _progress(chain)
    _find_starts(plan, chains)
    budget = _FIRST_BLOCK
    while any(chain.draw < chain.last for chain in kept) and not is_stopped():
        began = time.perf_counter()
        before = [chain.num_gradients for chain in chains]
        _run_block(plan, chains, [chain.stop() for chain in chains], [budget] * len(chains))
        seconds = time.perf_counter() - began
        done = max(chain.num_gradients - count for chain, count in zip(chains, before, strict=True))
        wanted = done * _BLOCK_SECONDS / max(seconds, 1e-6)
        budget = int(np.clip(wanted, max(budget // 2, 1), min(budget * 2, 2**30)))
        for chain in kept:
            yield from _end_of_block(chain)
        for chain in chains[len(numbers) :]:
            list(_end_of_block(chain))
    for chain in kept:
        if chain.blocks:
            yield _piece(chain)


def _begin(plan: Plan, number: int, updates: tuple[MetricUpdate, ...]) -> _Chain:
    key = keys.chain_key(plan.seed, number)
    position = plan.start(keys.generator(key, keys.USE_START, 0), 0).astype(plan.dtype)
    metric = fisher.initial_metric(np.zeros_like(position))
    return _Chain(number, plan, updates, key, start_state(plan.kernel, position), metric)


def _find_starts(plan: Plan, chains: list[_Chain]) -> None:
    """Evaluate starting points with the program that draws, and give each chain the best of its first finite ones.

    A single random point may have a density so low (1e-60 of the mode's is common in time series) that warm-up ends
    before the chain has found its way in. The best of ten is still dispersed, and costs ten gradients.
    """
    best: dict[int, ChainState] = {}
    for attempt in range(_MAX_STARTS):
        if attempt >= _NUM_STARTS and len(best) == len(chains):
            break
        if attempt:
            for chain in chains:
                generator = keys.generator(chain.key, keys.USE_START, attempt)
                chain.state = start_state(plan.kernel, plan.start(generator, attempt).astype(plan.dtype))
        _run_block(plan, chains, [chain.last + 1 for chain in chains], [1] * len(chains))
        for lane, chain in enumerate(chains):
            is_better = lane not in best or _log_density(chain.state) > _log_density(best[lane])
            if (
                np.isfinite(_log_density(chain.state))
                and is_better
                and (attempt < _NUM_STARTS or lane not in best)
            ):
                best[lane] = chain.state
    for lane, chain in enumerate(chains):
        if lane not in best:
            raise StartFailedError(chain.number, np.asarray(chain.state.kernel.point.position))
        chain.state = best[lane]
        chain.metric = fisher.initial_metric(np.asarray(chain.state.kernel.point.gradient))


def _log_density(state: ChainState) -> float:
    """That of where the chain stands; -inf where a derivative is not finite: no trajectory leaves such a point."""
    point = state.kernel.point
    return float(point.log_density) if np.all(np.isfinite(point.gradient)) else -np.inf


def _run_block(plan: Plan, chains: list[_Chain], stops: list[int], budgets: list[int]) -> None:
    target = plan.kernel.target_accept
    limits = [
        Limits.at(stop, budget, plan.num_warmup, target, plan.dtype)
        for stop, budget in zip(stops, budgets, strict=True)
    ]
    arguments = [
        (chain.state, chain.metric, chain.key, item_key(chain.key, chain.state), limit)
        for chain, limit in zip(chains, limits, strict=True)
    ]
    new_state, block = to_numpy(plan.advance(*_pack(arguments)))
    firsts = [chain.draw for chain in chains]
    for chain, state, result, first in zip(
        chains, _unpack(new_state, len(chains)), _unpack(block, len(chains)), firsts, strict=True
    ):
        chain.state = state
        chain.num_gradients += int(result.num_gradients)
        count = chain.draw - first
        if count:
            rows = {
                "position": result.positions[:count],
                "gradient": result.gradients[:count],
                "stats": result.stats[:count],
            }
            chain.blocks.append(rows)
            if first < plan.num_warmup:
                chain.window.append(rows)
            else:  # those of warm-up are its way of finding the step size
                chain.num_divergent += int(rows["stats"][:, STATS.index("diverging")].sum())


def _pack(trees: list[Any]) -> Any:
    """Stack the trees of several lanes; one lane has no lane axis."""
    if len(trees) == 1:
        return trees[0]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def _unpack(tree: Any, lanes: int) -> list[Any]:
    if lanes == 1:
        return [tree]
    return [jax.tree.map(operator.itemgetter(lane), tree) for lane in range(lanes)]


def _end_of_block(chain: _Chain) -> Iterator[Progress | Piece]:
    """Adapt where a metric update is due, and yield what the block has completed."""
    plan, draw = chain.plan, chain.draw
    if chain.num_applied < len(chain.updates) and draw == chain.updates[chain.num_applied].at:
        _update_metric(chain, chain.updates[chain.num_applied])
        chain.num_applied += 1
    yield _progress(chain)
    is_boundary = (draw - chain.phase_start) % plan.segment == 0 or draw in (plan.num_warmup, chain.last)
    if is_boundary and chain.blocks:
        yield _piece(chain)


def _progress(chain: _Chain) -> Progress:
    step_size = float(chain.state.step_size.step_size)
    done = chain.draw - chain.phase_start
    return Progress(chain.number, chain.phase, done, chain.num_divergent, chain.num_gradients, step_size)


def _update_metric(chain: _Chain, update: MetricUpdate) -> None:
    positions, gradients = (
        np.concatenate([block[name] for block in chain.window])[update.start :]
        for name in ("position", "gradient")
    )
    previous = chain.metric
    chain.metric = fisher.learn_metric(positions, gradients, previous)
    if chain.num_applied == 0 or bool(chain.metric.is_diagonal) != bool(previous.is_diagonal):
        # Only these changes move the right step size by much. Restarting at every update was tried: each restart tries
        # large steps first, and effective draws per gradient fell by a quarter over eight reference posteriors.
        step = StepSizeState.start(float(chain.state.step_size.step_size), chain.plan.dtype)
        chain.state = eqx.tree_at(lambda s: (s.step_size, s.mode), chain.state, (step, np.int32(PROBE)))


def _piece(chain: _Chain) -> Piece:
    """Gather the blocks since the last piece, with their sites once warm-up is over."""
    plan, blocks = chain.plan, chain.blocks
    phase, offset = chain.phase, chain.phase_start
    positions, stats = (np.concatenate([block[name] for block in blocks]) for name in ("position", "stats"))
    arrays = {"position": positions}
    arrays |= {
        f"stat/{name}": stats[:, i].astype(dtype) for i, (name, dtype) in enumerate(STAT_DTYPES.items())
    }
    if phase == "warmup":
        arrays["gradient"] = np.concatenate([block["gradient"] for block in blocks])
    else:
        padded = np.zeros((plan.segment, positions.shape[1]), plan.dtype)
        padded[: len(positions)] = positions
        sites = plan.sites(padded, np.int32(len(positions)))
        arrays |= {f"site/{name}": np.asarray(value)[: len(positions)] for name, value in sites.items()}
    piece = Piece(
        chain.number,
        phase,
        chain.piece_start - offset,
        chain.draw - offset,
        arrays,
        chain.state,
        chain.metric,
        chain.num_gradients - chain.gradients_at_piece,
    )
    chain.piece_start, chain.gradients_at_piece, chain.blocks = chain.draw, chain.num_gradients, []
    if chain.draw >= plan.num_warmup:
        chain.window = []
    return piece
