"""Find where trajectories ended badly, by drawing those draws once more.

The program that draws keeps no places: to carry them through its loop would cost every chain, and a draw is a function
of the draw before it, so that the few that matter can be had again at the price of a trajectory each.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import numpy as np

from ..kernels.base import DRAW, Point
from .chain import Chain
from .machine import Machine
from .program import STATS, Block, ChainState, start_state
from .tally import BadEnd

_NO_LIMIT = 2**30  # gradients; a trajectory has a limit of its own


def bad_ends(machine: Machine, chains: Sequence[Chain], lane: int, count: int, block: Block) -> list[BadEnd]:
    """The places to keep among the `count` draws of a block, before the chain of that lane has taken them in."""
    chain, plan = chains[lane], machine.plan

    def go(state: ChainState, stop: int, budget: int) -> Any:
        states, stops = [each.state for each in chains], [0] * len(chains)  # the others stand still
        states[lane], stops[lane] = state, stop
        after, _, _ = machine.run(chains, states, stops, [budget] * len(chains))
        return after[lane].kernel

    found = []
    for row, kind in chain.tally.wanted(chain.phase_of(chain.draw), np.asarray(block.stats[:count])):
        draw = chain.draw + row
        position = np.asarray(go(_before(chain.state, block, row), draw + 1, _NO_LIMIT).last_evaluated)
        there = go(start_state(plan.kernel, position), plan.last + 1, 1).point
        phase = chain.phase_of(draw)
        number = draw - (0 if phase == "warmup" else plan.num_warmup)
        found.append(BadEnd(chain.number, phase, number, kind, position, float(there.log_density)))
    return found


def _before(state: ChainState, block: Block, row: int) -> ChainState:
    """The state from which a draw of a block was made; `state` is that from which the first was."""
    if row == 0:
        return state
    stats = block.stats[row - 1]
    point = Point(block.positions[row - 1], stats[STATS.index("lp")], block.gradients[row - 1])
    as_int: Any = np.int32
    return eqx.tree_at(
        lambda s: (s.kernel.point, s.kernel.is_fresh, s.step_size.step_size, s.mode, s.draw),
        state,
        (
            point,
            np.asarray(True),
            block.stats[row, STATS.index("step_size")],
            as_int(DRAW),
            as_int(state.draw + row),
        ),
    )
