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
from .point import Point
from .rarely import Rarely

_MAX_WIDTHS = 20  # of a bracket that steps out
_MAX_SHRINKS = 100

_LEVEL, _OFFSET, _SPLIT, _CANDIDATE = range(4)  # streams of random numbers, by the number of the evaluation

_BEGIN, _LEFT, _RIGHT, _SHRINK = range(4)  # what the next evaluation of a visit is for


@node
class _Visit:
    """What a visit of a coordinate has come to, and the draw that it is of; of shape `()`.

    **Fields**: `coordinate`, its number; `phase`; `level`, the log density that is exceeded inside of the slice; `left`
    and `right`, the ends of its bracket, with the steps out that they have left, `left_room` and `right_room`;
    `num_shrinks`. Of the draw: `num_steps`, evaluations; `num_candidates`, those within brackets; `num_exhausted`,
    visits that were given up; `ending`, the first one that was bad.
    """

    coordinate: Int[Array, ""]
    phase: Int[Array, ""]
    level: Float[Array, ""]
    left: Float[Array, ""]
    right: Float[Array, ""]
    left_room: Int[Array, ""]
    right_room: Int[Array, ""]
    num_shrinks: Int[Array, ""]
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
        zero: Any = np.zeros((), row.dtype)
        count: Any = np.zeros((), np.int32)
        is_fresh: Any = np.ones((), bool)
        visit = _Visit(count, count, zero, zero, zero, *[count] * 7)
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
        u = keys.uniform(key, visit.num_steps.astype(jnp.uint32), streams, visit.left.dtype)
        candidate = visit.left + u * (visit.right - visit.left)
        end = jnp.where(visit.phase == _LEFT, visit.left, visit.right)
        there = jnp.where(visit.phase == _SHRINK, candidate, end)
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
        is_inside = (point.log_density > visit.level) & (ending == Ending.GOOD)
        is_left, is_right, is_candidate = (visit.phase == each for each in (_LEFT, _RIGHT, _SHRINK))
        is_taken, is_refused = is_candidate & is_inside, is_candidate & ~is_inside
        num_shrinks = visit.num_shrinks + is_refused
        is_exhausted = num_shrinks >= _MAX_SHRINKS
        is_done = is_taken | is_exhausted

        steps_left, steps_right = is_left & is_inside, is_right & is_inside
        left = jnp.where(is_refused & (there < here), there, visit.left - jnp.where(steps_left, width, 0))
        right = jnp.where(is_refused & (there >= here), there, visit.right + jnp.where(steps_right, width, 0))
        phase = visit.phase + ((is_left | is_right) & ~is_inside)
        was_good = visit.ending == Ending.GOOD
        after = _Visit(
            coordinate=coordinate + is_done,
            phase=jnp.where(is_done, _BEGIN, phase),
            level=visit.level,
            left=left,
            right=right,
            left_room=visit.left_room - steps_left,
            right_room=visit.right_room - steps_right,
            num_shrinks=num_shrinks,
            num_steps=visit.num_steps + 1,
            num_candidates=visit.num_candidates + is_candidate,
            num_exhausted=visit.num_exhausted + is_exhausted,
            ending=jnp.where(was_good, ending, visit.ending),
        )
        is_complete = after.coordinate >= dim
        taken = rarely(is_taken, lambda _: point, state.point)
        # What shrank to nothing says nothing of the width.
        size = jnp.where(is_exhausted, width, right - left)
        brackets = rarely(is_done, lambda old: _placed(old, coordinate, size), state.brackets)
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
    """Return the visit to go on with: that of the state, or the next one, in the phase that its room leaves it."""
    visit, zero = state.visit, jnp.zeros((), jnp.int32)
    is_fresh, is_new = state.is_fresh, state.is_fresh | (state.visit.phase == _BEGIN)
    coordinate, num_steps = (jnp.where(is_fresh, zero, each) for each in (visit.coordinate, visit.num_steps))
    here, width = (_entry(each, coordinate) for each in (state.point.position.free, widths))
    streams = jnp.array([_LEVEL, _OFFSET, _SPLIT], jnp.uint32)
    counters = jnp.full_like(streams, num_steps.astype(jnp.uint32))
    u_level, u_offset, u_split = keys.uniform(key, counters, streams, here.dtype)
    left = jnp.where(is_new, here - width * u_offset, visit.left)
    room = jnp.floor(_MAX_WIDTHS * u_split).astype(jnp.int32)
    left_room = jnp.where(is_new, room, visit.left_room)
    right_room = jnp.where(is_new, _MAX_WIDTHS - 1 - room, visit.right_room)
    phase = jnp.where(is_new, _LEFT, visit.phase)
    phase = jnp.where((phase == _LEFT) & (left_room == 0), _RIGHT, phase)
    phase = jnp.where((phase == _RIGHT) & (right_room == 0), _SHRINK, phase)
    return _Visit(
        coordinate=coordinate,
        phase=phase,
        level=jnp.where(is_new, state.point.log_density + jnp.log(u_level), visit.level),
        left=left,
        right=jnp.where(is_new, left + width, visit.right),
        left_room=left_room,
        right_room=right_room,
        num_shrinks=jnp.where(is_new, zero, visit.num_shrinks),
        num_steps=num_steps,
        num_candidates=jnp.where(is_fresh, zero, visit.num_candidates),
        num_exhausted=jnp.where(is_fresh, zero, visit.num_exhausted),
        ending=jnp.where(is_fresh, zero, visit.ending),
    )


def _entry(vector: Float[Array, " dim"], index: Int[Array, ""]) -> Float[Array, ""]:
    return jax.lax.dynamic_index_in_dim(vector, index, keepdims=False)


def _placed(vector: Float[Array, " dim"], index: Int[Array, ""], entry: Float[Array, ""]) -> Array:
    return jnp.where(jnp.arange(vector.shape[0]) == index, entry, vector)
