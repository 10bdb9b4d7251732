"""Call the sampling program for all lanes at once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..core.tree import to_numpy
from .block import NUM_PLACES, Block, ChainState, Limits, item_key, item_keys
from .chain import Chain
from .constants import Constants
from .plan import Plan


@dataclass(frozen=True)
class Answer:
    """Result of the program: `states` and `blocks` by lane, in NumPy arrays; `returned`, unchanged; `seconds`."""

    states: list[ChainState]
    blocks: list[Block]
    returned: Any
    seconds: float


@dataclass(frozen=True)
class Machine:
    """A plan with its compiled programs.

    **Fields**: `plan`; `advance(chain, metric, key, item_key, limits)` and
    `sites(positions, log_densities, num_sites, num_parts)`, compiled; `clock`, in seconds: one for all processes that
    run these programs together, so that they call them equally often; `constants`, the numbers in the programs, if they
    are compared with those of a stored run.
    """

    plan: Plan
    advance: Callable[..., Any]
    sites: Callable[..., dict[str, Any]]
    clock: Callable[[], float] = time.perf_counter
    constants: Constants | None = None

    def run(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
        places: np.ndarray | None = None,
    ) -> Answer:
        """Continue from `states` with the keys and metrics of `chains`, one per lane, at most to draws `stops`.

        `budgets` are gradients; `places`, shape `(lane, place, dim)`, are candidates for chains without a starting
        point: see `Limits`.
        """
        arguments = self._arguments(chains, states, stops, budgets, places)
        began = self.clock()
        returned = self.advance(*arguments)
        new_states, block = to_numpy(returned)
        seconds = self.clock() - began
        if not self._has_lanes(chains):
            return Answer([new_states], [block], returned, seconds)
        if self.plan.is_ensemble:
            num_rows = int(np.max(new_states.draw - np.stack([state.draw for state in states])))
            block = _by_lane(block, num_rows or min(max(budgets), NUM_PLACES))
        lanes = len(chains)
        return Answer(_unpack(new_states, lanes), _unpack(block, lanes), returned, seconds)

    def look(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
        places: np.ndarray,
    ) -> list[Block]:
        """Evaluate the positions of `states` and then `places`, shape `(lane, place, dim)`; return blocks by lane.

        It does not fetch the resulting states, which saves half of the time.
        """
        block = to_numpy(self.advance(*self._arguments(chains, states, stops, budgets, places))[1])
        if not self._has_lanes(chains):
            return [block]
        if self.plan.is_ensemble:
            block = _by_lane(block, min(max(budgets), NUM_PLACES))
        return _unpack(block, len(chains))

    def _has_lanes(self, chains: Sequence[Chain]) -> bool:
        """Return whether arguments and results of the program have an axis of lanes."""
        return len(chains) > 1 or self.plan.is_ensemble

    def _arguments(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
        places: np.ndarray | None,
    ) -> tuple[Any, ...]:
        """Assemble the arguments of the program."""
        plan = self.plan
        if places is None:
            places = np.zeros((len(chains), NUM_PLACES, plan.dim), plan.dtype)
        if not self._has_lanes(chains):
            (chain,), (state,) = chains, states
            limits = Limits.at(stops[0], budgets[0], chain.num_warmup, chain.target_accept, places[0])
            return state, chain.metric, chain.key, item_key(chain.key, state), limits
        packed, keys = _pack(states), np.stack([chain.key for chain in chains])
        # Chains that move in step have one metric.
        metric = chains[0].metric if plan.is_ensemble else _pack([chain.metric for chain in chains])
        return packed, metric, keys, item_keys(keys, packed), _limits(chains, stops, budgets, places)


def _limits(
    chains: Sequence[Chain], stops: Sequence[int], budgets: Sequence[int], places: np.ndarray
) -> Limits:
    """Assemble limits of several lanes as arrays, since objects for each of a thousand lanes are slow."""
    plan = chains[0].plan
    warmups = [chain.num_warmup for chain in chains]
    targets: Any = np.asarray([chain.target_accept for chain in chains], plan.dtype)
    stop, budget, num_warmup = (np.asarray(each, np.int32) for each in (stops, budgets, warmups))
    fields: tuple[Any, Any, Any, Any, Any] = stop, budget, num_warmup, targets, places
    return Limits(*fields)


def _by_lane(block: Block, num_rows: int) -> Block:
    """Move the lane axis of a block to the front, and keep its first rows."""

    def first(rows: Any) -> Any:
        return np.ascontiguousarray(np.swapaxes(rows[:num_rows], 0, 1))

    return Block(first(block.positions), first(block.gradients), first(block.stats), block.num_gradients)


def _pack(trees: Sequence[Any]) -> Any:
    """Stack the trees of several lanes."""
    leaves, structure = zip(*(jax.tree.flatten(tree) for tree in trees), strict=True)
    return jax.tree.unflatten(structure[0], [np.stack(column) for column in zip(*leaves, strict=True)])


def _unpack(tree: Any, lanes: int) -> list[Any]:
    """Split stacked trees into the trees of the lanes."""
    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, [leaf[lane] for leaf in leaves]) for lane in range(lanes)]
