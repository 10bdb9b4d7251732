"""Draw with an ensemble of walkers, of which each moves along directions between others.

One walker is the chain, and its moves are the draws. To report the moves of all walkers was tried: draws of different
walkers hardly depend on each other, though all walkers together move slowly. For a standard normal of five dimensions,
effective sample sizes were 1.5 times too large with walkers in random order, and 60 times in a fixed order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..adaptation.walkers import Walkers, WalkersTuning
from ..core import keys
from ..core.errors import OptionError, suggest
from ..core.options import checks_fields, positive_count
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import where
from .base import (
    ACCEPTANCE_RATE,
    NUM_STEPS,
    AbstractKernel,
    acceptance_of,
    ending_of,
    stats_of,
)
from .bracket import Bracket
from .moves import add_difference, chosen, start_near, stretch, two_others
from .places import Places
from .point import Point
from .rarely import Rarely
from .walkers import EnsembleState, SoFar, row_of, walker_at

Move = Literal["stretch", "differential", "slice"]

_MOVES: tuple[Move, ...] = ("stretch", "differential", "slice")

_MAX_TRIES = 50  # for a place of a walker: the last ones are next to the start

# Streams of random numbers by the number of the move; candidates of slices, and places, by that of the evaluation.
_WHO, _FIRST, _SECOND, _KIND, _SIZE, _JITTER, _LEVEL, _OFFSET, _SPLIT, _ACCEPT = range(10)
_CANDIDATE, _NOISE = 10, 16


@dataclass(frozen=True)
class _Asked:
    """An evaluation that was asked for.

    **Fields**: `state`, begun; `who` moves, and from where, `here`; `bracket` of its slice, and the place on that;
    otherwise the logarithm of the factor of its acceptance ratio, and the uniform number that decides.
    """

    state: EnsembleState
    is_placing: Bool[Array, ""]
    who: Int[Array, ""]
    here: Point
    is_slice: Bool[Array, ""]
    bracket: Bracket
    along: Float[Array, ""]
    log_factor: Float[Array, ""]
    u_accept: Float[Array, ""]


@checks_fields
class Ensemble(AbstractKernel):
    """Affine-invariant ensemble of walkers: a move of one walker goes along directions between others.

    For up to about ten parameters whose scales and correlations are unknown, and a density whose gradient says nothing.
    Prefer `NUTS`: an independent draw of five parameters takes about 75 draws by stretches and 20 by differences, and
    of thirty 1300 and 180. Gradients are computed too; no walker moves to where one is not finite.

    **What a draw is.** Each chain is an ensemble of its own, and its draws are those of one walker, always the same.
    For each draw, another walker moves too, and in warm-up all of them. So effective sample sizes and R-hat are those
    of any chain. Where all walkers are reported, as in emcee and NumPyro, draws of different walkers are dependent.

    **Fields**
    - `moves`: the kind of moves, or a mapping from kinds to probabilities. `"stretch"`: the stretch move of emcee.
      `"differential"`: differential evolution, which takes the fewest evaluations for a normal distribution. `"slice"`:
      slices along differences, the move of zeus and NumPyro's `ESS`, about five evaluations each, whose size warm-up
      learns.
    - `walkers`: how many each chain has, at least 4 and at least twice as many as parameters; None for four times as
      many, at least 8.

    Walkers start about the starting point of their chain, with a standard deviation of at most 1, unconstrained. Those
    whose log density is not finite start nearer. So all may start in one mode: slices find others best.

    **Raises** `OptionError` for moves that are unknown, probabilities that do not sum to 1, and too few walkers.

    **Source**: Goodman & Weare (2010), Comm. App. Math. Comp. Sci. 5(1); ter Braak (2006), Statistics and Computing
    16(3); Karamanis & Beutler (2021), Statistics and Computing 31(5).

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.Ensemble(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    has_memory: ClassVar[bool] = True
    moves: tuple[tuple[Move, float], ...] = eqx.field(static=True)
    walkers: int | None = eqx.field(static=True)

    def __init__(
        self,
        moves: Move | Mapping[Move, float] | tuple[tuple[Move, float], ...] = "stretch",
        *,
        walkers: int | None = None,
    ):
        shares = _shares_of(moves)
        self.moves = tuple((move, shares[move]) for move in _MOVES if move in shares)
        self.walkers = None if walkers is None else positive_count("Ensemble: walkers", walkers, 4, 2**20)

    @property
    def stats(self) -> tuple[Stat, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Statistics of a draw, means and sums over its moves."""
        return (ACCEPTANCE_RATE, NUM_STEPS, *[Stat("n_exhausted", "int32")] * self._has_slices)

    @property
    def adaptation(self) -> Walkers:
        """See `AbstractKernel.adaptation`."""
        return Walkers(self._has_slices)

    @property
    def _has_slices(self) -> bool:
        return "slice" in dict(self.moves)

    def placed(self, places: Places) -> "Ensemble":
        """See `AbstractKernel.placed`."""
        super().placed(places)
        dim = max((each.stop for each in places.free), default=0)
        if self.walkers is not None and self.walkers < 2 * dim:
            raise OptionError(
                f"Ensemble: {self.walkers} walkers are too few for a posterior of {dim} dimensions, which takes "
                f"{2 * dim} at least. Leave walkers= out for {_usual_walkers(dim)}."
            )
        return self

    def described(self) -> dict[str, Any]:
        """See `AbstractKernel.described`."""
        return {"name": type(self).__name__, "moves": dict(self.moves), "walkers": self.walkers}

    def init(self, point: Point) -> EnsembleState:
        """See `AbstractKernel.init`."""
        dim, dtype = len(point.position.free), point.position.free.dtype
        others: Any = np.zeros((self.walkers or _usual_walkers(dim), 2 * dim + 1), dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        return EnsembleState(
            point, is_fresh, point.position, others, count, count, Bracket.none(dtype), SoFar.none(dtype)
        )

    def ask(
        self, key: Any, state: EnsembleState, tuning: WalkersTuning, rarely: Rarely
    ) -> tuple[Position, _Asked]:
        """See `AbstractKernel.ask`."""
        state, own = state.begun, state.point
        others, so_far, dtype = state.others, state.so_far, state.others.dtype
        num_others, num_walkers = others.shape[0] - 1, others.shape[0]
        u = _uniforms(key, so_far.num_moves, dtype)
        # The chain's own walker comes last, and has the number after those of the others.
        is_own = so_far.num_moves >= jnp.where(tuning.is_warmup, num_others, 1)
        who = jnp.where(is_own, num_others, chosen(u[_WHO], num_others))
        here = walker_at(others, own, who)
        first, second = (
            walker_at(others, own, each).position.free
            for each in two_others(who, u[_FIRST], u[_SECOND], num_walkers)
        )
        start, kind, is_slice = here.position.free, self._kind(u[_KIND]), jnp.zeros((), bool)
        there, log_factor, along = start, jnp.zeros((), dtype), jnp.zeros((), dtype)
        bracket = state.bracket
        for number, (move, _) in enumerate(self.moves):
            is_it = kind == number
            if move == "stretch":
                place, factor = stretch(start, first, u[_SIZE])
                log_factor = jnp.where(is_it, factor, log_factor)
            elif move == "differential":
                place = add_difference(start, first, second, u[_SIZE], u[_JITTER])
            else:
                is_slice = is_it
                level = here.log_density + jnp.log(u[_LEVEL])
                bracket = bracket.begun(bracket.is_new, 0.0, 1.0, level, u[_OFFSET], u[_SPLIT])
                along = bracket.there(
                    keys.uniform(key, _unsigned(so_far.num_steps), _unsigned(_CANDIDATE), dtype)
                )
                place = start + along * tuning.size * (first - second)
            there = jnp.where(is_it, place, there)
        is_placing = state.num_placed < num_others

        def placed(_: Any) -> Any:
            noise = keys.normal(key, len(start), _NOISE + _unsigned(so_far.num_steps), dtype)
            return start_near(own, noise, state.num_tries)

        there = rarely(is_placing, placed, there)
        asked = _Asked(state, is_placing, who, here, is_slice, bracket, along, log_factor, u[_ACCEPT])
        return replace(own.position, free=there), asked

    def tell(
        self,
        key: Any,
        state: EnsembleState,
        point: Point,
        pending: _Asked,
        tuning: WalkersTuning,
        rarely: Rarely,
    ) -> tuple[EnsembleState, Info]:
        """See `AbstractKernel.tell`."""
        state, own, is_placing, who = pending.state, pending.state.point, pending.is_placing, pending.who
        ending, so_far, spare = ending_of(point), state.so_far, state.others.shape[0] - 1
        is_good = ending == Ending.GOOD
        log_ratio = point.log_density - pending.here.log_density + pending.log_factor
        rate = jnp.where(is_good & ~jnp.isnan(log_ratio), acceptance_of(log_ratio), 0)
        is_taken, is_done, bracket = pending.u_accept < rate, ~is_placing, state.bracket
        num_out, num_refused, num_exhausted = so_far.num_out, so_far.num_refused, so_far.num_exhausted
        if self._has_slices:
            is_slice = pending.is_slice & ~is_placing
            # A comparison with NaN is false: what is no number is outside.
            is_inside = (point.log_density > pending.bracket.level) & is_good
            after, seen = pending.bracket.told(is_inside, pending.along, 0.0, 1.0)
            bracket = where(is_slice, after, bracket)
            of_slice = jnp.where(seen.is_taken, 1 / (after.num_shrinks + 1).astype(rate.dtype), 0)
            rate = jnp.where(is_slice, of_slice, rate)
            is_taken = jnp.where(is_slice, seen.is_taken, is_taken)
            is_done = jnp.where(is_slice, seen.is_done, is_done)
            num_out = num_out + (is_slice & seen.is_step)
            num_refused = num_refused + (is_slice & seen.is_candidate & ~seen.is_taken)
            num_exhausted = num_exhausted + (is_slice & seen.is_exhausted)

        is_usable = is_good & jnp.isfinite(point.log_density)
        is_placed = is_placing & (is_usable | (state.num_tries + 1 >= _MAX_TRIES))
        index = jnp.where(is_placing, state.num_placed, who)
        is_put = jnp.where(is_placing, is_placed, is_taken & is_done & (who < spare))
        new = where(is_placing & ~is_usable, own, point)
        others = rarely.put(is_put, state.others, index, row_of(new))
        is_complete = is_done & (who == spare)
        moved = rarely(is_complete & is_taken, lambda _: point, own)

        was_good = so_far.ending == Ending.GOOD
        after = SoFar(
            num_moves=so_far.num_moves + is_done,
            num_steps=so_far.num_steps + 1,
            acceptance=so_far.acceptance + jnp.where(is_done, rate, 0),
            num_out=num_out,
            num_refused=num_refused,
            num_exhausted=num_exhausted,
            ending=jnp.where(was_good & ~is_placing, ending, so_far.ending),
        )
        mean = after.acceptance / jnp.maximum(after.num_moves, 1).astype(rate.dtype)
        stats = (after.num_steps, *[after.num_exhausted] * self._has_slices)
        info = Info(
            is_complete,
            mean,
            jnp.where(is_placing, ending, after.ending),
            stats_of(mean, *stats),
            seen=(after.num_out, after.num_refused),
        )
        tried = jnp.where(was_good, point.position.free, state.tried.free)
        none: Any = SoFar.none(rate.dtype)
        next_state = EnsembleState(
            point=moved,
            # A fresh ensemble would place its walkers anew.
            is_fresh=jnp.zeros((), bool),
            tried=replace(point.position, free=tried),
            others=others,
            num_placed=state.num_placed + is_placed,
            num_tries=jnp.where(is_placing & ~is_placed, state.num_tries + 1, 0),
            bracket=bracket,
            so_far=where(is_complete, none, after),
        )
        return next_state, info

    def _kind(self, u: Float[Array, ""]) -> Int[Array, ""]:
        """Choose the kind of a move, by its number among those of the ensemble."""
        ends = np.cumsum([share for _, share in self.moves])[:-1]
        return jnp.sum(u >= jnp.asarray(ends, u.dtype)).astype(jnp.int32)


def _usual_walkers(dim: int) -> int:
    return max(4 * dim, 8)


def _unsigned(number: Any) -> Array:
    return jnp.asarray(number).astype(jnp.uint32)


def _uniforms(key: Any, move: Int[Array, ""], dtype: Any) -> Float[Array, " stream"]:
    """Draw all uniform numbers of a move."""
    streams = jnp.arange(_CANDIDATE, dtype=jnp.uint32)
    return keys.uniform(key, jnp.full_like(streams, _unsigned(move)), streams, dtype)


def _shares_of(moves: Any) -> Mapping[Any, float]:
    """Return kinds of moves with their probabilities, or raise `OptionError`."""
    shares = {moves: 1.0} if isinstance(moves, str) else moves
    if isinstance(shares, tuple):  # as `dataclasses.replace` gives them
        shares = dict(shares)
    known = ", ".join(map(repr, _MOVES))
    if not isinstance(shares, Mapping) or not shares:
        raise OptionError(
            f"Ensemble: moves must be one of {known}, or a mapping from these to probabilities; got {moves!r}."
        )
    for move, share in shares.items():
        if move not in _MOVES:
            hint = suggest(move, _MOVES) if isinstance(move, str) else ""
            raise OptionError(f"Ensemble: there is no move {move!r}.{hint} Moves are {known}.")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise OptionError(f"Ensemble: probabilities must lie in (0, 1], got {share!r}.")
    total = sum(shares.values())
    if abs(total - 1) > 1e-6:
        raise OptionError(f"Ensemble: the probabilities must sum to 1, and sum to {total:g}.")
    return {move: float(share) for move, share in shares.items()}
