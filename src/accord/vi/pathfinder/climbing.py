"""Climb in a compiled program, and keep every point where a line ended."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ...core.precision import float_dtype
from ...core.tree import node, shapes, to_numpy, where
from ...density import LogDensity
from ...optimise.lbfgs import LBFGS, PATIENCE, LBFGSState, Point, is_finite
from ...programs.standalone import compile_alone
from .curvature import MEMORY

NUM_CANDIDATES = 10
"""Positions of one call, of which a path begins at the first one with finite numbers."""

NUM_POINTS = 32
"""Points of one call of the program."""

_NO_LIMIT = np.int32(np.iinfo(np.int32).max)


@node
class ClimbState:
    """State of a path between two evaluations; arrays of NumPy or JAX.

    **Fields**: `search`, the state of the climb; `num_tried` candidates, all of them once one is taken; `tried`, shape
    `(2,)`: log density at the last one, and length of the gradient.
    """

    search: LBFGSState
    num_tried: Any
    tried: Any


@node
class Points:
    """Points where lines ended, in order; the first one is where the path began. Arrays of NumPy or JAX.

    **Fields**: `position` and `gradient`, shape `(point, dim)`; `log_density`, shape `(point,)`.
    """

    position: Any
    gradient: Any
    log_density: Any


Advance = Callable[..., tuple[ClimbState, Points, bool]]
"""From a state and candidates, shape `(candidate, dim)`, to the next state, the new points, and whether it is over."""


def blank(dim: int, dtype: np.dtype) -> ClimbState:
    """Return the state of a path before its candidates; NumPy."""
    nowhere = Point(np.zeros(dim, dtype), np.full((), -np.inf, dtype), np.zeros(dim, dtype))
    state = ClimbState(_search(dtype).init(nowhere), np.zeros((), np.int32), np.full(2, np.nan, dtype))
    return jax.tree.map(np.asarray, state)


def climbing(density: LogDensity) -> Advance:
    """Compile the climb: up to `NUM_POINTS` points at a time, or `limit` evaluations; one copy of the gradient."""
    dtype = float_dtype(density.program.precision)
    candidates = np.zeros((NUM_CANDIDATES, density.dim), dtype)
    example = shapes((blank(density.dim, dtype), candidates))
    program = compile_alone(density, _advance, *example, np.int32(0))

    def advance(state: ClimbState, candidates: np.ndarray, limit: Any = _NO_LIMIT) -> Any:
        after, points, count, is_over = to_numpy(program(state, candidates.astype(dtype), np.int32(limit)))
        return after, jax.tree.map(lambda rows: rows[: int(count)], points), bool(is_over)

    return advance


def _advance(
    density: LogDensity,
    state: ClimbState,
    candidates: Float[Array, "candidate dim"],
    limit: Int[Array, ""],
) -> tuple[ClimbState, Points, Int[Array, ""], Bool[Array, ""]]:
    dtype = candidates.dtype
    rows = jnp.zeros((NUM_POINTS, candidates.shape[1]), dtype)
    zero, search = jnp.zeros((), jnp.int32), _search(dtype)

    def is_over(state: ClimbState) -> Array:
        return (state.num_tried >= NUM_CANDIDATES) & state.search.is_over

    def goes_on(carry: tuple[ClimbState, Points, Array, Array]) -> Array:
        state, _, count, num_evaluations = carry
        return (count < NUM_POINTS) & (num_evaluations < limit) & ~is_over(state)

    def step(carry: tuple[ClimbState, Points, Array, Array]) -> tuple[ClimbState, Points, Array, Array]:
        state, points, count, num_evaluations = carry
        after, has_point = _step(density, search, state, candidates)
        here = after.search.point
        # Each row is written until a line ends there.
        points = Points(
            points.position.at[count].set(here.position),
            points.gradient.at[count].set(here.gradient),
            points.log_density.at[count].set(here.log_density),
        )
        return after, points, count + has_point, num_evaluations + 1

    begun = (state, Points(rows, rows, rows[:, 0]), zero, zero)
    after, points, count, _ = jax.lax.while_loop(goes_on, step, begun)
    return after, points, count, is_over(after)


def _step(
    density: LogDensity, search: LBFGS, state: ClimbState, candidates: Float[Array, "candidate dim"]
) -> tuple[ClimbState, Bool[Array, ""]]:
    """Evaluate one position; return whether the state has come to a new point too."""
    is_choosing = state.num_tried < NUM_CANDIDATES
    place = jnp.minimum(state.num_tried, NUM_CANDIDATES - 1)
    position = jnp.where(is_choosing, candidates[place], search.ask(state.search))
    point = Point(position, *density.value_and_grad(position))
    has_begun = is_choosing & is_finite(point)
    told = search.tell(state.search, point)
    after = where(has_begun, search.init(point), where(is_choosing, state.search, told))
    has_moved = ~is_choosing & (told.num_lines > state.search.num_lines)
    num_tried = jnp.where(has_begun, NUM_CANDIDATES, state.num_tried + is_choosing).astype(jnp.int32)
    seen = jnp.stack([point.log_density, jnp.linalg.norm(point.gradient)])
    tried = jnp.where(is_choosing, seen, state.tried)
    return ClimbState(after, num_tried, tried), has_begun | has_moved


def _search(dtype: Any) -> LBFGS:
    return LBFGS(memory=MEMORY, epsilon=float(np.finfo(dtype).eps), patience=PATIENCE)
