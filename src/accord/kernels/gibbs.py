"""Draw by blocks: each moves its sites given the others, by a kernel of its own, and a draw is a sweep through all."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import EllipsisType
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from ..adaptation.each_block import BlocksTuning, EachBlock, Tuned
from ..core import keys
from ..core.errors import OptionError, suggest
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import AbstractKernel, AbstractState, ending_of
from .blocks import (
    AbstractHolder,
    begun,
    blank_of_blocks,
    chain_adaptation,
    check_block,
    info_of_blocks,
    stats_of_blocks,
    told,
)
from .formula import Draw, shared_out, within
from .places import Part, Places, listed
from .point import Point
from .rarely import Rarely
from .stored import REST

Names = tuple[str, ...] | EllipsisType


@node
class GibbsState(AbstractState):
    """A chain within a sweep.

    **Fields**
    - `point`: of all unknowns, as the turn in progress found it.
    - `tried`: where this draw was evaluated last, or where it first failed; `ending`, how.
    - `block`: whose turn it is; after the last block, the number of blocks.
    - `is_entering`: the others have moved since the block's last turn, so the next evaluation is where the chain
      stands. After the last block, it makes the point of the draw complete.
    - `is_beginning`: the turn's kernel begins with the next evaluation.
    - `states`, `infos`: of the kernels, and their reports, by block.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    ending: Int[Array, ""]
    block: Int[Array, ""]
    is_entering: Bool[Array, ""]
    is_beginning: Bool[Array, ""]
    states: tuple[Any, ...]
    infos: tuple[Info, ...]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Pending:
    """An evaluation that was asked for: whose turn it is, and the blocks' states and what their `tell` needs."""

    block: Int[Array, ""]
    is_entering: Bool[Array, ""]
    states: tuple[Any, ...]
    asked: tuple[Any, ...]


def _as_pairs(blocks: Any) -> tuple[tuple[Names, AbstractKernel], ...]:
    """Return blocks as pairs of names and kernels."""
    if not isinstance(blocks, Mapping | tuple):
        raise OptionError(
            'Gibbs: blocks must be a mapping from names of sites to kernels, like {"z": infer.DiscreteGibbs(), '
            f"...: infer.NUTS()}}; got {blocks!r}."
        )
    found = blocks.items() if isinstance(blocks, Mapping) else blocks
    return tuple((_names(names), kernel) for names, kernel in found)


def _names(names: Any) -> Names:
    if names is ...:
        return names
    found = (names,) if isinstance(names, str) else names
    if not isinstance(found, tuple) or not all(isinstance(each, str) for each in found):
        raise OptionError(
            f'Gibbs: a block is named by a site, by a tuple of sites, or by `...` for the rest: "z" or ("mu", "tau"); '
            f"got {names!r}."
        )
    if not found:
        raise OptionError("Gibbs: a block has no site. Leave it out.")
    return found


@checks_fields
class Gibbs(AbstractHolder):
    """Gibbs sampling by blocks: each block of sites moves given the others, by a kernel of its own.

    For discrete sites beside continuous ones, or for parts of a model that different kernels suit. Blocks move in the
    order in which they are written, and a draw is one sweep through all. Each block learns its own step size and metric
    during warm-up, by the schedule that it would have alone. Sites that depend on each other strongly mix slowly in
    different blocks: put them into one.

    **Fields**
    - `blocks`: a mapping from a site, a tuple of sites or `...` (all others) to a kernel. Every unknown is in one.

    A block costs an evaluation beside those of its kernel, since the others have moved: `NUTS` for all continuous sites
    beside `DiscreteGibbs` takes one gradient a draw more than alone. Statistics and tuning have the names of blocks in
    front: `draws.stats["mu,tau.step_size"]`, `"rest.step_size"` of the block `...`.

    **Raises** `OptionError` for a block without sites, a site in two blocks or in none, a name of no site, a kernel
    whose chains learn from each other, and a discrete site in the block of a kernel that follows gradients.

    **Source**: Geman & Geman (1984), IEEE PAMI 6(6), 721-741; blocks of Metropolis kernels: Tierney (1994), Annals of
    Statistics 22(4), 1701-1728.

    **Example**

    >>> blocks = infer.Gibbs({"z": infer.NUTS(), ...: infer.NUTS()})
    >>> infer.sample(eight_schools(sigma, y), blocks, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    blocks: tuple[tuple[Names, AbstractKernel], ...] = eqx.field(static=True)
    places: Places | None = eqx.field(static=True)
    draws: tuple[Draw, ...] = eqx.field(static=True)

    def __init__(
        self,
        blocks: Mapping[Any, AbstractKernel] | tuple[tuple[Names, AbstractKernel], ...],
        *,
        places: Places | None = None,
        draws: tuple[Draw, ...] = (),
    ):
        self.blocks = _as_pairs(blocks)
        self.places = places
        self.draws = draws

    def __check_init__(self) -> None:
        if not self.blocks:
            raise OptionError(
                'Gibbs: there is no block. Name one, like infer.Gibbs({"z": infer.DiscreteGibbs()}).'
            )
        seen: set[Any] = set()
        for names, kernel in self.blocks:
            check_block("Gibbs", kernel)
            for name in (...,) if names is ... else names:
                if name in seen:
                    raise OptionError(f"Gibbs: {'`...`' if name is ... else repr(name)} is in two blocks.")
                seen.add(name)
        labels = self._labels
        if len(set(labels)) < len(labels):
            raise OptionError(
                f"Gibbs: a block is called {REST!r}, as that of `...` is. Name its sites in a tuple."
            )

    @property
    def _labels(self) -> tuple[str, ...]:
        """Names of blocks in front of those of their statistics."""
        return tuple(REST if names is ... else ",".join(names) for names, _ in self.blocks)

    @property
    def whole(self) -> tuple[str, ...]:
        """Names of discrete sites in blocks whose kernels move nothing else, and those that kernels name."""
        found: list[str] = []
        for names, kernel in self.blocks:
            if kernel.is_discrete and names is not ...:
                found += names
            else:
                found += kernel.whole
        return tuple(found)

    @property
    def whole_if_discrete(self) -> tuple[str, ...] | EllipsisType:
        """All sites of blocks: a discrete one in the block of a kernel that cannot move it is told of at once."""
        if any(names is ... and kernel.whole_if_discrete is ... for names, kernel in self.blocks):
            return ...
        return tuple(name for names, _ in self.blocks if names is not ... for name in names)

    def placed(self, places: Places) -> "Gibbs":
        """See `AbstractKernel.placed`: names become those of latent sites, and `...` the sites that are left."""
        blocks: list[tuple[Names, AbstractKernel]] = []
        named: dict[str, str] = {}
        for names, _ in self.blocks:
            for name in () if names is ... else names:
                site = places.resolved("Gibbs", name)
                if site in named:
                    raise OptionError(
                        f"Gibbs: {named[site]!r} and {name!r} are one unknown, and named twice."
                    )
                named[site] = name
        rest = tuple(name for name in places.names if name not in named)
        if rest and all(names is not ... for names, _ in self.blocks):
            raise OptionError(
                f"Gibbs: no block moves {listed(rest)}.{suggest(rest[0], named)} Name them in a block, or add `...: "
                "infer.NUTS()` for the rest."
            )
        if not rest and any(names is ... for names, _ in self.blocks):
            raise OptionError(
                "Gibbs: the block of `...` has no site, since the others have them all. Leave it out."
            )
        for names, kernel in self.blocks:
            sites = rest if names is ... else tuple(places.resolved("Gibbs", name) for name in names)
            own, _ = places.part(sites)
            blocks.append((names, kernel.placed(own)))
        return replace(self, blocks=tuple(blocks), places=places)

    def bound(self, draws: tuple[Draw, ...]) -> "Gibbs":
        """See `AbstractKernel.bound`: a block gets its draws in its turn, since they depend on where the others are."""
        return replace(self, draws=draws)

    @property
    def compiled(self) -> "Gibbs":
        """See `AbstractKernel.compiled`."""
        return replace(self, blocks=tuple((names, kernel.compiled) for names, kernel in self.blocks))

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        blocks = [[None if names is ... else list(names), each.described()] for names, each in self.blocks]
        return {"name": type(self).__name__, "blocks": blocks}

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], AbstractKernel]) -> "Gibbs":
        """See `AbstractKernel.from_described`."""
        pairs = ((... if names is None else tuple(names), build(each)) for names, each in options["blocks"])
        return cls(tuple(pairs))

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of all blocks, with their names in front."""
        return stats_of_blocks(zip(self._labels, self.held, strict=True))

    @property
    def adaptation(self) -> EachBlock:
        """See `AbstractKernel.adaptation`."""
        return EachBlock(
            tuple(
                Tuned(label, tuple(part.columns().tolist()), chain_adaptation(kernel))
                for label, kernel, part in zip(self._labels, self.held, self._parts, strict=True)
            )
        )

    @property
    def held(self) -> tuple[AbstractKernel, ...]:
        """See `AbstractHolder.held`."""
        return tuple(kernel for _, kernel in self.blocks)

    @property
    def _parts(self) -> tuple[Part, ...]:
        """The numbers of each block in a position."""
        places = self.places
        assert places is not None, "a kernel of blocks is placed before its run"
        named = [
            None if names is ... else [places.resolved("Gibbs", name) for name in names]
            for names, _ in self.blocks
        ]
        taken = {name for names in named if names is not None for name in names}
        rest = [name for name in places.names if name not in taken]
        return tuple(places.part(rest if names is None else names)[1] for names in named)

    @property
    def _enters_next(self) -> tuple[bool, ...]:
        """Whether the chain is to be evaluated where it stands when a block has moved.

        A block has told the gradient by all free numbers if it has them all. After the last block, the draw needs it.
        """
        parts = self._parts
        follows = [
            bool(part.dim) and kernel.needs_gradient for part, kernel in zip(parts, self.held, strict=True)
        ]
        found, is_known = [], True
        for part, needs in zip(parts, [*follows[1:], bool(parts[0].num_free)], strict=True):
            is_known = (is_known and part.has_all_free) or not part.num_free
            found.append(needs and not is_known)
            is_known = is_known or found[-1]
        return tuple(found)

    def init(self, point: Point) -> GibbsState:
        """See `AbstractKernel.init`."""
        zero: Any = np.int32(0)
        no: Any = np.zeros((), bool)
        yes: Any = np.ones((), bool)
        states = tuple(
            kernel.init(part.point(point)) for kernel, part in zip(self.held, self._parts, strict=True)
        )
        infos = self._blank_infos(point)
        return GibbsState(point, yes, point.position, zero, zero, no, yes, states, infos)

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        return blank_of_blocks(super().blank_info(point), self._blank_infos(point))

    def _blank_infos(self, point: Point) -> tuple[Info, ...]:
        blocks = zip(self.held, self._parts, strict=True)
        return tuple(kernel.blank_info(part.point(point)) for kernel, part in blocks)

    def ask(
        self, key: UInt32[Array, " 2"], state: GibbsState, tuning: BlocksTuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: where the block of the turn asks, or where the chain stands."""
        first = jnp.where(tuning.is_probe, tuning.probed, 0).astype(jnp.int32)
        block = jnp.where(state.is_fresh, first, state.block)
        is_entering, is_beginning = state.is_entering & ~state.is_fresh, state.is_beginning | state.is_fresh
        position = position_now = state.point.position
        states, asked = [], []
        draws = shared_out(self.held, self.draws)
        for number, (kernel, part) in enumerate(zip(self.held, self._parts, strict=True)):
            is_turn = (block == number) & ~is_entering
            old = state.states[number]
            kernel = kernel.bound(within(draws[number], part, position_now))
            own = begun(old, is_turn, is_beginning, part, state.point, rarely)
            wanted, pending = kernel.ask(_key(key, number), own, tuning.blocks[number], rarely)
            position = where(is_turn, part.put(state.point.position, wanted), position)
            states.append(own)
            asked.append(pending)
        return position, _Pending(block, is_entering, tuple(states), tuple(asked))

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: GibbsState,
        point: Point,
        pending: _Pending,
        tuning: BlocksTuning,
        rarely: Rarely,
    ) -> tuple[GibbsState, Info]:
        """See `AbstractKernel.tell`."""
        block, is_entering = pending.block, pending.is_entering
        is_probe, of_point = jnp.asarray(tuning.is_probe), ending_of(point)
        # A block that does not see the whole gradient is not to move to where that is not finite.
        seen = replace(point, log_density=jnp.where(of_point == Ending.GRADIENT, jnp.nan, point.log_density))
        standing = rarely(is_entering, lambda _: point, state.point)
        states, infos = list(state.states), list(state.infos)
        is_done, is_next_entering = jnp.zeros((), bool), jnp.zeros((), bool)
        ending = jnp.where(is_entering, of_point, Ending.GOOD)
        before = jnp.where(state.is_fresh, Ending.GOOD, state.ending).astype(jnp.int32)
        is_first_bad = before == Ending.GOOD
        tried = where(is_first_bad, point.position, state.tried)
        for number, (kernel, part) in enumerate(zip(self.held, self._parts, strict=True)):
            is_turn = (block == number) & ~is_entering
            states[number], infos[number] = told(
                kernel, is_turn, _key(key, number), pending.states[number], state.infos[number],
                part.point(point if part.has_all_free else seen), pending.asked[number], tuning.blocks[number], rarely,
            )  # fmt: skip
            is_end = is_turn & infos[number].is_complete
            new = states[number].point
            standing = rarely(
                is_end & ~is_probe, lambda old, part=part, new=new: part.put_point(old, new), standing
            )
            # A kernel knows where it failed, which need not be its last evaluation.
            is_bad, failed = infos[number].ending != Ending.GOOD, states[number].last_evaluated
            tried = rarely(
                is_end & is_bad & is_first_bad,
                lambda _, part=part, failed=failed: part.put(state.point.position, failed),
                tried,
            )
            is_done |= is_end
            is_next_entering |= is_end & self._enters_next[number]
            ending = jnp.where(is_end, infos[number].ending, ending)
        ending = jnp.where((of_point == Ending.GRADIENT) & (ending != Ending.GOOD), of_point, ending)
        next_block = jnp.where(is_done, block + 1, block)
        is_sweep_over = (next_block == len(self.held)) & ~(is_done & is_next_entering)
        is_complete = (is_done & is_probe) | is_sweep_over
        worst = jnp.where(is_first_bad, ending, before).astype(jnp.int32)
        new_state = GibbsState(
            standing,
            is_complete,
            tried,
            worst,
            next_block,
            is_done & is_next_entering & ~is_probe,
            is_done | is_entering,
            tuple(states),
            tuple(infos),
        )
        is_turn = ~is_probe | (jnp.arange(len(infos)) == block)
        return new_state, info_of_blocks(infos, is_complete, worst, is_turn)


def _key(key: UInt32[Array, " 2"], block: int) -> UInt32[Array, " 2"]:
    return keys.fold(key, jnp.uint32(block))
