"""Tune the blocks of a kernel each by an adaptation of its own, at the draws of the chain.

A block learns from the columns of the chain's draws that it moves, by the schedule that it would have alone. Searches
for step sizes are made one after the other, in the order of the blocks: a probe is one of one block.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from ..core.stats import Info
from ..core.tree import node, where
from .base import AbstractChainAdaptation, Item, Window
from .schedule import Update


@dataclass(frozen=True)
class Tuned:
    """A block, and how it is tuned.

    **Fields**: `label`, with which the names of what is shown of it begin; `columns`, indices of the free numbers that
    it moves; `adaptation`.
    """

    label: str
    columns: tuple[int, ...]
    adaptation: AbstractChainAdaptation

    @property
    def dim(self) -> int:
        """Number of its free numbers."""
        return len(self.columns)

    def prefixed(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Return these values by names that begin with the label."""
        return {f"{self.label}.{name}": value for name, value in named.items()}

    def own(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values whose names begin with the label, by the rest of their names."""
        start = f"{self.label}."
        return {name.removeprefix(start): named[name] for name in named if name.startswith(start)}

    def window(self, window: Window, start: int = 0) -> Window:
        """Return what the block learns from, of draws from number `start` of a window on."""
        columns = list(self.columns)
        # Which block made a draw diverge is not recorded, so that all take it for theirs.
        shared = {name: window.stats[name] for name in ("diverging",) if name in window.stats}
        stats = {name: array[start:] for name, array in (shared | self.own(window.stats)).items()}
        return Window(
            window.positions[start:, columns],
            window.gradients[start:, columns],
            window.log_density[start:],
            stats,
        )


@node
class BlocksLearnt:
    """State of the blocks' adaptations; and which of them search for a step size, shape `(block,)`."""

    blocks: tuple[Any, ...]
    is_searching: Bool[Array, " block"]


@node
class BlocksTuning:
    """Tuning of the blocks; `is_probe`, shape `()`, whether the item is a probe, and of which block, `probed`."""

    blocks: tuple[Any, ...]
    is_probe: Bool[Array, ""]
    probed: Int[Array, ""]


@node
class Turns:
    """Last reports of the blocks; and which of them had a turn in this item, shape `(block,)`."""

    infos: tuple[Info, ...]
    is_turn: Bool[Array, " block"]


@dataclass(frozen=True)
class UpdateOfBlocks(Update):
    """Updates of some blocks at one draw, each with the number of its block."""

    own: tuple[tuple[int, Update], ...] = field(default=())


@dataclass(frozen=True)
class EachBlock(AbstractChainAdaptation):
    """Adaptation of a kernel of several blocks. Reports of the kernel have `Turns` for what was seen."""

    blocks: tuple[Tuned, ...]

    def begin(self, dim: int, dtype: np.dtype) -> BlocksLearnt:
        """See `AbstractAdaptation.begin`."""
        is_searching: Any = np.zeros(len(self.blocks), bool)
        return BlocksLearnt(
            tuple(each.adaptation.begin(each.dim, dtype) for each in self.blocks), is_searching
        )

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        for each in self.blocks:
            each.adaptation.check(each.dim)

    def at_start(self, gradient: np.ndarray) -> tuple[Any, ...]:
        """See `AbstractAdaptation.at_start`."""
        return tuple(each.adaptation.at_start(gradient[list(each.columns)]) for each in self.blocks)

    def given(self, fitted: tuple[Any, ...]) -> tuple[Any, ...]:
        """See `AbstractAdaptation.given`."""
        return tuple(each.adaptation.given(own) for each, own in zip(self.blocks, fitted, strict=True))

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """See `AbstractAdaptation.due`: at every draw at which some block learns."""
        found: dict[int, list[tuple[int, Update]]] = {}
        for number, each in enumerate(self.blocks):
            for update in each.adaptation.due(num_warmup):
                found.setdefault(update.at, []).append((number, update))
        return tuple(
            UpdateOfBlocks(
                at,
                min(update.start for _, update in own),
                all(update.is_first for _, update in own),
                tuple(own),
            )
            for at, own in sorted(found.items())
        )

    def learn(
        self, window: Window, learnt: BlocksLearnt, fitted: tuple[Any, ...], update: Update
    ) -> tuple[BlocksLearnt, tuple[Any, ...], bool]:
        """See `AbstractAdaptation.learn`. An update of no certain blocks, as of a longer warm-up, is one of all."""
        every = tuple((number, update) for number in range(len(self.blocks)))
        states, fits, searching = list(learnt.blocks), list(fitted), np.array(learnt.is_searching)
        for number, own in update.own if isinstance(update, UpdateOfBlocks) else every:
            part = self.blocks[number].window(window, own.start - update.start)
            states[number], fits[number], is_anew = self.blocks[number].adaptation.learn(
                part, states[number], fits[number], own
            )
            searching[number] |= is_anew
        is_searching: Any = searching
        return BlocksLearnt(tuple(states), is_searching), tuple(fits), bool(searching.any())

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return all(each.adaptation.is_settled(each.window(window)) for each in self.blocks)

    def as_of(
        self,
        learnt: BlocksLearnt,
        given: tuple[Any, ...],
        stats: Mapping[str, Any],
        draw: Any,
        num_warmup: int,
    ) -> BlocksLearnt | None:
        """See `AbstractAdaptation.as_of`."""
        states = tuple(
            each.adaptation.as_of(state, own, each.own(stats), draw, num_warmup)
            for each, state, own in zip(self.blocks, learnt.blocks, given, strict=True)
        )
        return None if any(state is None for state in states) else replace(learnt, blocks=states)

    def tuning(self, learnt: BlocksLearnt, given: tuple[Any, ...], item: Item) -> BlocksTuning:
        """See `AbstractChainAdaptation.tuning`."""
        probed = jnp.argmax(learnt.is_searching).astype(jnp.int32)
        own = zip(self.blocks, learnt.blocks, given, strict=True)
        tunings = tuple(
            each.adaptation.tuning(state, fit, replace(item, is_probe=item.is_probe & (probed == number)))
            for number, (each, state, fit) in enumerate(own)
        )
        return BlocksTuning(tunings, item.is_probe, probed)

    def update(
        self, learnt: BlocksLearnt, given: tuple[Any, ...], item: Item, info: Info
    ) -> tuple[BlocksLearnt, Bool[Array, ""]]:
        """See `AbstractChainAdaptation.update`: a draw is next if no block searches."""
        turns, probed = info.seen, jnp.argmax(learnt.is_searching)
        states, searching = [], []
        for number, (each, state, fit) in enumerate(zip(self.blocks, learnt.blocks, given, strict=True)):
            # In the last draw of warm-up all are told, since tuning is then fixed: one without a turn, of its last one.
            is_draw = item.is_draw & (turns.is_turn[number] | (item.draw + 1 == item.num_warmup))
            is_probe = item.is_probe & (probed == number)
            new, is_next_draw = each.adaptation.update(
                state, fit, Item(is_draw, is_probe, item.draw, item.num_warmup), turns.infos[number]
            )
            is_its = is_draw | is_probe | ~(item.is_draw | item.is_probe)
            states.append(where(is_its, new, state))
            searching.append(jnp.where(is_its, ~jnp.asarray(is_next_draw), learnt.is_searching[number]))
        is_searching = jnp.stack(searching)
        return BlocksLearnt(tuple(states), is_searching), ~jnp.any(is_searching)

    def described(self, learnt: BlocksLearnt, fitted: tuple[Any, ...]) -> dict[str, Any]:
        """See `AbstractAdaptation.described`: names begin with the label of the block."""
        return {
            name: value
            for each, state, own in zip(self.blocks, learnt.blocks, fitted, strict=True)
            for name, value in each.prefixed(each.adaptation.described(state, own)).items()
        }

    def shown(self, learnt: BlocksLearnt, fitted: tuple[Any, ...]) -> tuple[tuple[str, float], ...]:
        """See `AbstractAdaptation.shown`."""
        return tuple(
            (f"{each.label} {heading}", number)
            for each, state, own in zip(self.blocks, learnt.blocks, fitted, strict=True)
            for heading, number in each.adaptation.shown(state, own)
        )

    def stored(self, fitted: tuple[Any, ...]) -> dict[str, np.ndarray]:
        """See `AbstractAdaptation.stored`."""
        return {
            name: array
            for each, own in zip(self.blocks, fitted, strict=True)
            for name, array in each.prefixed(each.adaptation.stored(own)).items()
        }

    def restored(self, arrays: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> tuple[Any, ...]:
        """See `AbstractAdaptation.restored`."""
        return tuple(each.adaptation.restored(each.own(arrays), each.dim, dtype) for each in self.blocks)
