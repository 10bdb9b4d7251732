"""Draw by one of several kernels, chosen at random for each draw."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from ..adaptation.each_block import BlocksTuning, EachBlock, Tuned
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Info, Stat
from ..core.tree import node, where
from .base import AbstractKernel, AbstractState
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
from .formula import Draw, shared_out
from .places import Part, Places
from .point import Point
from .rarely import Rarely

_CHOICE = 0  # counter of the choice; below a key of its own, since kernels use those of the draw


@node
class MixtureState(AbstractState):
    """A chain within a draw: `states` and `infos`, of the kernels, and which of them makes this draw, `chosen`."""

    point: Point
    is_fresh: Bool[Array, ""]
    chosen: Int[Array, ""]
    states: tuple[Any, ...]
    infos: tuple[Info, ...]
    tried: Position

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


def _as_pairs(kernels: Any) -> tuple[tuple[AbstractKernel, float], ...]:
    if not isinstance(kernels, Mapping | tuple):
        raise OptionError(
            "Mixture: kernels must be a mapping from kernels to probabilities, like {infer.NUTS(): 0.9, "
            f"infer.RandomWalk(): 0.1}}; got {kernels!r}."
        )
    return tuple(kernels.items() if isinstance(kernels, Mapping) else kernels)


@checks_fields
class Mixture(AbstractHolder):
    """A mixture of kernels: each draw is made by one of them, chosen at random.

    For a kernel that moves well nearly everywhere, beside one that leads out of where the first one stays. Each kernel
    learns from the draws that it makes which step size it needs, and from all draws which metric.

    **Fields**
    - `kernels`: a mapping from kernels to the probabilities of their draws, each > 0, which sum to 1.

    Statistics have the number of the kernel in front, from 0: `draws.stats["0.n_steps"]`; `draws.stats["kernel"]` has
    the number of the one that made the draw. Statistics of the others are 0 there.

    **Raises** `OptionError` for probabilities that do not sum to 1, and a kernel whose chains learn from each other.

    **Source**: Tierney (1994), "Markov chains for exploring posterior distributions", Annals of Statistics 22(4).

    **Example**

    >>> either = infer.Mixture({infer.NUTS(): 0.75, infer.RandomWalk(): 0.25})
    >>> infer.sample(eight_schools(sigma, y), either, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    kernels: tuple[tuple[AbstractKernel, float], ...] = eqx.field(static=True)
    places: Places | None = eqx.field(static=True)

    def __init__(
        self,
        kernels: Mapping[AbstractKernel, float] | tuple[tuple[AbstractKernel, float], ...],
        *,
        places: Places | None = None,
    ):
        self.kernels = _as_pairs(kernels)
        self.places = places

    def __check_init__(self) -> None:
        for kernel, share in self.kernels:
            check_block("Mixture", kernel)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
                raise OptionError(f"Mixture: probabilities must lie in (0, 1], got {share!r}.")
        total = sum(share for _, share in self.kernels)
        if abs(total - 1) > 1e-6:
            raise OptionError(f"Mixture: the probabilities must sum to 1, and sum to {total:g}.")

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of all kernels, and which one made the draw."""
        return (*stats_of_blocks(zip(self._labels, self.held, strict=True)), Stat("kernel", "int32"))

    def bound(self, draws: tuple[Draw, ...]) -> "Mixture":
        """See `AbstractKernel.bound`."""
        own = shared_out(self.held, draws)
        pairs = zip(self.kernels, own, strict=True)
        return replace(self, kernels=tuple((kernel.bound(each), share) for (kernel, share), each in pairs))

    @property
    def adaptation(self) -> EachBlock:
        """See `AbstractKernel.adaptation`."""
        columns = tuple(range(self._part.dim))
        return EachBlock(
            tuple(
                Tuned(label, columns, chain_adaptation(kernel))
                for label, kernel in zip(self._labels, self.held, strict=True)
            )
        )

    @property
    def compiled(self) -> "Mixture":
        """See `AbstractKernel.compiled`."""
        return replace(self, kernels=tuple((kernel.compiled, share) for kernel, share in self.kernels))

    def placed(self, places: Places) -> "Mixture":
        """See `AbstractKernel.placed`: every kernel moves all sites."""
        kernels = tuple((kernel.placed(places), share) for kernel, share in self.kernels)
        return replace(self, kernels=kernels, places=places)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        kernels = [[kernel.described(), share] for kernel, share in self.kernels]
        return {"name": type(self).__name__, "kernels": kernels}

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], AbstractKernel]) -> "Mixture":
        """See `AbstractKernel.from_described`."""
        return cls(tuple((build(kernel), share) for kernel, share in options["kernels"]))

    @property
    def held(self) -> tuple[AbstractKernel, ...]:
        """See `AbstractHolder.held`."""
        return tuple(kernel for kernel, _ in self.kernels)

    @property
    def _labels(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(len(self.kernels)))

    @property
    def _part(self) -> Part:
        """All numbers of a position."""
        assert self.places is not None, "a mixture is placed before its run"
        return self.places.part(self.places.names)[1]

    def init(self, point: Point) -> MixtureState:
        """See `AbstractKernel.init`."""
        yes: Any = np.ones((), bool)
        zero: Any = np.int32(0)
        states = tuple(kernel.init(point) for kernel in self.held)
        infos = tuple(kernel.blank_info(point) for kernel in self.held)
        return MixtureState(point, yes, zero, states, infos, point.position)

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        infos = tuple(kernel.blank_info(point) for kernel in self.held)
        return blank_of_blocks(super().blank_info(point), infos)

    def ask(
        self, key: UInt32[Array, " 2"], state: MixtureState, tuning: BlocksTuning, rarely: Rarely
    ) -> tuple[Position, Any]:
        """See `AbstractKernel.ask`: where the chosen kernel asks."""
        chosen = rarely(state.is_fresh, lambda _: self._choice(key, tuning, state), state.chosen)
        position, states, asked = state.point.position, [], []
        for number, kernel in enumerate(self.held):
            is_turn = chosen == number
            own = begun(state.states[number], is_turn, state.is_fresh, self._part, state.point, rarely)
            wanted, pending = kernel.ask(_key(key, number), own, tuning.blocks[number], rarely)
            position = where(is_turn, wanted, position)
            states.append(own)
            asked.append(pending)
        return position, (chosen, tuple(states), tuple(asked))

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: MixtureState,
        point: Point,
        pending: Any,
        tuning: BlocksTuning,
        rarely: Rarely,
    ) -> tuple[MixtureState, Info]:
        """See `AbstractKernel.tell`."""
        chosen, begun_states, asked = pending
        states, infos = list(state.states), list(state.infos)
        is_complete, standing = jnp.zeros((), bool), state.point
        ending, is_turn = jnp.int32(0), jnp.arange(len(states)) == chosen
        for number, kernel in enumerate(self.held):
            states[number], infos[number] = told(
                kernel, is_turn[number], _key(key, number), begun_states[number], state.infos[number],
                point, asked[number], tuning.blocks[number], rarely,
            )  # fmt: skip
            is_end, new = is_turn[number] & infos[number].is_complete, states[number].point
            standing = rarely(is_end, lambda _, new=new: new, standing)
            ending = jnp.where(is_end, infos[number].ending, ending)
            is_complete |= is_end
        # Every kernel says itself where it was evaluated last, or where it failed.
        tried = state.tried
        for number, each in enumerate(states):
            tried = where(is_turn[number], each.last_evaluated, tried)
        info = info_of_blocks(infos, is_complete, ending, is_turn)
        dtype = info.stats.dtype
        stats = [jnp.where(is_turn[number], each.stats, 0) for number, each in enumerate(infos)]
        info = replace(info, stats=jnp.concatenate([*stats, chosen.astype(dtype)[None]]))
        return MixtureState(standing, is_complete, chosen, tuple(states), tuple(infos), tried), info

    def _choice(self, key: Any, tuning: BlocksTuning, state: MixtureState) -> Int[Array, ""]:
        """Choose by the key of the draw, or take the kernel that is probed."""
        ends = np.cumsum([share for _, share in self.kernels])[:-1]
        dtype = state.point.log_density.dtype
        own = _key(key, len(self.kernels))
        u = keys.uniform(own, jnp.uint32(_CHOICE), jnp.uint32(0), dtype)
        chosen = jnp.sum(u >= jnp.asarray(ends, dtype)).astype(jnp.int32)
        return jnp.where(tuning.is_probe, tuning.probed, chosen)


def _key(key: UInt32[Array, " 2"], number: int) -> UInt32[Array, " 2"]:
    return keys.fold(key, jnp.uint32(number))
