"""Climb a function by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

Like a kernel, the search never sees the function: it asks where to evaluate, and is told what is there. So climbs side
by side share one copy of the gradient and do not wait for each other's line searches. The same arithmetic runs on the
host (NumPy), there for one climb or for many, whose arrays then have an axis of climbs in front, and inside compiled
programs (JAX).

**Source**: Nocedal & Wright (2006), Numerical Optimization, Algorithm 7.4, for the direction; Lewis & Overton (2013),
Math. Program. 141, 135-163, Algorithm 2.6, for the bisection that ends where both of Wolfe's weak conditions hold; the
fast growth of steps that are much too short is our own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.tree import node

_MAX_TRIES = 30  # points along a line
_RISE, _SLOPE = 1e-4, 0.9  # Wolfe's constants

PATIENCE = 6
"""Lines in a row that promise too little, after which a climb to a peak ends.

Along a ridge of a density whose scales differ by 1e5, one or two lines often do, by what the last moves have shown of
the curvature, and the climb would end far from the peak.
"""


@node
class Point:
    """A point of a climb: `position` and `gradient`, shape `(dim,)`; `log_density`, its height, shape `()`."""

    position: Any
    log_density: Any
    gradient: Any


@node
class LBFGSState:
    """State of a climb between two evaluations; arrays of NumPy or JAX, of the shapes below for one climb.

    **Fields**
    - `point`: the highest one so far, `position` and `gradient` of shape `(dim,)`.
    - `direction`, shape `(dim,)`; `step`, `low`, `high`: the line that is searched, which is to end between `low` and
      `high`.
    - `moves`, `turns`: shape `(memory, dim)`, newest last: changes of the position, and falls of the gradient; zero
      where there are none yet.
    - `promise`: expected gain of the line, by the curvature that is known; infinite if none is.
    - `num_tries`: points evaluated along the line; `num_lines`: lines that are done; `num_flat`: lines in a row that
      promised too little.
    - `is_settled`: another line would gain too little. `is_over`: it is settled, or failed.
    """

    point: Point
    direction: Any
    step: Any
    low: Any
    high: Any
    moves: Any
    turns: Any
    promise: Any
    num_tries: Any
    num_lines: Any
    num_flat: Any
    is_settled: Any
    is_over: Any


@dataclass(frozen=True)
class LBFGS:
    """Search for a maximum as a resumable state machine.

    **Fields**
    - `memory`: number of moves that tell the curvature, >= 1.
    - `epsilon`: relative rounding error of the function.
    - `gain`: a line promises too little below this, plus what rounding hides; >= 0.
    - `patience`: number of such lines in a row that end the search, >= 1.
    - `longest`: largest change of a coordinate by the first point of a line; > 0. If it is finite, steps that are too
      short grow faster and faster until they reach it, and double beyond it; if it is infinite, they always double.
    """

    memory: int = 10
    epsilon: float = float(np.finfo(np.float64).eps)
    gain: float = 0.0
    patience: int = 1
    longest: float = np.inf

    def init(self, point: Point) -> LBFGSState:
        """Begin at a point; the search is over at once where value or gradient are not finite."""
        xp, (*climbs, dim) = _arrays(point.position), point.position.shape
        zero, count, no = xp.zeros_like(point.log_density), xp.zeros(climbs, np.int32), xp.zeros(climbs, bool)
        empty = xp.zeros((*climbs, self.memory, dim), point.position.dtype)
        direction = _first_step(point.gradient)[..., None] * point.gradient
        unaimed = LBFGSState(
            point, direction, zero, zero, zero, empty, empty, zero, count, count, count, no, no
        )
        state = self._aimed(unaimed, direction, is_finite(point))
        return replace(state, is_over=state.is_over | ~is_finite(point))

    def ask(self, state: LBFGSState) -> Any:
        """Return where to evaluate next, shape `(dim,)`."""
        return state.point.position + state.step[..., None] * state.direction

    def tell(self, state: LBFGSState, point: Point) -> LBFGSState:
        """Take the point that was asked for; its numbers need not be finite."""
        slope = _dot(state.point.gradient, state.direction)
        noise = 4 * self.epsilon * abs(state.point.log_density)
        least = state.point.log_density + _RISE * state.step * slope - noise
        is_higher = is_finite(point) & (point.log_density >= least)
        is_short = is_higher & (_dot(point.gradient, state.direction) > _SLOPE * slope)
        is_last = state.num_tries + 1 >= _MAX_TRIES
        is_taken = is_higher & (~is_short | is_last)
        xp = _arrays(state.step)
        low = xp.where(is_short, state.step, state.low)
        high = xp.where(is_higher, state.high, state.step)
        has_failed = ~is_taken & is_last & (low == 0)
        told = self._looking(state, low, high, is_last)
        if _is_nowhere(is_taken | has_failed):
            return told
        told = _forgetful(self._moved(told, point, is_taken), has_failed)
        return self._aimed(told, _direction(told), (is_taken | has_failed) & ~told.is_over)

    def _looking(self, state: LBFGSState, low: Any, high: Any, is_last: Any) -> LBFGSState:
        """Choose the next point of a line, which is to end between `low` and `high`."""
        xp, middle, longer = _arrays(high), (low + high) / 2, 2 * low
        if self.longest < np.inf:
            # After a gradient of 1e78, a step that is 1e75 times too short looks right. A step that grew by more than
            # four is then halved in its logarithm.
            growth = xp.exp2(xp.minimum(2.0**state.num_tries, 64.0)).astype(low.dtype)
            longer = xp.maximum(longer, xp.minimum(growth * low, self._reach(state.direction)))
            middle = xp.where((low > 0) & (high > 4 * low), xp.sqrt(low) * xp.sqrt(high), middle)
        between = xp.where(xp.isfinite(high), middle, longer)
        # With its tries used up, a search goes back to the last point that was higher.
        step = xp.where(is_last, low, between)
        return replace(state, step=step, low=low, high=high, num_tries=state.num_tries + 1)

    def _reach(self, direction: Any) -> Any:
        """Return the step that moves a coordinate by `longest`."""
        xp = _arrays(direction)
        return self.longest / xp.max(xp.abs(direction), axis=-1)

    def _moved(self, state: LBFGSState, point: Point, is_taken: Any) -> LBFGSState:
        """Stand at a point where it is taken, and remember the move unless the function curves upward along it."""
        xp = _arrays(point.position)
        move = point.position - state.point.position
        turn = state.point.gradient - point.gradient
        is_kept = is_taken & (_dot(move, turn) > self.epsilon * _norm(move) * _norm(turn))

        def added(rows: Any, row: Any) -> Any:
            return _pick(is_kept, xp.concatenate([rows[..., 1:, :], row[..., None, :]], axis=-2), rows)

        old = state.point
        position = _pick(is_taken, point.position, old.position)
        gradient = _pick(is_taken, point.gradient, old.gradient)
        return replace(
            state,
            point=Point(position, xp.where(is_taken, point.log_density, old.log_density), gradient),
            moves=added(state.moves, move),
            turns=added(state.turns, turn),
            num_lines=xp.where(is_taken, state.num_lines + 1, state.num_lines),
        )

    def _aimed(self, state: LBFGSState, direction: Any, is_new: Any) -> LBFGSState:
        """Begin a line where it is to be a new one, and judge what it promises."""
        xp, point = _arrays(direction), state.point
        slope = _dot(point.gradient, direction)
        least = self.gain + 0.01 * self.epsilon**0.5 + 4 * self.epsilon * abs(point.log_density)
        # Without a move nothing is known of scales: a gradient that is small may be so by its units.
        promise = xp.where((state.turns != 0).any((-2, -1)), slope / 2, np.inf)
        num_flat = xp.where(promise <= least, state.num_flat + 1, 0)
        is_settled = (num_flat >= self.patience) | (point.gradient == 0).all(-1)
        return replace(
            state,
            direction=_pick(is_new, direction, state.direction),
            step=xp.where(is_new, xp.minimum(1, self._reach(direction)), state.step),
            low=xp.where(is_new, 0, state.low),
            high=xp.where(is_new, np.inf, state.high),
            promise=xp.where(is_new, promise, state.promise),
            num_tries=xp.where(is_new, 0, state.num_tries),
            num_flat=xp.where(is_new, num_flat, state.num_flat),
            is_settled=is_new & is_settled | state.is_settled,
            is_over=is_new & (is_settled | ~(slope > 0)) | state.is_over,
        )


def _forgetful(state: LBFGSState, has_failed: Any) -> LBFGSState:
    """Forget the moves of a line that failed, since they may mislead where curvature changes.

    The search is over if there is none.
    """
    if _is_nowhere(has_failed):
        return state
    is_lost = has_failed & (state.turns == 0).all((-2, -1))
    moves, turns = (_pick(has_failed, 0 * rows, rows) for rows in (state.moves, state.turns))
    return replace(state, moves=moves, turns=turns, is_over=state.is_over | is_lost)


def _direction(state: LBFGSState) -> Any:
    """Multiply the gradient by the approximate inverse of the curvature that the moves have shown."""
    gradient = state.point.gradient
    xp = _arrays(gradient)
    scan = jax.lax.scan if isinstance(gradient, jax.Array) else _scan
    curved = _dot(state.moves, state.turns)
    factors = xp.where(curved > 0, 1 / xp.where(curved > 0, curved, 1), 0)
    pairs = _columns(state.moves, -2), _columns(state.turns, -2), _columns(factors, -1)

    def back(rest: Any, pair: Any) -> tuple[Any, Any]:
        move, turn, factor = pair
        share = (_dot(move, rest) * factor)[..., None]
        return rest - share * turn, share

    def forth(rest: Any, pair: Any) -> tuple[Any, None]:
        move, turn, factor, share = pair
        return rest + (share - (_dot(turn, rest) * factor)[..., None]) * move, None

    rest, shares = scan(back, gradient, pairs, reverse=True)
    last = state.turns[..., -1, :]
    squared = _dot(last, last)
    known = xp.where(squared > 0, curved[..., -1] / xp.where(squared > 0, squared, 1), 0)
    scale = xp.where((last != 0).any(-1), known, _first_step(gradient))
    return scan(forth, scale[..., None] * rest, (*pairs, shares))[0]


def _first_step(gradient: Any) -> Any:
    """Return the factor of a step of which nothing is known; it is one unit long at most.

    Coordinates are of order one more often than gradients are.
    """
    xp = _arrays(gradient)
    return 1 / xp.maximum(_norm(gradient), 1)


def is_finite(point: Point) -> Any:
    """Return whether value and gradient are finite at a point; NumPy or JAX."""
    xp = _arrays(point.position)
    return xp.isfinite(point.log_density) & xp.isfinite(point.gradient).all(-1)


def _arrays(array: Any) -> Any:
    """Return the library that an array is of."""
    return jnp if isinstance(array, jax.Array) else np


def _dot(first: Any, second: Any) -> Any:
    """Multiply vectors, climb by climb; a climb's number does not depend on those beside it."""
    return jnp.vecdot(first, second) if isinstance(first, jax.Array) else np.vecdot(first, second)


def _norm(vector: Any) -> Any:
    """Return the length of vectors, climb by climb."""
    return _arrays(vector).sqrt(_dot(vector, vector))


def _pick(condition: Any, first: Any, second: Any) -> Any:
    """Choose between two arrays with further axes, for each climb."""
    added = (1,) * (first.ndim - condition.ndim)
    return _arrays(first).where(condition.reshape(condition.shape + added), first, second)


def _is_nowhere(condition: Any) -> bool:
    """Return whether the host sees that a condition holds for no climb."""
    return not isinstance(condition, jax.Array) and not condition.any()


def _columns(array: Any, axis: int) -> Any:
    """Return the parts of an array along an axis, as `scan` takes them; on the host, to move an axis is slow."""
    if isinstance(array, jax.Array):
        return jnp.moveaxis(array, axis, 0)
    after = (slice(None),) * (-1 - axis)
    return [array[(..., n, *after)] for n in range(array.shape[axis])]


def _scan(step: Callable[[Any, Any], Any], carry: Any, columns: Any, reverse: bool = False) -> Any:
    """Do what `jax.lax.scan` does, on the host."""
    rows, results = list(zip(*columns, strict=True)), []
    for row in reversed(rows) if reverse else rows:
        carry, result = step(carry, row)
        results.append(result)
    return carry, results[::-1] if reverse else results
