"""Differentiate solutions with respect to few numbers, by solving for their derivatives beside them.

The derivatives of the states with respect to m numbers obey linear equations of their own. Solved in the steps that the
states alone would take, they cost one loop in which every operation has m + 1 columns, where going back through a
solution costs a second loop that makes the steps of the first again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ..bijectors import is_concrete
from .traced_slope import Slope, TracedSlope

Norm = Callable[[jax.Array], jax.Array]

Solver = Callable[[Slope, jax.Array, jax.Array, jax.Array, Norm], jax.Array]
"""`(slope, y0, t0, times, norm) -> states`, with a leading axis of times; steps are as long as `norm` lets them be."""

MAX_NUMBERS = 32
"""That a solution may depend on, to be differentiated along with it."""

MAX_DERIVATIVES = 2048
"""Of all states together; more take longer than to go back."""


class Problem(eqx.Module):
    """What is solved, with all that it depends on as leaves.

    **Fields**: `slope`, a pytree; `y0`, shape `(n,)`; `t0`, shape `()`; `times`, shape `(time,)`.
    """

    slope: TracedSlope
    y0: jax.Array
    t0: jax.Array
    times: jax.Array

    @staticmethod
    def of(slope: Slope, y0: jax.Array, t0: jax.Array, times: jax.Array) -> "Problem":
        """Of any slope, whatever it closes over."""
        return Problem(TracedSlope.of(slope, t0, y0), y0, t0, times)

    @property
    def may_be_solved_along(self) -> bool:
        """Whether few numbers are unknown while it is traced, times not counted, and its slope goes forward."""
        unknown = jax.tree.leaves(eqx.filter((self.slope, self.y0, self.t0), _is_unknown))
        count = sum(leaf.size for leaf in unknown)
        is_small = count <= MAX_NUMBERS and count * self.y0.size <= MAX_DERIVATIVES
        return is_small and self.slope.has_forward_rules


def solve_along(problem: Problem, solver: Solver) -> jax.Array:
    """The states, shape `(time, n)`, with derivatives of any order by few numbers."""
    arrays, static = eqx.partition(problem, eqx.is_array)

    @jax.custom_jvp
    def solution(arrays: Problem) -> jax.Array:
        given = eqx.combine(arrays, static)
        return solver(given.slope, given.y0, given.t0, given.times, _size)

    def rule(primals: tuple[Problem], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
        return _with_derivative(eqx.combine(primals[0], static), tangents[0], solver)

    solution.defjvp(rule, symbolic_zeros=True)
    return solution(arrays)


class _Moving(eqx.Module):
    """The slope of a state, the first of some rows, and of its derivatives, the other rows.

    **Fields**: `slope`, of the state; `directions`, by the number of an array of it, along which each row's derivative
    is, with a leading axis of rows.
    """

    slope: Slope
    directions: dict[int, jax.Array]

    def __call__(self, t: jax.Array, rows: jax.Array) -> jax.Array:
        arrays, static = eqx.partition(self.slope, eqx.is_array)
        leaves, structure = jax.tree.flatten(arrays)

        def slope(y: jax.Array, changed: dict[int, jax.Array]) -> jax.Array:
            all_leaves = [changed.get(index, leaf) for index, leaf in enumerate(leaves)]
            return eqx.combine(jax.tree.unflatten(structure, all_leaves), static)(t, y)

        def along(derivative: jax.Array, unit: dict[int, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return jax.jvp(slope, (rows[0], {index: leaves[index] for index in unit}), (derivative, unit))

        moved, derivatives = jax.vmap(along, out_axes=(None, 0))(rows[1:], self.directions)
        return jnp.concatenate([moved[None], derivatives])


def _with_derivative(problem: Problem, tangent: Any, solver: Solver) -> tuple[jax.Array, jax.Array]:
    """The states and their derivative along a tangent, which has the leaves of the problem, or symbolic zeros."""
    dtype = problem.y0.dtype
    numbers = [problem.y0, problem.t0, *jax.tree.leaves(eqx.filter(problem.slope, eqx.is_array))]
    tangents = [tangent.y0, tangent.t0, *jax.tree.leaves(tangent.slope)]
    moved = [index for index, each in enumerate(tangents) if not isinstance(each, SymbolicZero)]
    directions = dict(zip(moved, _units([numbers[index] for index in moved], dtype), strict=True))
    first = jnp.zeros((sum(numbers[index].size for index in moved), problem.y0.size), dtype)
    if 0 in directions:
        first += directions[0]
    if 1 in directions:  # what begins later has moved less
        first -= directions[1][:, None] * problem.slope(problem.t0, problem.y0)
    moving = _Moving(problem.slope, {index - 2: unit for index, unit in directions.items() if index >= 2})
    first = jnp.concatenate([problem.y0[None], first])
    rows = solver(moving, first, problem.t0, problem.times, _size_of_first)
    states = rows[:, 0]
    direction = jnp.concatenate([jnp.zeros(0, dtype), *(jnp.ravel(tangents[index]) for index in moved)])
    derivative = jnp.einsum("tmn,m->tn", rows[:, 1:], direction)
    if not isinstance(tangent.times, SymbolicZero):
        derivative += jax.vmap(problem.slope)(problem.times, states) * tangent.times[:, None]
    return states, derivative


def _units(arrays: Sequence[jax.Array], dtype: Any) -> list[jax.Array]:
    """For each array, its part of every unit vector of all numbers together: `(numbers, *its shape)`."""
    sizes = [array.size for array in arrays]
    whole, ends = jnp.eye(sum(sizes), dtype=dtype), [sum(sizes[: count + 1]) for count in range(len(sizes))]
    return [
        whole[:, end - array.size : end].reshape(-1, *array.shape)
        for array, end in zip(arrays, ends, strict=True)
    ]


def _is_unknown(leaf: Any) -> bool:
    return eqx.is_inexact_array(leaf) and not is_concrete(leaf)


def _size(vector: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.mean(vector**2))


def _size_of_first(rows: jax.Array) -> jax.Array:
    """Steps are as long as those of the state alone, whatever its derivatives do."""
    return _size(rows[0])
