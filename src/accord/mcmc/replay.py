"""Find the positions of failed trajectories, by repeating those draws.

The sampling program keeps no such positions, because carrying them through its loop would slow every chain. A draw is a
function of the draw before it, so the few needed ones are repeated at the cost of one trajectory each.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels.base import STEP_SIZE
from ..kernels.point import Point
from .block import DRAW, Block, ChainState, start_state
from .chain import Chain
from .endings import BadEnd
from .held import on_host
from .machine import Machine
from .statistics import HEIGHT, index_of

_MOST_CHAINS = 16
_NO_LIMIT = 2**30  # gradients; a trajectory has a limit of its own


def bad_ends(machine: Machine, chains: Sequence[Chain], lane: int, count: int, block: Block) -> list[BadEnd]:
    """Return the failures to keep among the `count` draws of a block, before the chain of that lane takes it."""
    chain, plan = chains[lane], machine.plan
    # All lanes run for the sake of one: with very many, the first chains speak for the others.
    if len(chains) > _MOST_CHAINS and chain.number >= _MOST_CHAINS:
        return []

    def go(state: ChainState, stop: int, budget: int) -> Any:
        states, stops = [each.state for each in chains], [0] * len(chains)  # the others stand still
        states[lane], stops[lane] = state, stop
        after = machine.run(chains, states, stops, [budget] * len(chains)).states
        return on_host(after[lane].kernel)

    found = []
    for row, kind in chain.tally.wanted(chain.phase_of(chain.draw), np.asarray(block.stats[:count])):
        draw = chain.draw + row
        position = np.asarray(go(_before(chain, block, row), draw + 1, _NO_LIMIT).last_evaluated)
        there = go(start_state(plan.kernel, position), 1, 1).point
        phase = chain.phase_of(draw)
        number = draw - (0 if phase == "warmup" else chain.num_warmup)
        found.append(BadEnd(chain.number, phase, number, kind, position, float(there.log_density)))
    return found


def _before(chain: Chain, block: Block, row: int) -> ChainState:
    """Return the state before a draw of a block that the chain has not taken yet."""
    plan, state = chain.plan, chain.state
    if row == 0:
        return state
    stats, as_int = block.stats[row - 1], np.int32
    point = Point(block.positions[row - 1], stats[HEIGHT], on_host(block.gradients)[row - 1])
    # A kernel between two draws: that of `state` may be in the middle of one, since blocks end anywhere.
    kernel = plan.kernel.init(point)
    known, number = state.learnt, np.asarray(state.draw) + row
    column = index_of(plan.kernel.stats, STEP_SIZE.name)
    if column is not None:
        adaptation = plan.adaptation
        given, step_size = adaptation.given(chain.fitted), block.stats[row, column]
        known = adaptation.as_of(known, given, step_size, number, chain.num_warmup)
    return replace(state, kernel=kernel, learnt=known, mode=as_int(DRAW), draw=as_int(number))
