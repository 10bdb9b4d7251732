"""Drive an ensemble of chains on the host: one metric for all, and blocks that take all chains to one draw."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..adaptation.base import AbstractPopulationAdaptation, Window
from ..adaptation.schedule import Update
from .block import PROBE, ChainState
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
    """Give chains with starting points what is learnt from all of these."""
    points = [on_host(chain.state.kernel).point for chain in chains]
    positions = np.stack([point.position.free for point in points])
    gradients = np.stack([point.gradient for point in points])
    log_densities = np.asarray([point.log_density for point in points])
    fitted = _pooled(chains).at_starts(positions, gradients, log_densities)
    for chain in chains:
        chain.fitted = fitted


def adapt(chains: Sequence[Chain], drawn: Sequence[int]) -> None:
    """Learn again if that is due: at draws fixed by the plan, independent of the blocks.

    `drawn` has the draws that the chains had made before the block. A block may end between two draws. If all chains
    were at this draw before, all is learnt already; learning again after each block would never end.
    """
    plan, draw = chains[0].plan, chains[0].draw
    if all(before == draw for before in drawn):
        return
    for update in plan.adaptation.due(plan.num_warmup):
        if draw == update.at and all(chain.draw == draw for chain in chains):
            _learn(chains, update)


def _learn(chains: Sequence[Chain], update: Update) -> None:
    positions, gradients = (
        np.stack(
            [np.concatenate([block[name] for block in chain.window])[update.start :] for chain in chains]
        )
        for name in ("position", "gradient")
    )
    log_densities = np.asarray([on_host(chain.state.kernel).point.log_density for chain in chains])
    window, first = Window(positions, gradients, log_densities, {}), chains[0]
    learnt, fitted, is_anew = _pooled(chains).learn(window, first.state.learnt, first.fitted, update)
    mode: Any = np.int32(PROBE) if is_anew else first.state.mode
    for chain in chains:
        state = chain.state
        chain.fitted = fitted
        chain.state = ChainState(state.kernel, learnt, mode, state.draw, state.num_tuning)


def _pooled(chains: Sequence[Chain]) -> AbstractPopulationAdaptation:
    adaptation = chains[0].plan.adaptation
    assert isinstance(adaptation, AbstractPopulationAdaptation)
    return adaptation
