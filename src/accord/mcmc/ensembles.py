"""Drive an ensemble of chains on the host: one metric for all, and blocks that take all chains to one draw."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..adaptation import metric as metrics
from ..adaptation import pooled
from ..adaptation.ensemble import EnsembleState
from ..kernels import ChEES, Metric
from ..kernels.base import PROBE
from .block import ChainState
from .chain import Chain
from .held import on_host


def stops(chains: Sequence[Chain]) -> list[int]:
    """Return the draw at which each chain's next block ends; chains that are ahead wait for the others."""
    live = [chain.draw for chain in chains if not chain.is_given_up]
    low = min(live, default=0)
    ahead = min((draw for draw in live if draw > low), default=2**30)
    return [
        min(chain.stop(), ahead) if chain.draw == low and not chain.is_given_up else 0 for chain in chains
    ]


def begin(chains: Sequence[Chain]) -> None:
    """Give chains with starting points a common metric."""
    points = [on_host(chain.state.kernel).point for chain in chains]
    positions, gradients = (
        np.stack([getattr(point, name) for point in points]) for name in ("position", "gradient")
    )
    typical = np.median(np.abs(gradients), axis=0)
    guess = metrics.initial_metric(typical.astype(gradients.dtype), chains[0].plan.metric_rank)
    log_densities = np.asarray([point.log_density for point in points])
    form = chains[0].plan.kernel.metric
    metric, choice, _ = pooled.learn(positions[:, None], gradients[:, None], log_densities, guess, form)
    for chain in chains:
        chain.metric, chain.choice = metric, choice or chain.choice


def adapt(chains: Sequence[Chain], drawn: Sequence[int]) -> None:
    """Learn the metric again if that is due: at draws fixed by the plan, independent of the blocks.

    `drawn` has the draws that the chains had made before the block. A block may end between two draws. If all chains
    were at this draw before, the metric is learnt already; learning it again after each block would never end.
    """
    plan, draw = chains[0].plan, chains[0].draw
    if all(before == draw for before in drawn):
        return
    for number, update in enumerate(plan.metric_updates(plan.num_warmup)):
        if draw == update.at and all(chain.draw == draw for chain in chains):
            _update(chains, update.start, is_first=number == 0)


def _update(chains: Sequence[Chain], start: int, *, is_first: bool) -> None:
    positions, gradients = (
        np.stack([np.concatenate([block[name] for block in chain.window])[start:] for chain in chains])
        for name in ("position", "gradient")
    )
    log_densities = np.asarray([on_host(chain.state.kernel).point.log_density for chain in chains])
    previous = chains[0].metric
    form = chains[0].plan.kernel.metric
    metric, choice, least = pooled.learn(positions, gradients, log_densities, previous, form)
    is_new = is_first or bool(metric.is_diagonal) != bool(previous.is_diagonal)
    known: Any = chains[0].state.step_size
    step = _restarted(chains[0], least) if is_new else _bounded(known, least)
    mode: Any = np.int32(PROBE) if is_new else chains[0].state.mode
    for chain in chains:
        _tune(chain, metric, step, mode)
        chain.choice = choice or chain.choice


def _tune(chain: Chain, metric: Metric, step: EnsembleState, mode: Any) -> None:
    state = chain.state
    chain.metric = metric
    chain.state = ChainState(state.kernel, step, mode, state.draw, state.num_tuning)


def _restarted(chain: Chain, least: float) -> EnsembleState:
    """Restart the search for step size and trajectory length, after a change of the metric's form."""
    kernel = chain.plan.kernel
    length = kernel.trajectory_length if isinstance(kernel, ChEES) else 1.0
    return EnsembleState.begin(float(chain.state.step_size.step_size), length, least, chain.plan.dtype)


def _bounded(state: EnsembleState, least: float) -> EnsembleState:
    """Set another minimal trajectory length, adjust the length to it, and restart averages of lengths."""
    dtype = np.asarray(state.log_length).dtype
    log_least: Any = np.asarray(np.log(max(least, 1e-10)), dtype)
    zero: Any = np.zeros((), dtype)
    length: Any = np.asarray(state.log_length + (log_least - state.least_log_length), dtype)
    return replace(state, log_length=length, least_log_length=log_least, square=zero, num_lengths=zero)
