"""Climb a function by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

Like a kernel, the search never sees the function: it asks where to evaluate, and is told what is there. So climbs side
by side share one copy of the gradient and do not wait for each other's line searches. The same arithmetic runs on the
host (NumPy), there for one climb or for many, whose arrays then have an axis of climbs in front, and inside compiled
programs (JAX).

**Source**: Nocedal & Wright (2006), Numerical Optimization, Algorithm 7.4, for the direction; Lewis & Overton (2013),
Math. Program. 141, 135-163, Algorithm 2.6, for the bisection that ends where both of Wolfe's weak conditions hold.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ..core.tree import node, where

T = TypeVar("T")

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
    - `longest`: largest change of a coordinate by the first point of a line; > 0.
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
        state, is_usable = self._aimed(unaimed, direction), is_finite(point)
        return replace(state, is_settled=state.is_settled & is_usable, is_over=state.is_over | ~is_usable)

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
        low = _pick(is_short, state.step, state.low)
        has_failed = ~is_taken & is_last & (low == 0)
        ended = _either(is_taken, lambda: self._moved(state, point), lambda: _forgetful(state))
        return _either(
            is_taken | has_failed,
            lambda: _either(ended.is_over, lambda: ended, lambda: self._aimed(ended, _direction(ended))),
            lambda: _looking(state, low, _pick(is_higher, state.high, state.step), is_last),
        )

    def _moved(self, state: LBFGSState, point: Point) -> LBFGSState:
        """Stand at a point, and remember the move unless the function curves upward along it."""
        xp = _arrays(point.position)
        move = point.position - state.point.position
        turn = state.point.gradient - point.gradient
        is_kept = _dot(move, turn) > self.epsilon * _norm(move) * _norm(turn)

        def added() -> tuple[Any, Any]:
            rows = ((state.moves, move), (state.turns, turn))
            first, second = (
                xp.concatenate([old[..., 1:, :], new[..., None, :]], axis=-2) for old, new in rows
            )
            return first, second

        moves, turns = _either(is_kept, added, lambda: (state.moves, state.turns))
        return replace(state, point=point, moves=moves, turns=turns, num_lines=state.num_lines + 1)

    def _aimed(self, state: LBFGSState, direction: Any) -> LBFGSState:
        """Begin a line, and judge what it promises."""
        xp, point = _arrays(direction), state.point
        slope = _dot(point.gradient, direction)
        least = self.gain + 0.01 * self.epsilon**0.5 + 4 * self.epsilon * abs(point.log_density)
        # Without a move nothing is known of scales: a gradient that is small may be so by its units.
        promise = _pick((state.turns != 0).any((-2, -1)), slope / 2, np.inf)
        num_flat = _pick(promise <= least, state.num_flat + 1, 0)
        is_settled = (num_flat >= self.patience) | (point.gradient == 0).all(-1)
        return replace(
            state,
            direction=direction,
            step=xp.minimum(xp.ones_like(state.step), self.longest / xp.max(xp.abs(direction), axis=-1)),
            low=xp.zeros_like(state.low),
            high=xp.full_like(state.high, np.inf),
            promise=promise,
            num_tries=xp.zeros_like(state.num_tries),
            num_flat=num_flat,
            is_settled=is_settled,
            is_over=is_settled | ~(slope > 0),
        )


def _looking(state: LBFGSState, low: Any, high: Any, is_last: Any) -> LBFGSState:
    """Choose the next point of a line, which is to end between `low` and `high`."""
    between = _pick(_arrays(high).isfinite(high), (low + high) / 2, 2 * low)
    # With its tries used up, a search goes back to the last point that was higher.
    step = _pick(is_last, low, between)
    return replace(state, step=step, low=low, high=high, num_tries=state.num_tries + 1)


def _forgetful(state: LBFGSState) -> LBFGSState:
    """Forget the moves, which may mislead where curvature changes; the search is over if there is none."""
    is_over = (state.turns == 0).all((-2, -1))
    return replace(state, moves=0 * state.moves, turns=0 * state.turns, is_over=is_over)


def _direction(state: LBFGSState) -> Any:
    """Multiply the gradient by the approximate inverse of the curvature that the moves have shown."""
    gradient = state.point.gradient
    scan = jax.lax.scan if isinstance(gradient, jax.Array) else _scan
    moves, turns = (_arrays(gradient).moveaxis(rows, -2, 0) for rows in (state.moves, state.turns))
    curved = _dot(moves, turns)
    is_used = curved > 0
    divisor = _pick(is_used, curved, 1)

    def back(rest: Any, pair: Any) -> tuple[Any, Any]:
        move, turn, is_used, divisor = pair
        share = _pick(is_used, _dot(move, rest) / divisor, 0)
        return rest - share[..., None] * turn, share

    def forth(rest: Any, pair: Any) -> tuple[Any, None]:
        move, turn, is_used, divisor, share = pair
        return rest + (share - _pick(is_used, _dot(turn, rest) / divisor, 0))[..., None] * move, None

    pairs = moves, turns, is_used, divisor
    rest, shares = scan(back, gradient, pairs, reverse=True)
    squared = _dot(turns[-1], turns[-1])
    known = _pick(squared > 0, curved[-1] / _pick(squared > 0, squared, 1), 0)
    scale = _pick((turns[-1] != 0).any(-1), known, _first_step(gradient))
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
    return _arrays(vector).linalg.norm(vector, axis=-1)


def _pick(condition: Any, first: Any, second: Any) -> Any:
    """Choose between two numbers, for each climb."""
    return _arrays(condition).where(condition, first, second)


def _either(condition: Any, first: Callable[[], T], second: Callable[[], T]) -> T:
    """Choose between two results; the host computes one of them where that is all that climbs need."""
    if isinstance(condition, jax.Array):
        return where(condition, first(), second())
    if not condition.any():
        return second()
    return first() if condition.all() else _mixed(condition, first(), second())


def _mixed(condition: np.ndarray, first: T, second: T) -> T:
    """Choose for each climb, leaf by leaf."""

    def choose(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.where(condition.reshape(-1, *[1] * (one.ndim - 1)), one, other)

    return jax.tree.map(choose, first, second)


def _scan(step: Callable[[Any, Any], Any], carry: Any, columns: Any, reverse: bool = False) -> Any:
    """Do what `jax.lax.scan` does, on the host."""
    rows, results = list(zip(*columns, strict=True)), []
    for row in reversed(rows) if reverse else rows:
        carry, result = step(carry, row)
        results.append(result)
    return carry, results[::-1] if reverse else results
