"""Call the program that draws, for all lanes at once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core.tree import to_numpy
from .chain import Chain
from .plan import Plan
from .program import NUM_PLACES, Block, ChainState, Limits, item_key, item_keys


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
        places: np.ndarray | None = None,
    ) -> tuple[list[ChainState], list[Block], Any]:
        """Go on from `states` with the keys and metrics of `chains`, one for each lane, to draws `stops` at most.

        `budgets` are gradients; `places`, shape `(lane, place, dim)`, what those evaluate that have not begun. Returns
        states and blocks by lane as NumPy arrays, and what the program returned.
        """
        plan = self.plan
        if places is None:
            places = np.zeros((len(chains), NUM_PLACES, plan.dim), plan.dtype)
        if len(chains) == 1 and not plan.is_ensemble:
            (chain,), (state,) = chains, states
            limits = Limits.at(stops[0], budgets[0], chain.num_warmup, plan.kernel.target_accept, places[0])
            returned = self.advance(state, chain.metric, chain.key, item_key(chain.key, state), limits)
            new_state, block = to_numpy(returned)
            return [new_state], [block], returned
        packed, keys = _pack(states), np.stack([chain.key for chain in chains])
        # Chains that move in step have one metric.
        metric = chains[0].metric if plan.is_ensemble else _pack([chain.metric for chain in chains])
        limits = _limits(chains, stops, budgets, places)
        returned = self.advance(packed, metric, keys, item_keys(keys, packed), limits)
        new_states, block = to_numpy(returned)
        if plan.is_ensemble:
            num_rows = int(np.max(new_states.draw - packed.draw)) or min(max(budgets), NUM_PLACES)
            block = _by_lane(block, num_rows)
        return _unpack(new_states, len(chains)), _unpack(block, len(chains)), returned


def _limits(
    chains: Sequence[Chain], stops: Sequence[int], budgets: Sequence[int], places: np.ndarray
) -> Limits:
    """Those of several lanes; arrays at once, since objects for each of a thousand lanes take long to make."""
    plan = chains[0].plan
    warmups = [chain.num_warmup for chain in chains]
    targets: Any = np.full(len(chains), plan.kernel.target_accept, plan.dtype)
    stop, budget, num_warmup = (np.asarray(each, np.int32) for each in (stops, budgets, warmups))
    fields: tuple[Any, Any, Any, Any, Any] = stop, budget, num_warmup, targets, places
    return Limits(*fields)


def _by_lane(block: Block, num_rows: int) -> Block:
    """The first rows of a block that begins with rows, beginning with lanes."""

    def first(rows: Any) -> Any:
        return np.ascontiguousarray(np.swapaxes(rows[:num_rows], 0, 1))

    return Block(first(block.positions), first(block.gradients), first(block.stats), block.num_gradients)


def _pack(trees: Sequence[Any]) -> Any:
    """Stack the trees of several lanes."""
    leaves, structure = zip(*(jax.tree.flatten(tree) for tree in trees), strict=True)
    return jax.tree.unflatten(structure[0], [np.stack(column) for column in zip(*leaves, strict=True)])


def _unpack(tree: Any, lanes: int) -> list[Any]:
    """The trees of several lanes that were stacked."""
    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, [leaf[lane] for leaf in leaves]) for lane in range(lanes)]
