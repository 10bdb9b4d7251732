"""Differentiate solutions by a few parameters: solve for their derivatives along with the states.

The derivatives of the states by m parameters obey linear equations. Solved in the steps of the states alone, they cost
one loop in which every operation has m + 1 columns. Reverse mode costs a second loop that repeats the steps.
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
"""`(slope, y0, t0, times, norm) -> states`, with a leading axis of times; `norm` of the error controls the steps."""

MAX_NUMBERS = 32
"""Most unknown numbers of a problem whose derivatives are solved for along with the states."""

MAX_DERIVATIVES = 1024
"""Most derivatives of all states together; with more, reverse mode is faster."""


_LOOSE = 1e-3  # weight of errors of derivatives relative to errors of states


class Problem(eqx.Module):
    """Initial value problem, with every input that it depends on as a leaf.

    **Fields**: `slope`, a pytree; `y0`, shape `(n,)`; `t0`, shape `()`; `times`, shape `(time,)`.
    """

    slope: TracedSlope
    y0: jax.Array
    t0: jax.Array
    times: jax.Array

    def depends_on_few(self, start: Any) -> bool:
        """Return whether the problem has few unknown numbers, including `start`; times are not counted."""
        leaves = jax.tree.leaves((start, self.slope.constants))
        count = sum(jnp.size(leaf) for leaf in leaves if _is_unknown(leaf))
        return count <= MAX_NUMBERS and count * self.y0.size <= MAX_DERIVATIVES


def solve_along(problem: Problem, solver: Solver) -> jax.Array:
    """Solve for the states, shape `(time, n)`; only the first derivative may be taken in reverse mode."""
    arrays, static = eqx.partition(problem, eqx.is_array)

    @jax.custom_jvp
    def solution(arrays: Problem) -> jax.Array:
        given = eqx.combine(arrays, static)
        return solver(given.slope, given.y0, given.t0, given.times, _size)

    def rule(primals: tuple[Problem], tangents: tuple[Any]) -> tuple[jax.Array, jax.Array]:
        # JAX passes on Python numbers unchanged.
        given = eqx.combine(jax.tree.map(jnp.asarray, primals[0]), static)
        return _with_derivative(given, tangents[0], solver)

    solution.defjvp(rule, symbolic_zeros=True)
    return solution(arrays)


class _Moving(eqx.Module):
    """Slope of the state (the first row) and of its derivatives (the other rows).

    **Fields**: `slope`, of the state; `directions`, by index of a slope's array, the direction of each row's
    derivative, with a leading axis of rows.
    """

    slope: Slope
    directions: dict[int, jax.Array]

    def __call__(self, t: jax.Array, rows: jax.Array) -> jax.Array:
        arrays, static = eqx.partition(self.slope, eqx.is_array)
        leaves, structure = jax.tree.flatten(arrays)

        def slope(y: jax.Array, changed: dict[int, jax.Array]) -> jax.Array:
            all_leaves = [changed.get(index, leaf) for index, leaf in enumerate(leaves)]
            return eqx.combine(jax.tree.unflatten(structure, all_leaves), static)(t, y)

        def along(derivative: jax.Array, unit: dict[int, jax.Array]) -> jax.Array:
            return jax.jvp(slope, (rows[0], {index: leaves[index] for index in unit}), (derivative, unit))[1]

        return jnp.concatenate([self.slope(t, rows[0])[None], jax.vmap(along)(rows[1:], self.directions)])


def _with_derivative(problem: Problem, tangent: Any, solver: Solver) -> tuple[jax.Array, jax.Array]:
    """Return the states and their derivative along a tangent, with the problem's leaves or symbolic zeros."""
    dtype = problem.y0.dtype
    numbers = [problem.y0, problem.t0, *jax.tree.leaves(eqx.filter(problem.slope, eqx.is_array))]
    tangents = [tangent.y0, tangent.t0, *jax.tree.leaves(tangent.slope)]
    pairs = enumerate(zip(numbers, tangents, strict=True))
    moved = [index for index, (_, each) in pairs if not isinstance(each, SymbolicZero)]
    directions = dict(zip(moved, _units([numbers[index] for index in moved]), strict=True))
    first = jnp.zeros((sum(numbers[index].size for index in moved), problem.y0.size), dtype)
    if 0 in directions:
        first += directions[0]
    if 1 in directions:  # a later start moves the state less
        first -= directions[1][:, None] * problem.slope(problem.t0, problem.y0)
    moving = _Moving(problem.slope, {index - 2: unit for index, unit in directions.items() if index >= 2})
    first = jnp.concatenate([problem.y0[None], first])
    rows = solver(moving, first, problem.t0, problem.times, _size_of_rows)
    states = rows[:, 0]
    along = [jnp.ravel(tangents[index]).astype(dtype) for index in moved]
    derivative = jnp.einsum("tmn,m->tn", rows[:, 1:], jnp.concatenate([jnp.zeros(0, dtype), *along]))
    if not isinstance(tangent.times, SymbolicZero):
        derivative += jax.vmap(problem.slope)(problem.times, states) * tangent.times[:, None]
    return states, derivative


def _units(arrays: Sequence[jax.Array]) -> list[jax.Array]:
    """Return, for each array, its part of every unit vector of all numbers: `(numbers, *its shape)`."""
    ends = [sum(array.size for array in arrays[: count + 1]) for count in range(len(arrays))]
    return [
        jnp.eye(ends[-1], array.size, array.size - end, array.dtype).reshape(-1, *array.shape)
        for array, end in zip(arrays, ends, strict=True)
    ]


def _is_unknown(leaf: Any) -> bool:
    return eqx.is_inexact_array(leaf) and not is_concrete(leaf)


def _size(vector: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.mean(vector**2))


def _size_of_rows(rows: jax.Array) -> jax.Array:
    """Measure the error of rows: the state sets the step size, unless derivatives would blow up.

    In an equilibrium, where states do not move, nothing else keeps steps from growing until derivatives explode.
    """
    of_derivatives = jnp.sqrt(jnp.sum(rows[1:] ** 2) / max(rows[1:].size, 1))
    return jnp.maximum(_size(rows[0]), jnp.where(jnp.isfinite(of_derivatives), _LOOSE * of_derivatives, 0.0))
