"""Draw discrete sites given all the rest: at once where tables say how, else one entry after the other."""

from dataclasses import replace
from types import EllipsisType
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from ..adaptation.fixed import Fixed
from ..core import keys
from ..core.errors import OptionError
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node, where
from .base import ACCEPTANCE_RATE, AbstractKernel, AbstractState, acceptance_of, ending_of, stats_of
from .entries import Entries, entries_of, item_at, stepped
from .formula import Draw, Tabled
from .places import AtOnce, Places
from .point import Point
from .rarely import Rarely

# Streams of random numbers within one draw; the counters in them are those of entries and candidates. Draws at once
# have keys of their own, from `_DRAW` on.
_CHOICE, _ACCEPT, _STEP, _KIND, _DRAW = range(5)

_PLAIN = 0.25  # share of visits by plain Gibbs


@node
class DiscreteGibbsState(AbstractState):
    """A chain within a sweep through entries.

    **Fields**
    - `point`: where it stands; `tried`, where it was evaluated last, or where this draw first failed; `ending`, how.
    - `turn`: which draw at once is next or, after them, which entry is visited; `candidate`, which of the entry's other
      values is next.
    - `chosen`: the candidate that is chosen among those so far; `log_total`, the log of their summed weights, and
      `log_rest`, without the weight of the chosen one.
    - `acceptance`: summed over entries, the probability to move, or whether it has moved in a draw at once.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    ending: Int[Array, ""]
    turn: Int[Array, ""]
    candidate: Int[Array, ""]
    chosen: Point
    log_total: Float[Array, ""]
    log_rest: Float[Array, ""]
    acceptance: Float[Array, ""]

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`."""
        return self.tried


@node
class _Asked:
    """An evaluation that was asked for; and of a visit, what is known of the entry."""

    turn: Int[Array, ""]
    candidate: Int[Array, ""]
    counter: UInt32[Array, ""]
    is_last_candidate: Bool[Array, ""]
    is_step: Bool[Array, ""]


@checks_fields
class DiscreteGibbs(AbstractKernel):
    """Gibbs sampling of discrete sites: entries are drawn given all other unknowns, at once where that can be.

    Where the discrete sites of a model could be [summed out](../discrete.md), the same tables give their joint
    distribution given all else. All entries are then drawn from it at once: a thousand labels of three values take a
    few evaluations of the density and not 2,000, and states of a chain are drawn together. This is so for all sites of
    a block together or, where that is not possible, for each that can be drawn given the others; if it takes no more
    log probabilities than visits would; and for at most 8 sites, since tables of many take long to compile.

    Other entries are visited one after the other. Each value that an entry may have is evaluated, so an entry of K
    values takes K - 1 evaluations of the whole density in each draw. Entries without an end, as counts of a Poisson
    distribution, with more than 256 values, or with a support that other unknowns decide, move by steps of 1, 2, 4, ...
    to 128 up or down, which are accepted or refused: one evaluation. For discrete sites beside continuous ones, it is a
    block of `Gibbs`. In `Tempered`, all entries are visited, since tables are those of the posterior.

    **Fields**
    - `is_metropolised`: propose one of the *other* values by their probabilities, and accept it by Metropolis's rule.
      An entry then stays where it is less often than by plain Gibbs. One visit in four, at random, is plain all the
      same: entries whose values are equally probable would otherwise change together at every draw, for ever. Entries
      that are drawn at once are moved so where they are independent given all else; others are drawn exactly.

    `draws.stats["acceptance_rate"]` is the mean probability to move; of entries that are drawn at once, the share that
    has moved.

    **Raises** `OptionError` for a continuous site, and for one whose entries cannot change alone, as counts with a
    given sum.

    **Source**: Geman & Geman (1984), IEEE PAMI 6(6), 721-741; Liu (1996), "Peskun's theorem and a modified
    discrete-state Gibbs sampler", Biometrika 83(3), 681-682.

    **Example**

    >>> @ac.model
    ... def die(y):
    ...     face = ac.sample("face", dist.DiscreteUniform(1, 6))
    ...     ac.sample("y", dist.Normal(face, 1.0), obs=y)
    >>> infer.sample(die(2.2), infer.DiscreteGibbs(), draws=200, chains=2, quiet=True)
    <Draws of die: 2 chains x 200 draws; face>
    """

    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE,)
    whole_if_discrete: ClassVar[tuple[str, ...] | EllipsisType] = ...
    is_discrete: ClassVar[bool] = True

    is_metropolised: bool = eqx.field(static=True, default=True, kw_only=True)
    places: Places | None = eqx.field(static=True, default=None, kw_only=True)
    draws: tuple[Draw, ...] = eqx.field(static=True, default=(), kw_only=True)

    def __check_init__(self) -> None:
        if not isinstance(self.is_metropolised, bool):
            raise OptionError(
                f"DiscreteGibbs: is_metropolised must be True or False, got {self.is_metropolised!r}."
            )

    def placed(self, places: Places) -> "DiscreteGibbs":
        """See `AbstractKernel.placed`."""
        for each in places.free:
            raise OptionError(
                f"DiscreteGibbs: site {each.name!r} is continuous. Give it to a kernel of its own, as by "
                f"`infer.Gibbs({{{each.name!r}: infer.NUTS(), ...: infer.DiscreteGibbs()}})`."
            )
        entries_of("DiscreteGibbs", places)
        return replace(self, places=replace(places, tabled=_apart(places.tabled)))

    @property
    def at_once(self) -> tuple[tuple[str, ...], ...]:
        """See `AbstractKernel.at_once`: all sites together."""
        return (self._placed.names,)

    @property
    def formulas(self) -> tuple[Tabled, ...]:
        """See `AbstractKernel.formulas`: the tables of sites that are drawn at once."""
        return tuple(Tabled(each.names, each.redraw, self.is_metropolised) for each in self._placed.tabled)

    def bound(self, draws: tuple[Draw, ...]) -> "DiscreteGibbs":
        """See `AbstractKernel.bound`."""
        return replace(self, draws=draws)

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {"name": type(self).__name__, "is_metropolised": self.is_metropolised}

    @property
    def adaptation(self) -> Fixed:
        """See `AbstractKernel.adaptation`."""
        return Fixed()

    @property
    def _placed(self) -> Places:
        assert self.places is not None, "a kernel of discrete sites is placed before its run"
        return self.places

    @property
    def _entries(self) -> Entries:
        """Entries that are visited."""
        return entries_of("DiscreteGibbs", self._placed).without(self._placed.tabled_numbers)

    @property
    def _num_draws(self) -> int:
        return len(self._placed.tabled)

    def init(self, point: Point) -> DiscreteGibbsState:
        """See `AbstractKernel.init`."""
        is_fresh: Any = np.ones((), bool)
        zero: Any = np.zeros((), point.position.free.dtype)
        count: Any = np.int32(0)
        # In a turn of another block before the first one of this, nothing is drawn.
        turn: Any = np.int32(self._num_draws + len(self._entries.entry))
        return DiscreteGibbsState(
            point, is_fresh, point.position, count, turn, count, point, zero, zero, zero
        )

    def ask(
        self, key: UInt32[Array, " 2"], state: DiscreteGibbsState, tuning: None, rarely: Rarely
    ) -> tuple[Position, _Asked]:
        """See `AbstractKernel.ask`: a draw at once, the next other value of an entry, or the end of a step."""
        turn = jnp.where(state.is_fresh, 0, state.turn)
        candidate = jnp.where(state.is_fresh, 0, state.candidate)
        asked, pending = self._visited(key, state.point.position, turn, candidate)
        for number, draw in enumerate(self.draws):
            words = keys.fold(key, jnp.uint32(_DRAW + number))
            asked = rarely(
                turn == number, lambda _, draw=draw, words=words: draw(state.point.position, words), asked
            )
        return asked, pending

    def _visited(
        self, key: UInt32[Array, " 2"], position: Position, turn: Int[Array, ""], candidate: Int[Array, ""]
    ) -> tuple[Position, _Asked]:
        """Return where to evaluate in the visit of an entry."""
        entries, whole = self._entries, position.whole
        assert whole is not None
        if not len(entries.entry):
            return position, _Asked(turn, candidate, jnp.uint32(0), jnp.ones((), bool), jnp.zeros((), bool))
        entry, low, high, first, count, is_step = entries.at(turn - self._num_draws)
        now = item_at(whole, entry)
        counter = (first + candidate).astype(jnp.uint32)
        u_size, u_way = keys.uniforms(key, counter, jnp.uint32(_STEP), position.free.dtype)
        value = jnp.where(is_step, stepped(now, low, high, u_size, u_way), low + candidate)
        value = value + (~is_step & (value >= now))  # the values in their order, without the present one
        asked = jnp.where(jnp.arange(whole.shape[0]) == entry, value, whole).astype(whole.dtype)
        return replace(position, whole=asked), _Asked(
            turn, candidate, counter, candidate + 1 >= count, is_step
        )

    def tell(
        self,
        key: UInt32[Array, " 2"],
        state: DiscreteGibbsState,
        point: Point,
        pending: _Asked,
        tuning: None,
        rarely: Rarely,
    ) -> tuple[DiscreteGibbsState, Info]:
        """See `AbstractKernel.tell`."""
        dtype, num_draws, num_visits = point.log_density.dtype, self._num_draws, len(self._entries.entry)
        here, ending = state.point.log_density, ending_of(point)
        is_first, nothing = pending.candidate == 0, jnp.asarray(-jnp.inf, dtype)
        weight = jnp.where(ending == Ending.GOOD, point.log_density, nothing)
        before = jnp.where(is_first, nothing, state.log_total)
        # Choose among the candidates as they come, each in proportion to its weight.
        total = jnp.logaddexp(before, weight)
        u_choice, u_accept = (
            keys.uniform(key, pending.counter, jnp.uint32(stream), dtype) for stream in (_CHOICE, _ACCEPT)
        )
        is_chosen = is_first | (jnp.log(u_choice) < weight - total)
        log_rest = jnp.where(
            is_chosen, before, jnp.logaddexp(jnp.where(is_first, nothing, state.log_rest), weight)
        )
        chosen = where(is_chosen, point, state.chosen)

        is_plain = ~pending.is_step
        if self.is_metropolised:
            is_plain &= keys.uniform(key, pending.counter, jnp.uint32(_KIND), dtype) < _PLAIN
        # The chosen one's others are the rest and the present value: their sum is not a difference, which would cancel.
        log_others = jnp.logaddexp(jnp.where(is_plain, total, log_rest), here)
        ratio = acceptance_of(jnp.where(total == -jnp.inf, nothing, total - log_others))
        is_over = pending.is_last_candidate
        is_taken = is_over & (u_accept < ratio)
        gained = jnp.where(is_over, ratio, 0)
        if num_draws:
            is_draw = pending.turn < num_draws
            # A draw is possible by its table; where the log density says otherwise, rounding has led astray.
            is_impossible = is_draw & (point.log_density == -jnp.inf)
            ending = jnp.where(is_impossible, Ending.LOG_DENSITY, ending).astype(jnp.int32)
            is_good = ending == Ending.GOOD
            num_moved = jnp.sum(_whole(point) != _whole(state.point)).astype(dtype)
            is_over |= is_draw
            is_taken = jnp.where(is_draw, is_good, is_taken)
            gained = jnp.where(is_draw, jnp.where(is_good, num_moved, 0), gained)
            chosen = where(is_draw, point, chosen)
        taken = where(is_taken, chosen, state.point)

        turn = pending.turn + is_over
        is_complete = turn == num_draws + num_visits
        summed = jnp.where(state.is_fresh, 0, state.acceptance) + gained
        former = jnp.where(state.is_fresh, Ending.GOOD, state.ending).astype(jnp.int32)
        worst = jnp.where(former == Ending.GOOD, ending, former)
        new = DiscreteGibbsState(
            taken,
            is_complete,
            where(former == Ending.GOOD, point.position, state.tried),
            worst,
            turn,
            jnp.where(is_over, 0, pending.candidate + 1),
            chosen,
            total,
            log_rest,
            summed,
        )
        rate = summed / len(entries_of("DiscreteGibbs", self._placed).entry)
        return new, Info(is_complete, rate, worst, stats_of(rate))


def _whole(point: Point) -> Int[Array, " count"]:
    whole = point.position.whole
    assert whole is not None
    return whole


def _apart(sets: tuple[AtOnce, ...]) -> tuple[AtOnce, ...]:
    """Return sets that have no site in common: the largest ones, if some are of other kernels."""
    found: list[AtOnce] = []
    for each in sorted(sets, key=lambda each: -len(each.names)):
        if all(set(each.names).isdisjoint(other.names) for other in found):
            found.append(each)
    return tuple(found)
