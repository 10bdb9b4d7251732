"""Climb a function inside of a program.

Each turn of the one loop evaluates the function once: candidates where the climb may begin, then points along lines. So
the program holds one copy of the gradient.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..core.tree import where
from .lbfgs import LBFGS, PATIENCE, LBFGSState, Point, is_finite


class Climb(NamedTuple):
    """A climb: the state of its search, and the number of evaluations, those of the candidates included."""

    state: LBFGSState
    num_evaluations: jax.Array


def climb(
    evaluate: Callable[[jax.Array], tuple[jax.Array, jax.Array]], candidates: jax.Array, max_lines: Any
) -> Climb:
    """Climb from the highest of some candidates.

    Where no candidate is finite, the climb is over and not settled.

    **Arguments**
    - `evaluate`: returns value and gradient at a position, shape `(dim,)`; neither need be finite.
    - `candidates`: shape `(candidate, dim)`. `max_lines`: largest number of lines that are searched, int32.
    """
    count, dim = candidates.shape
    search = LBFGS(epsilon=float(jnp.finfo(candidates.dtype).eps), patience=PATIENCE)
    lowest = jnp.full((), -jnp.inf, candidates.dtype)
    nowhere = Point(candidates[0], lowest, jnp.zeros(dim, candidates.dtype))

    def advance(climb: Climb) -> Climb:
        is_choosing = climb.num_evaluations < count
        candidate = candidates[jnp.minimum(climb.num_evaluations, count - 1)]
        position = jnp.where(is_choosing, candidate, search.ask(climb.state))
        point, highest = Point(position, *evaluate(position)), climb.state.point
        is_better = is_finite(point) & (point.log_density > highest.log_density)
        chosen = search.init(where(is_better, point, highest))
        state = where(is_choosing, chosen, search.tell(climb.state, point))
        return Climb(state, climb.num_evaluations + 1)

    def goes_on(climb: Climb) -> jax.Array:
        is_searching = ~climb.state.is_over & (climb.state.num_lines < max_lines)
        return (climb.num_evaluations < count) | is_searching

    return jax.lax.while_loop(goes_on, advance, Climb(search.init(nowhere), jnp.int32(0)))
