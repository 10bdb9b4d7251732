"""Draw with slices: one coordinate after the other, uniform where the density is above a random level.

A draw visits each coordinate once. A visit steps out from where the chain stands until both ends of a bracket are
outside of the slice, and then takes points of the bracket, which shrinks to each that is outside.
"""

from dataclasses import replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..adaptation.widths import Widths
from ..core import keys
from ..core.options import checks_fields
from ..core.position import Position
from ..core.stats import Ending, Info, Stat
from ..core.tree import node
from .base import ACCEPTANCE_RATE, NUM_STEPS, AbstractKernel, AbstractState, ending_of, stats_of
from .bracket import Bracket
from .point import Point
from .rarely import Rarely

_LEVEL, _OFFSET, _SPLIT, _CANDIDATE = range(4)  # streams of random numbers, by the number of the evaluation


@node
class _Visit:
    """Progress of a visit of a coordinate, and of the draw that it is of; but for the bracket, of shape `()`.

    **Fields**: `coordinate`, its number; `bracket`. Of the draw: `num_steps`, evaluations; `num_candidates`, those
    within brackets; `num_exhausted`, visits that were given up; `ending`, the first one that was bad.
    """

    coordinate: Int[Array, ""]
    bracket: Bracket
    num_steps: Int[Array, ""]
    num_candidates: Int[Array, ""]
    num_exhausted: Int[Array, ""]
    ending: Int[Array, ""]


@node
class SliceState(AbstractState):
    """A chain between two evaluations: `point` has the coordinates that were visited, and `brackets` their sizes."""

    point: Point
    is_fresh: Bool[Array, ""]
    visit: _Visit
    brackets: Float[Array, " dim"]
    tried: Position

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`: of a draw with a bad ending, where that was."""
        return self.tried


@checks_fields
class Slice(AbstractKernel):
    """Slice sampler: one unconstrained coordinate after the other, without a step size to be tuned.

    It follows no gradient. A draw takes five to eight evaluations for each coordinate, and here each of them computes
    the gradient too. Use it for a few parameters with a density of any shape: brackets adapt to the width of each
    place. Coordinates that depend on each other closely make it slow. Prefer `NUTS`.

    A bracket steps out by at most 20 widths, and a visit is given up after 100 points outside of the slice: the
    coordinate stays as it is, and `draws.stats["n_exhausted"]` counts it. `acceptance_rate` is the share of points
    within brackets that were inside of the slice. Warm-up learns the widths (`draws.tuning["width"]`).

    **Source**: Neal (2003), Ann. Statist. 31(3), 705-767, figures 3 and 5.

    **Example**

    >>> infer.sample(eight_schools(sigma, y), infer.Slice(), draws=200, chains=2, quiet=True)
    <Draws of eight_schools: 2 chains x 200 draws; mu, tau, z[8], theta[8]>
    """

    stats: ClassVar[tuple[Stat, ...]] = (ACCEPTANCE_RATE, NUM_STEPS, Stat("n_exhausted", "int32"))

    @property
    def adaptation(self) -> Widths:
        """See `AbstractKernel.adaptation`."""
        return Widths()

    def init(self, point: Point) -> SliceState:
        """See `AbstractKernel.init`."""
        row: Any = np.zeros_like(point.position.free)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        visit = _Visit(count, Bracket.none(row.dtype), *[count] * 4)
        return SliceState(point, is_fresh, visit, row, point.position)

    def blank_info(self, point: Point) -> Info:
        """See `AbstractKernel.blank_info`."""
        return replace(super().blank_info(point), seen=np.zeros_like(point.position.free))

    def ask(
        self, key: Any, state: SliceState, tuning: Float[Array, " dim"], rarely: Rarely
    ) -> tuple[Position, tuple[_Visit, Array]]:
        """See `AbstractKernel.ask`."""
        position = state.point.position
        visit = _begun(key, state, tuning)
        streams = jnp.full_like(visit.num_steps, _CANDIDATE).astype(jnp.uint32)
        u = keys.uniform(key, visit.num_steps.astype(jnp.uint32), streams, position.free.dtype)
        there = visit.bracket.there(u)
        return replace(position, free=_placed(position.free, visit.coordinate, there)), (visit, there)

    def tell(
        self,
        key: Any,
        state: SliceState,
        point: Point,
        pending: tuple[_Visit, Array],
        tuning: Float[Array, " dim"],
        rarely: Rarely,
    ) -> tuple[SliceState, Info]:
        """See `AbstractKernel.tell`."""
        visit, there = pending
        coordinate, dim = visit.coordinate, point.position.free.shape[0]
        here, width = (_entry(each, coordinate) for each in (state.point.position.free, tuning))
        ending = ending_of(point)
        # A comparison with NaN is false: what is no number is outside.
        is_inside = (point.log_density > visit.bracket.level) & (ending == Ending.GOOD)
        bracket, seen = visit.bracket.told(is_inside, there, here, width)
        was_good = visit.ending == Ending.GOOD
        after = _Visit(
            coordinate=coordinate + seen.is_done,
            bracket=bracket,
            num_steps=visit.num_steps + 1,
            num_candidates=visit.num_candidates + seen.is_candidate,
            num_exhausted=visit.num_exhausted + seen.is_exhausted,
            ending=jnp.where(was_good, ending, visit.ending),
        )
        is_complete = after.coordinate >= dim
        taken = rarely(seen.is_taken, lambda _: point, state.point)
        # What shrank to nothing says nothing of the width.
        size = jnp.where(seen.is_exhausted, width, bracket.right - bracket.left)
        brackets = rarely(seen.is_done, lambda old: _placed(old, coordinate, size), state.brackets)
        tried = jnp.where(was_good, point.position.free, state.tried.free)
        rate = (dim - after.num_exhausted) / jnp.maximum(after.num_candidates, 1).astype(width.dtype)
        info = Info(
            is_complete,
            rate,
            after.ending,
            stats_of(rate, after.num_steps, after.num_exhausted),
            seen=brackets,
        )
        return SliceState(taken, is_complete, after, brackets, replace(point.position, free=tried)), info


def _begun(key: Any, state: SliceState, widths: Float[Array, " dim"]) -> _Visit:
    """Return the visit to go on with: that of the state, or the next one."""
    visit, zero = state.visit, jnp.zeros((), jnp.int32)
    is_fresh = state.is_fresh
    coordinate, num_steps = (jnp.where(is_fresh, zero, each) for each in (visit.coordinate, visit.num_steps))
    here, width = (_entry(each, coordinate) for each in (state.point.position.free, widths))
    streams = jnp.array([_LEVEL, _OFFSET, _SPLIT], jnp.uint32)
    counters = jnp.full_like(streams, num_steps.astype(jnp.uint32))
    u_level, u_offset, u_split = keys.uniform(key, counters, streams, here.dtype)
    level = state.point.log_density + jnp.log(u_level)
    return _Visit(
        coordinate=coordinate,
        bracket=visit.bracket.begun(is_fresh | visit.bracket.is_new, here, width, level, u_offset, u_split),
        num_steps=num_steps,
        num_candidates=jnp.where(is_fresh, zero, visit.num_candidates),
        num_exhausted=jnp.where(is_fresh, zero, visit.num_exhausted),
        ending=jnp.where(is_fresh, zero, visit.ending),
    )


def _entry(vector: Float[Array, " dim"], index: Int[Array, ""]) -> Float[Array, ""]:
    return jax.lax.dynamic_index_in_dim(vector, index, keepdims=False)


def _placed(vector: Float[Array, " dim"], index: Int[Array, ""], entry: Float[Array, ""]) -> Array:
    return jnp.where(jnp.arange(vector.shape[0]) == index, entry, vector)
