"""Drive a kernel through the compiled program of a run, from states and with limits that a test chooses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from accord.adaptation.base import Item
from accord.adaptation.each_block import BlocksLearnt, BlocksTuning, EachBlock
from accord.adaptation.metric import Metric
from accord.adaptation.tuning import GivenMetric, Tuning
from accord.adaptation.walkers import WalkersState
from accord.adaptation.widths import WidthState
from accord.core import keys
from accord.core.position import Position
from accord.core.tree import to_numpy
from accord.kernels import AbstractKernel
from accord.mcmc.block import ATTEMPTS, DRAW, ChainState, Limits, item_key, start_state
from accord.mcmc.population_program import program_for
from accord.mcmc.statistics import columns_of

Evaluate = Callable[[jax.Array], tuple[jax.Array, jax.Array]]
"""Log density and gradient at an unconstrained position, shape `(dim,)`."""


@dataclass(frozen=True)
class Program:
    """The program of a run, jitted: `(data, chain, given, key, item_key, limits) -> (chain, block)`."""

    run: Callable[..., Any]
    kernel: AbstractKernel
    data: Any = ()

    def __call__(self, *arguments: Any) -> Any:
        return self.run(self.data, *arguments)


def compile_program(kernel: AbstractKernel, evaluate: Evaluate, dim: int, lanes: int = 1) -> Program:
    """The program of a run with this target."""
    return compile_family(kernel, lambda position, data: evaluate(position), dim, lanes)


def compile_family(
    kernel: AbstractKernel, evaluate: Callable[[jax.Array, Any], Any], dim: int, lanes: int = 1
) -> Program:
    """The same for targets that differ in their data alone: `replace(program, data=...)` has others."""
    run = program_for(kernel, dim, np.dtype(float), lanes, 256, kernel.is_plain)
    return Program(jax.jit(lambda data, *rest: run(lambda at: evaluate(at.free, data), *rest)), kernel)


def standing_at(
    kernel: AbstractKernel, evaluate: Evaluate, position: np.ndarray, step_size: float
) -> ChainState:
    """A chain about to make draw 0 from `position`, already evaluated, with a step size, or widths, that are fixed."""
    log_density, gradient = to_numpy(evaluate(position))
    chain = start_state(kernel, Position(position))
    learnt = _with_step(chain.learnt, step_size)
    chain = replace(chain, learnt=learnt, mode=np.int32(DRAW))  # pyright: ignore[reportArgumentType]
    return eqx.tree_at(
        lambda c: (c.kernel.point.log_density, c.kernel.point.gradient), chain, (log_density, gradient)
    )


def _with_step(learnt: Any, step_size: float) -> Any:
    if isinstance(learnt, BlocksLearnt):
        return replace(learnt, blocks=tuple(_with_step(each, step_size) for each in learnt.blocks))
    if isinstance(learnt, WidthState):
        return replace(learnt, width=np.full_like(learnt.width, step_size))
    return replace(learnt, step_size=np.asarray(step_size)) if hasattr(learnt, "step_size") else learnt


def run_draws(
    program: Program,
    chain: ChainState,
    metric: Metric,
    key: np.ndarray,
    stop: int,
    budget: int = 2**30,
) -> tuple[ChainState, dict[str, np.ndarray]]:
    """Run one chain to draw `stop` in blocks of at most `budget` gradients."""
    (chain,), (result,) = run_lanes(program, [chain], metric, [key], stop, budget)
    return chain, result


def run_lanes(
    program: Program,
    chains: Sequence[ChainState],
    metric: Metric,
    chain_keys: Sequence[np.ndarray],
    stop: int,
    budget: int = 2**30,
    longer: int = 0,
) -> tuple[list[ChainState], list[dict[str, np.ndarray]]]:
    """Run chains side by side to draw `stop`: for each its end, and arrays of positions, gradients and statistics.

    `longer`: doublings of every trajectory, whether it turns back or not; 0 if they end where they do.
    """
    chains, lanes = list(chains), len(chains)
    places = Position(np.zeros((ATTEMPTS, len(chains[0].kernel.point.position.free))))
    limits = Limits.at(stop, budget, 0, places)
    kept: list[list[dict[str, np.ndarray]]] = [[] for _ in chains]
    while any(int(chain.draw) < stop for chain in chains):
        trees = [
            (chain, given_of(program.kernel, metric, longer), key, item_key(key, chain), limits)
            for chain, key in zip(chains, chain_keys, strict=True)
        ]
        is_ensemble = program.kernel.is_ensemble
        is_wide = lanes > 1 or is_ensemble
        packed = jax.tree.map(lambda *leaves: np.stack(leaves), *trees) if is_wide else trees[0]
        if is_ensemble:  # all have learnt the same, and a row of a block is one of all chains
            packed = (packed[0], trees[0][1], *packed[2:])
        new, block = to_numpy(program(*packed))
        if is_ensemble:
            positions, gradients, stats = (
                np.swapaxes(each, 0, 1) for each in (block.positions.free, block.gradients, block.stats)
            )
            block = replace(block, positions=Position(positions), gradients=gradients, stats=stats)
        for lane in range(lanes):
            end, rows = (jax.tree.map(lambda a, i=lane: a[i], t) if is_wide else t for t in (new, block))
            count = int(end.draw) - int(chains[lane].draw)
            kept[lane].append({"position": rows.positions.free[:count], "gradient": rows.gradients[:count]})
            kept[lane][-1] |= columns_of(rows.stats[:count], program.kernel.stats)
            chains[lane] = end
    return chains, [{k: np.concatenate([b[k] for b in blocks]) for k in blocks[0]} for blocks in kept]


def given_of(kernel: AbstractKernel, metric: Metric, longer: int = 0) -> Any:
    """What a program takes of what was learnt: this metric, steps for the usual acceptance; or what else there is."""
    return _given_of(kernel.adaptation, metric, longer)


def _given_of(adaptation: Any, metric: Metric, longer: int = 0) -> Any:
    if isinstance(adaptation, EachBlock):
        return tuple(
            _given_of(each.adaptation, _like(metric, each.dim), longer) for each in adaptation.blocks
        )
    given = adaptation.given(adaptation.at_start(np.zeros(len(metric.scale))))
    if not isinstance(given, GivenMetric):
        return given
    target_accept = np.asarray(0.8, np.asarray(metric.scale).dtype)
    return GivenMetric(metric, target_accept, longer=np.int32(longer), keeps_longer=np.bool_(longer > 0))


def tuning_of(kernel: AbstractKernel, metric: Metric, step_size: Any, is_probe: Any = False) -> Any:
    """The tuning of a kernel, or of each of its blocks: without a step size, what it has before the first draw."""
    return _tuning_of(kernel.adaptation, metric, step_size, is_probe)


def _tuning_of(adaptation: Any, metric: Metric, step_size: Any, is_probe: Any) -> Any:
    if isinstance(adaptation, EachBlock):
        blocks = (
            _tuning_of(each.adaptation, _like(metric, each.dim), step_size, is_probe)
            for each in adaptation.blocks
        )
        return BlocksTuning(tuple(blocks), jnp.asarray(is_probe), jnp.int32(0))
    learnt = adaptation.begin(len(metric.scale), np.dtype(float))
    if isinstance(learnt, WidthState):
        return learnt.width
    if learnt == () or isinstance(learnt, WalkersState):
        item = Item(np.bool_(True), np.bool_(False), np.int32(0), np.int32(0))
        return adaptation.tuning(learnt, _given_of(adaptation, metric), item)
    return Tuning(jnp.asarray(step_size), metric, is_probe=is_probe)


def _like(metric: Metric, dim: int) -> Metric:
    return diagonal_metric(dim, dim) if np.all(np.asarray(metric.is_diagonal)) else dense_metric(dim)


def transform_of(metric: Metric) -> np.ndarray:
    """The matrix of a metric's map from whitened to unconstrained space."""
    scale = np.asarray(metric.scale)
    if metric.is_diagonal:
        return np.diag(scale)
    factor = np.asarray(metric.factor)
    return scale[:, None] * (np.eye(len(scale)) + (factor * metric.stretch) @ factor.T)


def dense_metric(dim: int, seed: int = 0) -> Metric:
    """A metric that rotates and stretches, unlike any posterior here; full rank."""
    generator = np.random.default_rng(seed)
    factor = np.linalg.qr(generator.standard_normal((dim, dim)))[0]
    return Metric(
        np.exp(generator.uniform(-0.5, 0.5, dim)), factor, generator.uniform(-0.4, 0.6, dim), np.bool_(False)
    )


def low_rank_metric(dim: int, rank: int, seed: int = 0) -> Metric:
    """A metric that shrinks some directions; the last of them is not used, as where fewer were found."""
    generator = np.random.default_rng(seed)
    factor = np.linalg.qr(generator.standard_normal((dim, rank)))[0]
    stretch = generator.uniform(-0.4, 0.1, rank)
    factor[:, -1], stretch[-1] = 0, 0
    return Metric(np.exp(generator.uniform(-0.1, 0.1, dim)), factor, stretch, np.bool_(False))


def diagonal_metric(dim: int, rank: int = 0) -> Metric:
    """The identity."""
    return Metric.diagonal(np.ones(dim), rank)


def draw_key(seed: int, chain: int, draw: int) -> np.ndarray:
    """The key of one draw, as `mcmc.block.item_key` derives it."""
    return keys.item(keys.chain_key(seed, chain), keys.USE_DRAW, draw)
