"""Call the program that draws, for all lanes at once."""

import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core.tree import to_numpy
from .chain import Chain
from .plan import Plan
from .program import Block, ChainState, Limits, item_key


@dataclass(frozen=True)
class Machine:
    """A plan with the programs that carry it out.

    **Fields**: `plan`; `advance(chain, metric, key, item_key, limits)` and `sites(positions, count)`, compiled;
    `clock`, in seconds: one for all processes that run these programs together,
    so that they call them equally often.
    """

    plan: Plan
    advance: Callable[..., Any]
    sites: Callable[..., dict[str, Any]]
    clock: Callable[[], float] = time.perf_counter

    def run(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
    ) -> tuple[list[ChainState], list[Block], Any]:
        """Go on from `states` with the keys and metrics of `chains`, one for each lane, to draws `stops` at most.

        `budgets` are gradients. Returns states and blocks by lane as NumPy arrays, and what the program returned.
        """
        plan = self.plan
        arguments = [
            (
                state,
                chain.metric,
                chain.key,
                item_key(chain.key, state),
                Limits.at(stop, budget, plan.num_warmup, plan.kernel.target_accept, plan.dtype),
            )
            for chain, state, stop, budget in zip(chains, states, stops, budgets, strict=True)
        ]
        returned = self.advance(*_pack(arguments))
        new_states, blocks = to_numpy(returned)
        return _unpack(new_states, len(chains)), _unpack(blocks, len(chains)), returned


def _pack(trees: list[Any]) -> Any:
    """Stack the trees of several lanes; one lane has no lane axis."""
    if len(trees) == 1:
        return trees[0]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def _unpack(tree: Any, lanes: int) -> list[Any]:
    if lanes == 1:
        return [tree]
    return [jax.tree.map(operator.itemgetter(lane), tree) for lane in range(lanes)]
