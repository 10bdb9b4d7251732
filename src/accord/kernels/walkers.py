"""Keep an ensemble between two evaluations: one walker as the chain's point, and the others as rows of a table."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..core.position import Position
from ..core.tree import node, where
from .base import AbstractState
from .bracket import Bracket
from .point import Point


@node
class SoFar:
    """Sums over the draw in progress, of shape `()`.

    **Fields**: `num_moves`; `num_steps`, evaluations; `acceptance`; of slices, `num_out`, steps out, `num_refused`,
    points outside, and `num_exhausted`, those that were given up; `ending`, the first one that was bad.
    """

    num_moves: Int[Array, ""]
    num_steps: Int[Array, ""]
    acceptance: Float[Array, ""]
    num_out: Int[Array, ""]
    num_refused: Int[Array, ""]
    num_exhausted: Int[Array, ""]
    ending: Int[Array, ""]

    @staticmethod
    def none(dtype: Any) -> "SoFar":
        """Return the sums of a draw that has not begun; NumPy."""
        count: Any = np.zeros((), np.int32)
        zero: Any = np.zeros((), dtype)
        return SoFar(count, count, zero, *[count] * 4)


@node
class EnsembleState(AbstractState):
    """An ensemble between two evaluations: `point` is the chain's own walker.

    **Fields**: `others`, a table with a row for each other walker and a spare one; `num_placed`, how many have a place,
    and `num_tries`, for the next one; `bracket`, of the slice in progress. A fresh ensemble begins at the point.
    """

    point: Point
    is_fresh: Bool[Array, ""]
    tried: Position
    others: Float[Array, "row number"]
    num_placed: Int[Array, ""]
    num_tries: Int[Array, ""]
    bracket: Bracket
    so_far: SoFar

    @property
    def last_evaluated(self) -> Position:
        """See `AbstractState.last_evaluated`: of a draw with a bad ending, where that was."""
        return self.tried

    @property
    def begun(self) -> "EnsembleState":
        """Return the state to go on with: this one, or one without walkers if it is fresh."""
        empty = (np.int32(0), np.int32(0), Bracket.none(self.others.dtype), SoFar.none(self.others.dtype))
        kept = (self.num_placed, self.num_tries, self.bracket, self.so_far)
        num_placed, num_tries, bracket, so_far = where(self.is_fresh, empty, kept)
        return replace(self, num_placed=num_placed, num_tries=num_tries, bracket=bracket, so_far=so_far)


def row_of(point: Point) -> Float[Array, " number"]:
    """Return a walker as a row: position, gradient, log density."""
    return jnp.concatenate([point.position.free, point.gradient, point.log_density[None]])


def point_of(row: Float[Array, " number"]) -> Point:
    """Return the walker that a row holds."""
    dim = row.shape[0] // 2
    return Point(Position(row[:dim]), row[2 * dim], row[dim : 2 * dim])


def walker_at(table: Float[Array, "row number"], own: Point, index: Int[Array, ""]) -> Point:
    """Return walker `index`: a row of the table, whose last row is spare, or `own` in the place of that."""
    last = table.shape[0] - 1
    row = jax.lax.dynamic_index_in_dim(table, jnp.minimum(index, last - 1), keepdims=False)
    return where(index == last, own, point_of(row))
