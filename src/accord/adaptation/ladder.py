"""Tune a ladder of tempered replicas: the power of the likelihood on each rung, its width, and what its kernel learns.

All rungs have the metric, or whatever the host learns, of the posterior's rung, and learn for themselves what is learnt
in the program, such as a step size. What makes this right for wide rungs is a scale for each coordinate.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.stats import Info
from ..core.tree import node, where
from .base import AbstractChainAdaptation, Item, Window
from .schedule import Update

_ROUNDS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)  # ends, as parts of warm-up
_LEAST = 8  # draws of a round
_CERTAIN = 0.02  # least rejection of a pair that is taken for known
_FEW = 10.0  # draws that say as much of a width as what was believed before


@node
class Rungs:
    """Report of a ladder on a draw, by rung.

    **Fields**: `infos`, reports of the kernel; `free`, shape `(rung, dim)`, positions; `chance`, shape `(rung - 1,)`,
    with which neighbours were to trade places.
    """

    infos: Info
    free: Float[Array, "rung dim"]
    chance: Float[Array, " pair"]


@node
class LadderLearnt:
    """State of the adaptation.

    **Fields**: `powers`, shape `(rung,)`, from 0 to 1; `scales`, shape `(rung, dim)`, powers of two, by which the
    kernel's coordinates are multiplied; `rejection`, shape `(pair,)`, as of the last round. Of the round in progress:
    `count`, draws; `refused`, shape `(pair,)`, summed; `mean` and `square`, shape `(rung, dim)`, of positions, the
    latter of deviations, summed. `kernels`, what each rung's kernel has learnt; `is_searching`, shape `(rung,)`, which
    of them search for a step size.
    """

    powers: Float[Array, " rung"]
    scales: Float[Array, "rung dim"]
    rejection: Float[Array, " pair"]
    count: Float[Array, ""]
    refused: Float[Array, " pair"]
    mean: Float[Array, "rung dim"]
    square: Float[Array, "rung dim"]
    kernels: Any
    is_searching: Bool[Array, " rung"]


@dataclass(frozen=True, eq=False)
class LadderTuning:
    """Tuning of a ladder.

    **Fields**: `powers` and `scales`, see `LadderLearnt`; `parity`, whether even or odd pairs trade; `is_probe`,
    whether the item is a probe, and of which rung, `probed`; `of_rung(number)`, the tuning of the kernel there.
    """

    powers: Float[Array, " rung"]
    scales: Float[Array, "rung dim"]
    parity: Int[Array, ""]
    is_probe: Bool[Array, ""]
    probed: Int[Array, ""]
    of_rung: Callable[[Any], Any]


@dataclass(frozen=True)
class UpdateOfLadder(Update):
    """Updates at one draw: the end of a round of the ladder, and one of the kernel's own."""

    ends_round: bool = False
    own: Update | None = field(default=None)


@dataclass(frozen=True)
class Ladder(AbstractChainAdaptation):
    """Adaptation of `rungs` replicas that a kernel with this adaptation of its own moves.

    **Source** of how powers are learnt: Syed, Bouchard-Cote, Deligiannidis & Doucet (2022), J. R. Stat. Soc. B 84(2),
    section 5: rejections of neighbours, summed up from the prior, are interpolated by a monotone cubic and cut into
    equal parts.
    """

    kernel: AbstractChainAdaptation
    rungs: int

    def begin(self, dim: int, dtype: np.dtype) -> LadderLearnt:
        """See `AbstractAdaptation.begin`."""
        one = self.kernel.begin(dim, dtype)
        powers = np.linspace(0, 1, self.rungs, dtype=dtype) ** 3  # much changes near the prior
        pairs, table = np.zeros(self.rungs - 1, dtype), np.zeros((self.rungs, dim), dtype)
        return LadderLearnt(
            powers,  # pyright: ignore[reportArgumentType]
            np.ones_like(table),  # pyright: ignore[reportArgumentType]
            np.full_like(pairs, np.nan),  # pyright: ignore[reportArgumentType]
            np.zeros((), dtype),  # pyright: ignore[reportArgumentType]
            pairs,  # pyright: ignore[reportArgumentType]
            table,  # pyright: ignore[reportArgumentType]
            table,  # pyright: ignore[reportArgumentType]
            jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * self.rungs), one),
            np.zeros(self.rungs, bool),  # pyright: ignore[reportArgumentType]
        )

    def check(self, dim: int) -> None:
        """See `AbstractAdaptation.check`."""
        self.kernel.check(dim)

    def at_start(self, gradient: np.ndarray) -> Any:
        """See `AbstractAdaptation.at_start`."""
        return self.kernel.at_start(gradient)

    def given(self, fitted: Any) -> Any:
        """See `AbstractAdaptation.given`."""
        return self.kernel.given(fitted)

    def due(self, num_warmup: int) -> tuple[Update, ...]:
        """See `AbstractAdaptation.due`: at the ends of rounds, and when the kernel's own updates are."""
        rounds: list[int] = []
        for part in _ROUNDS:
            at = int(part * num_warmup)
            if at - (rounds[-1] if rounds else 0) >= _LEAST:
                rounds.append(at)
        own = {update.at: update for update in self.kernel.due(num_warmup)}
        updates = []
        for at in sorted({*rounds, *own}):
            mine = own.get(at)
            start, is_first = (at // 2, False) if mine is None else (mine.start, mine.is_first)
            updates.append(UpdateOfLadder(at, start, is_first, at in rounds, mine))
        return tuple(updates)

    def learn(
        self, window: Window, learnt: LadderLearnt, fitted: Any, update: Update
    ) -> tuple[LadderLearnt, Any, bool]:
        """See `AbstractAdaptation.learn`. An update of a longer warm-up is one of everything."""
        of_ladder = update if isinstance(update, UpdateOfLadder) else None
        if of_ladder is None or of_ladder.ends_round:
            learnt = _next_round(learnt)
        own = update if of_ladder is None else of_ladder.own
        if own is None:
            return learnt, fitted, bool(np.any(learnt.is_searching))
        states, searching, new = [], np.array(learnt.is_searching), fitted
        for rung in range(self.rungs):
            state, new, is_anew = self.kernel.learn(window, _of(learnt.kernels, rung), fitted, own)
            states.append(state)
            searching[rung] |= is_anew
        kernels = jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *states)
        is_searching: Any = searching
        return replace(learnt, kernels=kernels, is_searching=is_searching), new, bool(searching.any())

    def is_settled(self, window: Window) -> bool:
        """See `AbstractAdaptation.is_settled`."""
        return self.kernel.is_settled(window)

    def as_of(
        self, learnt: LadderLearnt, given: Any, stats: Mapping[str, Any], draw: Any, num_warmup: int
    ) -> None:
        """See `AbstractAdaptation.as_of`: where the other replicas stood is not known."""
        del learnt, given, stats, draw, num_warmup

    def tuning(self, learnt: LadderLearnt, given: Any, item: Item) -> LadderTuning:
        """See `AbstractChainAdaptation.tuning`."""

        def of_rung(rung: Any) -> Any:
            state = jax.tree.map(
                lambda leaf: jax.lax.dynamic_index_in_dim(leaf, rung, keepdims=False), learnt.kernels
            )
            return self.kernel.tuning(state, given, item)

        probed = jnp.argmax(learnt.is_searching).astype(jnp.int32)
        parity = jnp.asarray(item.draw).astype(jnp.uint32) % 2
        return LadderTuning(learnt.powers, learnt.scales, parity, item.is_probe, probed, of_rung)

    def update(
        self, learnt: LadderLearnt, given: Any, item: Item, info: Info
    ) -> tuple[LadderLearnt, Bool[Array, ""]]:
        """See `AbstractChainAdaptation.update`: a draw is next if no rung searches."""
        seen: Rungs = info.seen
        probed = jnp.arange(self.rungs) == jnp.argmax(learnt.is_searching)
        is_probe = item.is_probe & probed

        def of_rung(state: Any, info: Info, is_probe: Array) -> tuple[Any, Array]:
            own = Item(item.is_draw, is_probe, item.draw, item.num_warmup)
            new, is_next_draw = self.kernel.update(state, given, own, info)
            is_its = item.is_draw | is_probe | ~item.is_probe
            return where(is_its, new, state), ~jnp.asarray(is_next_draw)

        kernels, searching = jax.vmap(of_rung)(learnt.kernels, seen.infos, is_probe)
        is_searching = jnp.where(~item.is_probe | probed, searching, learnt.is_searching)
        learns = item.is_draw & (item.draw < item.num_warmup)
        count = learnt.count + 1
        off = seen.free - learnt.mean
        mean = learnt.mean + off / count
        square = learnt.square + off * (seen.free - mean)
        counted = replace(
            learnt, count=count, refused=learnt.refused + (1 - seen.chance), mean=mean, square=square
        )
        new = where(learns, counted, learnt)
        return replace(new, kernels=kernels, is_searching=is_searching), ~jnp.any(is_searching)

    def described(self, learnt: LadderLearnt, fitted: Any) -> dict[str, Any]:
        """See `AbstractAdaptation.described`: of the posterior's rung, and of the ladder."""
        own = self.kernel.described(_of(learnt.kernels, self.rungs - 1), fitted)
        rejection = np.asarray(learnt.rejection)
        return own | {
            "temperatures": np.asarray(learnt.powers),
            "rejection": rejection,
            "barrier": rejection.sum(),
        }

    def shown(self, learnt: LadderLearnt, fitted: Any) -> tuple[tuple[str, float], ...]:
        """See `AbstractAdaptation.shown`."""
        own = self.kernel.shown(_of(learnt.kernels, self.rungs - 1), fitted)
        return (*own, ("barrier", float(np.sum(learnt.rejection))))

    def stored(self, fitted: Any) -> dict[str, np.ndarray]:
        """See `AbstractAdaptation.stored`."""
        return self.kernel.stored(fitted)

    def restored(self, arrays: Mapping[str, np.ndarray], dim: int, dtype: np.dtype) -> Any:
        """See `AbstractAdaptation.restored`."""
        return self.kernel.restored(arrays, dim, dtype)


def _of(kernels: Any, rung: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf)[rung], kernels)


def _next_round(learnt: LadderLearnt) -> LadderLearnt:
    """Learn powers and scales of the round that ends, and begin another one; NumPy."""
    count = float(learnt.count)
    if count < _LEAST:
        return learnt
    powers, refused, square = (np.asarray(each) for each in (learnt.powers, learnt.refused, learnt.square))
    zero = np.zeros_like
    rejection = refused / count
    return replace(
        learnt,
        powers=equal_powers(powers, rejection),
        scales=_scales(square / count, count, np.asarray(learnt.scales)),
        rejection=rejection,
        count=zero(learnt.count),
        refused=zero(learnt.refused),
        mean=zero(learnt.mean),
        square=zero(learnt.square),
    )


def equal_powers(powers: np.ndarray, rejection: np.ndarray) -> np.ndarray:
    """Return powers, shape `(rung,)`, whose neighbours would all be refused equally often.

    `rejection`, shape `(rung - 1,)`: how often neighbours of the old `powers` were.
    """
    heights = np.concatenate([[0.0], np.cumsum(np.maximum(np.asarray(rejection, np.float64), _CERTAIN))])
    at = np.linspace(0, heights[-1], len(powers))
    from scipy.interpolate import PchipInterpolator  # a fifth of a second, which only tempering needs

    new = PchipInterpolator(heights, np.asarray(powers, np.float64))(at)
    new[0], new[-1] = 0, 1
    return new.astype(powers.dtype)


def _scales(variance: np.ndarray, count: float, old: np.ndarray) -> np.ndarray:
    """Return the widths of rungs over that of the posterior's, as powers of two: these are exact.

    Of a rung on which no replica has moved in a direction, nothing is known.
    """
    log_width = 0.5 * np.log2(np.where(variance > 0, variance, 1))
    is_known = (variance > 0) & (variance[-1:] > 0)
    wanted = np.where(is_known, log_width - log_width[-1:], np.log2(old))
    share = count / (count + _FEW)
    mixed = np.log2(old) + share * (wanted - np.log2(old))
    return np.exp2(np.clip(np.round(mixed), -20, 20)).astype(old.dtype)
