"""Draw by parallel tempering: replicas of a chain between prior and posterior, which trade places."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.ladder import Ladder, LadderTuning, Rungs
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Info, Stat
from ..core.tree import node, where
from .base import AbstractKernel, AbstractState
from .blocks import AbstractHolder, chain_adaptation, check_block
from .nuts import NUTS
from .places import Places
from .point import Halves, Point
from .rarely import Rarely
from .vectors import added_up

_PLACE, _EXPLORE, _CLOSE = range(3)  # what an evaluation is for
_SWAP = 0  # stream of random numbers, below a key of its own

_MAX_TEMPERATURES = 1000
_MAX_SIZE = 2**12  # numbers of an array that XLA handles on one core


@node
class TemperedState(AbstractState):
    """A ladder within a draw.

    **Fields**
    - `point`: of the posterior, the last rung. `tried`: where that was evaluated last, or where it first failed.
    - `rung`: whose turn it is; `turn`: what the next evaluation is for. `_PLACE`: the chain was put where it stands,
      and so are all replicas. `_EXPLORE`: the kernel moves one. `_CLOSE`: prior and likelihood where it has led.
    - `is_beginning`: the turn's kernel begins with the next evaluation. `inner`: its state.
    - `infos`: the kernel's reports, `positions` and `halves`: of the replicas, by rung, with an axis of rungs in front.
    - `replica`, shape `(rung,)`: which replica stands on it. `is_from_prior`, shape `(replica,)`: whether it has been
      at the prior since it was last at the posterior.
    - Of the last draw: `chance`, shape `(rung - 1,)`, with which neighbours were to trade places, and its `stats`.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    rung: Int[Array, ""]
    turn: Int[Array, ""]
    is_beginning: Bool[Array, ""]
    inner: Any
    infos: Info
    positions: Position
    halves: Halves
    replica: Int[Array, " rung"]
    is_from_prior: Bool[Array, " replica"]
    chance: Float[Array, " pair"]
    stats: Float[Array, " stat"]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Pending:
    """An evaluation that was asked for; see `TemperedState`. `asked`: what the kernel's `tell` needs, and where."""

    rung: Int[Array, ""]
    turn: Int[Array, ""]
    inner: Any
    wanted: Position
    asked: Any


@checks_fields
class Tempered(AbstractHolder):
    """Parallel tempering: for a posterior with modes that a chain does not leave.

    Each chain is a ladder of replicas. The one on rung k has the density prior times likelihood to the power
    `temperatures[k]`, from 0, the prior, to 1, the posterior. For a draw, `kernel` moves each replica once, and then
    replicas on neighbouring rungs trade places, by even and odd pairs in turn. What crosses between modes where the
    likelihood counts little arrives at the posterior. Warm-up learns the powers, so that all trades are accepted about
    equally often, and how wide each rung is. A draw costs as much as `temperatures` draws of the kernel.

    Prior and likelihood are those of the model: sites that are observed and factors count as likelihood. Every prior
    must be proper.

    **Fields**
    - `kernel`: what moves a replica; a `Gibbs` with `DiscreteGibbs` where there are discrete sites.
    - `temperatures`: number of rungs, >= 2. Enough are about twice the barrier that warm-up finds
      (`draws.tuning["barrier"]`).

    **Statistics** are those of the posterior's replica, and `swap_rate`, the mean acceptance of trades; `round_trips`,
    of replicas that arrive at the posterior and have been at the prior since they last left it; and
    `log_likelihood.k` of rung k before the trades, from which `infer.evidence` computes the evidence.

    **Raises** `OptionError` for a kernel whose chains learn from each other, and for one with a formula; `ModelError`
    where prior and likelihood cannot be told apart, and for an improper prior.

    **Source**: Geyer (1991), "Markov chain Monte Carlo maximum likelihood"; pairs in turn, and how powers are learnt:
    Syed, Bouchard-Cote, Deligiannidis & Doucet (2022), J. R. Stat. Soc. B 84(2), 321-350.

    **Example**

    >>> ladder = infer.Tempered(infer.NUTS(), temperatures=6)
    >>> infer.sample(eight_schools(sigma, y), ladder, draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    kernel: AbstractKernel = eqx.field(static=True, default=NUTS())
    temperatures: int = eqx.field(static=True, default=10, kw_only=True)
    places: Places | None = eqx.field(static=True, default=None, kw_only=True)

    needs_halves: ClassVar[bool] = True
    has_memory: ClassVar[bool] = True

    def __check_init__(self) -> None:
        check_block("Tempered", self.kernel)
        positive_count("Tempered: temperatures", self.temperatures, maximum=_MAX_TEMPERATURES, minimum=2)

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of the kernel at the posterior, and those of the ladder."""
        heights = (Stat(f"log_likelihood.{rung}") for rung in range(self.temperatures))
        return (*self.kernel.stats, Stat("swap_rate"), Stat("round_trips", "int32"), *heights)

    @property
    def held(self) -> tuple[AbstractKernel, ...]:
        """See `AbstractHolder.held`."""
        return (self.kernel,)

    @property
    def is_plain(self) -> bool:
        """Whether the kernel is plain arithmetic, and all replicas are a small array."""
        dim = max((each.stop for each in self.places.free), default=0) if self.places else 0
        return super().is_plain and 2 * dim * self.temperatures <= _MAX_SIZE

    @property
    def adaptation(self) -> Ladder:
        """See `AbstractKernel.adaptation`."""
        return Ladder(chain_adaptation(self.kernel), self.temperatures)

    @property
    def compiled(self) -> "Tempered":
        """See `AbstractKernel.compiled`."""
        return replace(self, kernel=self.kernel.compiled)

    @property
    def at_once(self) -> tuple[tuple[str, ...], ...]:
        """See `AbstractKernel.at_once`: none, since tables are those of the posterior alone."""
        return ()

    def placed(self, places: Places) -> "Tempered":
        """See `AbstractKernel.placed`."""
        kernel = self.kernel.placed(places)
        if kernel.formulas:
            raise OptionError(
                "Tempered: a formula draws from the posterior, and replicas have other densities. Move its sites by "
                "another kernel than Conditional, such as infer.NUTS()."
            )
        return replace(self, kernel=kernel, places=places)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {
            "name": type(self).__name__,
            "kernel": self.kernel.described(),
            "temperatures": self.temperatures,
        }

    @classmethod
    def from_described(cls, options: dict[str, Any], build: Callable[[Any], AbstractKernel]) -> "Tempered":
        """See `AbstractKernel.from_described`."""
        return cls(build(options["kernel"]), temperatures=options["temperatures"])

    def init(self, point: Point) -> TemperedState:
        """See `AbstractKernel.init`. No replica stands anywhere: the first evaluation of a draw places them all."""
        count, yes, no = np.int32(0), np.ones((), bool), np.zeros((), bool)
        rows = jax.tree.map(self._rows, point.position)
        free = np.full_like(rows.free, np.nan)
        dtype, dim = free.dtype, free.shape[1]
        halves = Halves(
            np.zeros((self.temperatures, 2), dtype),  # pyright: ignore[reportArgumentType]
            np.zeros((self.temperatures, 2, dim), dtype),  # pyright: ignore[reportArgumentType]
        )
        replica: Any = np.arange(self.temperatures, dtype=np.int32)
        return TemperedState(
            point=point,
            is_fresh=yes,  # pyright: ignore[reportArgumentType]
            tried=point.position,
            rung=count,  # pyright: ignore[reportArgumentType]
            turn=count,  # pyright: ignore[reportArgumentType]
            is_beginning=yes,  # pyright: ignore[reportArgumentType]
            inner=self.kernel.init(point),
            infos=jax.tree.map(self._rows, self.kernel.blank_info(point)),
            positions=replace(rows, free=free),
            halves=halves,
            replica=replica,
            is_from_prior=np.broadcast_to(no, (self.temperatures,)),  # pyright: ignore[reportArgumentType]
            chance=np.zeros(self.temperatures - 1, dtype),  # pyright: ignore[reportArgumentType]
            stats=np.zeros(len(self.stats), dtype),  # pyright: ignore[reportArgumentType]
        )

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        rungs = self._rows
        free = rungs(point.position.free)
        zeros: Any = np.zeros(self.temperatures, free.dtype)
        seen = Rungs(jax.tree.map(rungs, self.kernel.blank_info(point)), free, zeros[1:])
        return replace(super().blank_info(point), seen=seen)

    def _rows(self, leaf: Any) -> Any:
        return np.broadcast_to(leaf, (self.temperatures, *np.shape(leaf)))

    def ask(
        self, key: UInt32[Array, " 2"], state: TemperedState, tuning: LadderTuning, rarely: Rarely
    ) -> tuple[Position, _Pending]:
        """See `AbstractKernel.ask`: where the kernel asks, in the turn of a rung."""
        here, is_fresh = state.point.position, state.is_fresh
        first = jnp.where(tuning.is_probe, tuning.probed, 0).astype(jnp.int32)
        rung = jnp.where(is_fresh, first, state.rung)
        begins = is_fresh | (state.is_beginning & (state.turn == _EXPLORE))

        def begin(_: Any) -> tuple[Array, Point]:
            is_elsewhere = ~_are_equal(_row(state.positions, self.temperatures - 1), here)
            turn = jnp.where(is_fresh & is_elsewhere, _PLACE, _EXPLORE).astype(jnp.int32)
            return turn, self._point_on(state, rung, tuning)

        turn, at = rarely(begins, begin, (state.turn, state.inner.point))
        is_turn = turn == _EXPLORE
        inner = replace(state.inner, point=at, is_fresh=is_turn & (begins | state.inner.is_fresh))
        wanted, asked = self.kernel.ask(_key(key, rung), inner, tuning.of_rung(rung), rarely)
        position = where(is_turn, wanted, inner.point.position)
        position = replace(position, free=position.free * tuning.scales[rung])
        position = where(turn == _PLACE, here, position)
        return position, _Pending(rung, turn, inner, wanted, asked)

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: TemperedState,
        point: Point,
        pending: _Pending,
        tuning: LadderTuning,
        rarely: Rarely,
    ) -> tuple[TemperedState, Info]:
        """See `AbstractKernel.tell`."""
        rung, turn, old = pending.rung, pending.turn, pending.inner
        assert point.halves is not None
        halves, scale = point.halves, tuning.scales[rung]

        def explore(_: Any) -> tuple[Any, Info]:
            seen = _tempered(halves, pending.wanted, tuning.powers[rung], scale)
            return self.kernel.tell(_key(key, rung), old, seen, pending.asked, tuning.of_rung(rung), rarely)

        is_turn = turn == _EXPLORE
        inner, info = rarely(is_turn, explore, (old, _row(state.infos, rung)))
        has_moved = is_turn & info.is_complete
        state = replace(state, rung=rung, turn=turn, inner=inner, is_fresh=jnp.zeros((), bool))
        state = replace(state, is_beginning=~is_turn)
        # All else happens a few times a draw.
        after = rarely(
            has_moved | ~is_turn,
            lambda state: self._after_turn(key, state, info, point, tuning, rarely),
            state,
        )
        cold = _row(after.infos, self.temperatures - 1)
        seen = Rungs(after.infos, after.positions.free, after.chance)
        return after, Info(after.is_fresh, cold.acceptance, cold.ending, after.stats, seen)

    def _after_turn(
        self,
        key: Any,
        state: TemperedState,
        info: Info,
        point: Point,
        tuning: LadderTuning,
        rarely: Rarely,
    ) -> TemperedState:
        """Return the state after an evaluation by which the kernel has moved a replica, or which it did not ask for."""
        rung, turn, inner, last = state.rung, state.turn, state.inner, self.temperatures - 1
        has_moved, scale, is_probe = turn == _EXPLORE, tuning.scales[rung], jnp.asarray(tuning.is_probe)
        there = replace(inner.point.position, free=inner.point.position.free * scale)
        # Where the replica has stood, and where the target was evaluated just now, both halves are known.
        is_known = _are_equal(there, point.position)
        is_still = _are_equal(there, _row(state.positions, rung))
        closes_next = has_moved & ~is_probe & ~is_known & ~is_still
        is_done = (has_moved & ~closes_next) | (turn == _CLOSE)
        new = (point.position, point.halves)
        is_kept = is_done & ~is_probe & ((is_known & ~is_still) | (turn == _CLOSE))
        rows = (state.positions, state.halves)
        rows = rarely(is_kept, lambda rows: _with_row(rows, rung, new), rows)
        rows = rarely(turn == _PLACE, lambda rows: jax.tree.map(_everywhere, rows, new), rows)
        tried = replace(inner.last_evaluated, free=inner.last_evaluated.free * scale)
        is_complete = is_done & (is_probe | (rung == last))
        state = replace(
            state,
            is_fresh=is_complete,
            tried=where(has_moved & (rung == last), tried, state.tried),
            rung=rung + is_done,
            turn=jnp.where(closes_next, _CLOSE, _EXPLORE).astype(jnp.int32),
            is_beginning=~closes_next,
            infos=where(has_moved, _with_row(state.infos, rung, info), state.infos),
            positions=rows[0],
            halves=rows[1],
        )
        is_end = is_complete & ~is_probe
        return rarely(is_end, lambda state: self._after_draw(key, state, tuning), state)

    def _after_draw(self, key: Any, state: TemperedState, tuning: LadderTuning) -> TemperedState:
        """Return the state after all replicas have moved: neighbours trade places."""
        last, heights = self.temperatures - 1, state.halves.log_density[:, 1]
        pairs, rungs = jnp.arange(last, dtype=jnp.uint32), jnp.arange(self.temperatures)
        log_ratio = jnp.diff(tuning.powers) * (heights[:-1] - heights[1:])
        chance = jnp.exp(jnp.minimum(jnp.where(jnp.isnan(log_ratio), -jnp.inf, log_ratio), 0))
        u = keys.uniform(_key(key, self.temperatures), pairs, jnp.uint32(_SWAP), heights.dtype)
        trades = (u < chance) & (pairs % 2 == tuning.parity)
        goes_up = jnp.concatenate([trades, jnp.zeros(1, bool)])
        goes_down = jnp.roll(goes_up, 1)
        positions, halves, replica = jax.tree.map(
            lambda rows: _traded(rows, goes_up, goes_down), (state.positions, state.halves, state.replica)
        )
        is_from_prior = state.is_from_prior | (rungs == replica[0])
        arrives = is_from_prior[replica[-1]]
        own = jnp.stack([jnp.mean(chance), arrives.astype(heights.dtype)])
        at_last: Halves = _row(halves, last)
        (prior, likelihood), (by_prior, by_likelihood) = at_last.log_density, at_last.gradient
        return replace(
            state,
            point=Point(_row(positions, last), prior + likelihood, by_prior + by_likelihood),
            positions=positions,
            halves=halves,
            replica=replica,
            is_from_prior=is_from_prior & (rungs != replica[-1]),
            chance=chance,
            stats=jnp.concatenate([_row(state.infos, last).stats, own, heights]),
        )

    def _point_on(self, state: TemperedState, rung: Int[Array, ""], tuning: LadderTuning) -> Point:
        """Return the point of a replica, as the kernel sees it."""
        position, halves, scale = (
            _row(state.positions, rung),
            _row(state.halves, rung),
            tuning.scales[rung],
        )
        own = replace(position, free=position.free / scale)
        return _tempered(halves, own, tuning.powers[rung], scale)


def _tempered(
    halves: Halves, position: Position, power: Float[Array, ""], scale: Float[Array, " dim"]
) -> Point:
    """Return a point of the density prior times likelihood to a power, in scaled coordinates.

    The likelihood of the prior's rung does not count, though it may be zero or no number.
    """
    (prior, likelihood), (by_prior, by_likelihood) = halves.log_density, halves.gradient
    log_density = jnp.where(power == 0, prior, prior + power * likelihood)
    gradient = jnp.where(power == 0, by_prior, by_prior + power * by_likelihood)
    return Point(position, log_density, gradient * scale)


def _everywhere(rows: Array, row: Array) -> Array:
    return jnp.broadcast_to(row, rows.shape)


def _traded(rows: Array, goes_up: Bool[Array, " rung"], goes_down: Bool[Array, " rung"]) -> Array:
    """Return rows, each in the place of the neighbour with which it trades."""
    from_above, from_below = (jnp.expand_dims(each, range(1, rows.ndim)) for each in (goes_up, goes_down))
    kept = jnp.where(from_below, jnp.roll(rows, 1, 0), rows)
    return jnp.where(from_above, jnp.roll(rows, -1, 0), kept)


def _row(tree: Any, number: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, number, keepdims=False), tree)


def _with_row(tree: Any, number: Any, row: Any) -> Any:
    return jax.tree.map(
        lambda leaf, new: jax.lax.dynamic_update_index_in_dim(leaf, jnp.asarray(new, leaf.dtype), number, 0),
        tree,
        row,
    )


def _are_equal(position: Position, other: Position) -> Bool[Array, ""]:
    pairs = zip(jax.tree.leaves(position), jax.tree.leaves(other), strict=True)
    return jnp.all(jnp.stack([added_up((a != b).astype(jnp.int32)) == 0 for a, b in pairs]))


def _key(key: UInt32[Array, " 2"], number: Any) -> UInt32[Array, " 2"]:
    return keys.fold(key, jnp.asarray(number).astype(jnp.uint32))
