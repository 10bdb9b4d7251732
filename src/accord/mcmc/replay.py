"""Find the positions of failed trajectories, by repeating those draws.

The sampling program keeps no such positions, because carrying them through its loop would slow every chain. A draw is a
function of the draw before it, so the few needed ones are repeated at the cost of one trajectory each.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np

from ..core.tree import to_numpy
from ..kernels.point import Point
from .block import DRAW, Block, ChainState, start_state
from .chain import Chain
from .endings import BadEnd
from .held import on_host
from .machine import Machine
from .statistics import HEIGHT, declared_of

_MOST_CHAINS = 16
_NO_LIMIT = 2**30  # gradients; a trajectory has a limit of its own


def bad_ends(machine: Machine, chains: Sequence[Chain], lane: int, count: int, block: Block) -> list[BadEnd]:
    """Return the failures to keep among the `count` draws of a block, before the chain of that lane takes it."""
    chain, plan = chains[lane], machine.plan
    # All lanes run for the sake of one: with very many, the first chains speak for the others.
    if len(chains) > _MOST_CHAINS and chain.number >= _MOST_CHAINS:
        return []

    def go(state: ChainState, stop: int, budget: int) -> ChainState:
        states, stops = [each.state for each in chains], [0] * len(chains)  # the others stand still
        states[lane], stops[lane] = state, stop
        return machine.run(chains, states, stops, [budget] * len(chains)).states[lane]

    found = []
    for row, kind in chain.tally.wanted(chain.phase_of(chain.draw), np.asarray(block.stats[:count])):
        draw = chain.draw + row
        before = _before(chain, block, row)
        if before is None:
            if plan.is_ensemble:  # what its chains learn depends on all of them
                continue
            before = go(chain.state, draw, _NO_LIMIT)
        position = to_numpy(on_host(go(before, draw + 1, _NO_LIMIT).kernel).last_evaluated)
        there = on_host(go(start_state(plan.kernel, position), 1, 1).kernel).point
        phase = chain.phase_of(draw)
        number = draw - (0 if phase == "warmup" else chain.num_warmup)
        height = float(there.log_density)
        found.append(BadEnd(chain.number, phase, number, kind, position.free, height, position.whole))
    return found


def _before(chain: Chain, block: Block, row: int) -> ChainState | None:
    """Return the state before a draw of a block that the chain has not taken yet; None if it cannot be told."""
    plan, state = chain.plan, chain.state
    if row == 0:
        return state
    if plan.kernel.has_memory:
        return None
    stats, as_int = block.stats[row - 1], np.int32
    position = jax.tree.map(lambda rows: rows[row - 1], block.positions)
    point = Point(position, stats[HEIGHT], on_host(block.gradients)[row - 1])
    # A kernel between two draws: that of `state` may be in the middle of one, since blocks end anywhere.
    kernel = plan.kernel.init(point)
    number, given = np.asarray(state.draw) + row, plan.adaptation.given(chain.fitted)
    columns = declared_of(np.asarray(block.stats[row : row + 1]), plan.kernel.stats)
    of_draw = {name: column[0] for name, column in columns.items()}
    known = plan.adaptation.as_of(state.learnt, given, of_draw, number, chain.num_warmup)
    if known is None:
        return None
    return replace(state, kernel=kernel, learnt=known, mode=as_int(DRAW), draw=as_int(number))
