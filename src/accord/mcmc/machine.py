"""Call the sampling program for all lanes at once."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from ..core.position import Position
from ..core.tree import to_numpy
from ..runs.constants import Constants
from .block import Block, ChainState, Limits, item_key, item_keys
from .chain import Chain
from .columns import Sites
from .held import Lane, Returned, Sent, on_host
from .plan import Plan


@dataclass(frozen=True)
class BlockResult:
    """Result of the program: `states` and `blocks` by lane; `returned`, unchanged; `seconds`.

    States of kernels and gradients stay on the device, as a `Lane`; the rest are NumPy arrays, fetched together.
    """

    states: list[ChainState]
    blocks: list[Block]
    returned: Any
    seconds: float


@dataclass(frozen=True)
class Machine:
    """A plan with its compiled programs.

    **Fields**: `plan`; `advance(chain, given, key, item_key, limits)` and `sites`, compiled; `clock`, in seconds: one
    for all processes that run these programs together, so that they call them equally often; `constants`, the numbers
    in the programs, if they are compared with those of a stored run; `put`, which puts a tree on the program's devices.
    """

    plan: Plan
    advance: Callable[..., Any]
    sites: Sites
    clock: Callable[[], float] = time.perf_counter
    constants: Constants | None = None
    put: Callable[[Any], Any] = jax.device_put

    def run(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
        places: Position | None = None,
    ) -> BlockResult:
        """Continue from `states` with what `chains` have learnt and their keys, one per lane, at most to draws `stops`.

        `budgets` are gradients; `places`, with axes `(lane, place)`, are candidates for chains without a starting
        point: see `Limits`.
        """
        sent = self._sent(chains)
        arguments = self._arguments(chains, states, stops, budgets, places, sent)
        began = self.clock()
        returned = self.advance(*arguments)
        new, block = returned
        lanes, axis = self._axes(chains)
        kernel, gradients = (Returned(tree, self.advance, sent) for tree in (new.kernel, block.gradients))
        small = new.learnt, new.mode, new.draw, new.num_tuning
        small, rows = to_numpy((small, (block.positions, block.stats, block.num_gradients)))
        seconds = self.clock() - began
        if axis is None:
            state = ChainState(Lane(kernel, axis=None), *small)
            positions, stats, count = rows
            return BlockResult(
                [state], [Block(positions, Lane(gradients, axis=None), stats, count)], returned, seconds
            )
        if self.plan.is_ensemble:
            num_rows = int(np.max(small[2] - np.stack([state.draw for state in states])))
            rows = _by_lane(rows, num_rows or min(max(budgets), self.plan.num_places))
        new_states = [
            ChainState(Lane(kernel, lane), *each) for lane, each in enumerate(_unpack(small, lanes))
        ]
        blocks = [
            Block(positions, Lane(gradients, lane, axis), stats, count)
            for lane, (positions, stats, count) in enumerate(_unpack(rows, lanes))
        ]
        return BlockResult(new_states, blocks, returned, seconds)

    def holds(self, chain: Chain) -> bool:
        """Return whether the state of a chain is on the device of this machine."""
        return self._is_here(chain.state.kernel)

    def _is_here(self, kernel: Any) -> bool:
        return isinstance(kernel, Lane) and kernel.returned.program is self.advance

    def _axes(self, chains: Sequence[Chain]) -> tuple[int, int | None]:
        """Return the number of lanes and their axis in the rows of a block; None for no axis."""
        if self.plan.is_ensemble:
            return len(chains), 1
        return len(chains), 0 if len(chains) > 1 else None

    def _sent(self, chains: Sequence[Chain]) -> Sent:
        """Return what was learnt, and keys: those of the block before, on the device from their second block on.

        To put them there takes longer than to hand them over once, and in warm-up many change after each block.
        """
        # Chains that move in step have learnt the same.
        fitted = tuple(chain.fitted for chain in (chains[:1] if self.plan.is_ensemble else chains))
        keys = tuple(chain.key for chain in chains)
        if self.holds(chains[0]) and (known := chains[0].state.kernel.returned.sent).is_of(fitted, keys):
            return known.put(self.put)
        adaptation = self.plan.adaptation
        given = [adaptation.given(each) for each in fitted]
        if self._axes(chains)[1] is None:
            return Sent(given[0], keys[0], self.plan.no_places(self.plan.num_places), fitted, keys)
        packed = given[0] if self.plan.is_ensemble else _pack(given)
        return Sent(
            packed, np.stack(keys), self.plan.no_places(len(chains), self.plan.num_places), fitted, keys
        )

    def _kernels(self, states: Sequence[ChainState]) -> Any:
        """Return the kernels' states as the program takes them: on the device, if they are all there and unchanged."""
        kernels = [state.kernel for state in states]
        first = kernels[0]
        if self._is_here(first) and all(
            isinstance(each, Lane) and each.returned is first.returned and each.number == lane
            for lane, each in enumerate(kernels)
        ):
            return first.returned.tree
        if len(states) == 1 and not self.plan.is_ensemble:
            return on_host(first)
        return _pack([on_host(kernel) for kernel in kernels])

    def _arguments(
        self,
        chains: Sequence[Chain],
        states: Sequence[ChainState],
        stops: Sequence[int],
        budgets: Sequence[int],
        places: Position | None,
        sent: Sent,
    ) -> tuple[Any, ...]:
        """Assemble the arguments of the program."""
        at: Any = sent.places if places is None else places
        if self._axes(chains)[1] is None:
            (chain,), (state,) = chains, states
            if places is not None:
                at = jax.tree.map(lambda rows: rows[0], places)
            limits = Limits.at(stops[0], budgets[0], chain.num_warmup, at)
            state = replace(state, kernel=self._kernels(states))
            return state, sent.given, sent.key, item_key(chain.key, state), limits
        small = [(state.learnt, state.mode, state.draw, state.num_tuning) for state in states]
        packed = ChainState(self._kernels(states), *_pack(small))
        keys = np.stack(sent.keys)
        return packed, sent.given, sent.key, item_keys(keys, packed), _limits(chains, stops, budgets, at)


def _limits(
    chains: Sequence[Chain], stops: Sequence[int], budgets: Sequence[int], places: Position
) -> Limits:
    """Assemble limits of several lanes as arrays, since objects for each of a thousand lanes are slow."""
    warmups = [chain.num_warmup for chain in chains]
    stop, budget, num_warmup = (np.asarray(each, np.int32) for each in (stops, budgets, warmups))
    fields: tuple[Any, ...] = stop, budget, num_warmup, places
    return Limits(*fields)


def _by_lane(rows: tuple[Any, Any, Any], num_rows: int) -> tuple[Any, Any, Any]:
    """Move the lane axis of positions and statistics to the front, and keep their first rows."""
    positions, stats, num_gradients = rows

    def first(rows: Any) -> Any:
        return np.ascontiguousarray(np.swapaxes(rows[:num_rows], 0, 1))

    return jax.tree.map(first, positions), first(stats), num_gradients


def _pack(trees: Sequence[Any]) -> Any:
    """Stack the trees of several lanes."""
    leaves, structure = zip(*(jax.tree.flatten(tree) for tree in trees), strict=True)
    return jax.tree.unflatten(structure[0], [np.stack(column) for column in zip(*leaves, strict=True)])


def _unpack(tree: Any, lanes: int) -> list[Any]:
    """Split stacked trees into the trees of the lanes."""
    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, [leaf[lane] for leaf in leaves]) for lane in range(lanes)]
