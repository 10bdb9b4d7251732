"""Store tall matrices of the data by columns, where a program multiplies nothing but vectors by them.

A regression reads its matrix twice for each gradient: for `X @ b`, and for the products of residuals with `X`. The
second sums over many rows into few numbers. Where rows follow each other, XLA for CPUs reads the matrix several times
for it, some columns each time. Where columns do, both products read it once, from one end to the other: a gradient of
1,000,000 rows of 20 numbers takes 14 ms instead of 43.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from ..core.traced import equations
from ..core.tree import aligned
from .flat import Atom, Flat, Step, aval_of, flatten

LEAST_RATIO = 4
"""Rows for each column, from which on it pays. With as many columns as rows, it would cost a few percent."""

_CONVERSION, _PRODUCT = "convert_element_type", "dot_general"
_KEPT = ("remat", "remat2", "checkpoint")  # which say what is to be computed twice

Matrices = Mapping[int, np.dtype]
"""The dtype to store a matrix in, by its number among the constants and arguments of a program, in that order."""


@dataclass(frozen=True)
class ByColumns:
    """Store data and constants of a gradient by columns.

    **Fields**: `names`, of all data, in order; `data`, those to store so, by their numbers among all; `constants`, of
    the gradient.
    """

    names: tuple[str, ...] = ()
    data: Matrices = field(default_factory=dict)
    constants: Matrices = field(default_factory=dict)

    @staticmethod
    def of(gradient: ClosedJaxpr, data: Mapping[str, Any], *others: ClosedJaxpr) -> "ByColumns":
        """Choose them for a traced `gradient(data, position)`; `others`: further programs of the data.

        These may use a matrix in any way, unless it is converted for the gradient.
        """
        found, count = tall_matrices(gradient), len(gradient.consts)
        constants = {number: dtype for number, dtype in found.items() if number < count}
        given = {number - count: dtype for number, dtype in found.items() if number >= count}
        names = tuple(sorted(data))
        for number in [n for n, dtype in given.items() if dtype != data[names[n]].dtype]:
            dtypes = [_products(each, [len(each.consts) + number]).popitem()[1] for each in others]
            if any(found not in (set(), {given[number]}) for found in dtypes):
                del given[number]
        return ByColumns(names, given, constants)

    def in_gradient(self, gradient: ClosedJaxpr) -> ClosedJaxpr:
        """Return the gradient for the arrays as they are stored."""
        return with_columns(gradient, {**self.constants, **self._after(gradient)})

    def in_program(self, closed: ClosedJaxpr) -> ClosedJaxpr:
        """Return another traced function of the same data, for the data as they are stored."""
        return with_columns(closed, self._after(closed))

    def shapes(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return data with the shapes of those that are stored by columns."""
        return self._each(data, lambda v, dtype: jax.ShapeDtypeStruct(v.shape[::-1], dtype))

    def stored(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return data as they are stored."""
        return self._each(data, by_columns)

    def _after(self, closed: ClosedJaxpr) -> Matrices:
        return {len(closed.consts) + number: dtype for number, dtype in self.data.items()}

    def _each(self, data: Mapping[str, Any], change: Callable[[Any, np.dtype], Any]) -> dict[str, Any]:
        chosen = {self.names[number]: dtype for number, dtype in self.data.items()}
        return {n: change(value, chosen[n]) if n in chosen else value for n, value in data.items()}


def tall_matrices(closed: ClosedJaxpr) -> Matrices:
    """Find the tall matrices that a program multiplies by vectors, and uses for nothing else.

    Whole numbers and bools count too if they are converted for it: they are stored as converted.
    """
    given = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    tall = [number for number, variable in enumerate(given) if _is_tall(aval_of(variable))]
    dtypes = _products(closed, tall) if tall and not closed.effects else {}
    return {number: found.pop() for number, found in dtypes.items() if found and len(found) == 1}


def with_columns(closed: ClosedJaxpr, matrices: Matrices) -> ClosedJaxpr:
    """Return the program for some matrices as `by_columns` stores them, which need not be all that are tall.

    Results are equal up to the order in which products are added up. Constants among the matrices are stored so.
    """
    if not matrices:
        return closed
    flat, whole = flatten(closed, is_bounded=False), closed.jaxpr
    places, count = _places(closed, flat), len(whole.constvars)
    shapes = [
        jax.ShapeDtypeStruct(v.aval.shape[::-1], matrices[n]) if n in matrices else v.aval
        for n, v in enumerate((*whole.constvars, *whole.invars))
    ]
    columns = {places[number] for number in matrices}
    traced = jax.make_jaxpr(lambda *arrays: _results(flat, dict(zip(places, arrays, strict=True)), columns))(
        *shapes
    )
    inner, variables = traced.jaxpr, traced.jaxpr.invars
    part = Jaxpr(
        [*variables[:count], *inner.constvars],
        variables[count:],
        inner.outvars,
        inner.eqns,
        inner.effects,
        whole.debug_info,
    )
    kept = [by_columns(v, matrices[n]) if n in matrices else v for n, v in enumerate(closed.consts)]
    return ClosedJaxpr(part, [*kept, *traced.consts])


def by_columns(matrix: Any, dtype: np.dtype) -> np.ndarray:
    """Return a matrix by columns, on the host: the rows of its transpose."""
    return aligned(np.asarray(matrix).T, dtype)


def _is_tall(aval: Any) -> bool:
    is_matrix = len(aval.shape) == 2 and not jnp.issubdtype(aval.dtype, jax.dtypes.prng_key)
    return is_matrix and 0 < LEAST_RATIO * aval.shape[1] <= aval.shape[0]


def _places(closed: ClosedJaxpr, flat: Flat) -> list[int]:
    """Return the places of constants and arguments; constants of inner functions follow those of the whole."""
    return [*list(flat.constants)[: len(closed.consts)], *flat.inputs]


def _products(closed: ClosedJaxpr, numbers: Sequence[int]) -> dict[int, set[np.dtype] | None]:
    """Find the dtypes in which matrices, by number, are multiplied by vectors; None for one that is used otherwise."""
    if any(equation.primitive.name in _KEPT for equation in equations(closed.jaxpr)):
        return dict.fromkeys(numbers)
    flat = flatten(closed, is_bounded=False)
    places = _places(closed, flat)
    users: dict[int, list[Step | None]] = {atom: [None] for atom in flat.outputs if isinstance(atom, int)}
    for step in flat.steps:
        for atom in {atom for atom in step.inputs if isinstance(atom, int)}:
            users.setdefault(atom, []).append(step)

    def dtypes_of(place: int, dtype: np.dtype) -> set[np.dtype] | None:
        found: set[np.dtype] = set()
        for step in users.get(place, []):
            if step is None:
                return None
            result = np.dtype(aval_of(step.eqn.outvars[0]).dtype)
            more: set[np.dtype] | None = None
            if _is_conversion(step):
                more = dtypes_of(step.outputs[0], result)
            elif _side_in_product(step, {place}) is not None:
                # JAX multiplies whole numbers by floats in one step, which converts them.
                more = {result if dtype.kind in "biu" and result.kind == "f" else dtype}
            if more is None:
                return None
            found |= more
        return found

    given = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    return {n: dtypes_of(places[n], np.dtype(aval_of(given[n]).dtype)) for n in numbers}


def _is_conversion(step: Step) -> bool:
    """Return whether a step makes floats of numbers that are exact as such."""
    if step.name != _CONVERSION:
        return False
    before, after = (np.dtype(aval_of(v).dtype) for v in (step.eqn.invars[0], step.eqn.outvars[0]))
    return before.kind in "biu" and after.kind == "f"


def _side_in_product(step: Step, columns: set[int]) -> int | None:
    """Return on which side of a product with a vector one of these matrices is; None for any other step."""
    if step.name != _PRODUCT:
        return None
    sides = [side for side, atom in enumerate(step.inputs) if _is_in(atom, columns)]
    if len(sides) != 1 or len(aval_of(step.eqn.invars[1 - sides[0]]).shape) != 1:
        return None
    (contracted, _), (batch, _) = step.eqn.params["dimension_numbers"]
    return sides[0] if len(contracted) == 1 and not batch else None


def _is_in(atom: Atom, places: set[int]) -> bool:
    return isinstance(atom, int) and atom in places


def _results(flat: Flat, arrays: dict[int, Any], columns: set[int]) -> list[Any]:
    """Compute the results of a flat program, where some arrays are matrices by columns."""
    values, columns = {**flat.constants, **arrays}, set(columns)

    def stored(atom: Atom) -> Any:
        return values[atom] if isinstance(atom, int) else atom.val

    def value(atom: Atom) -> Any:
        return stored(atom).T if _is_in(atom, columns) else stored(atom)

    for step in flat.steps:
        side = _side_in_product(step, columns)
        with step.eqn.ctx.manager:
            if side is not None:
                values[step.outputs[0]] = _product(step, side, *map(stored, step.inputs))
            elif _is_conversion(step) and _is_in(step.inputs[0], columns):
                values[step.outputs[0]] = stored(step.inputs[0]).astype(aval_of(step.eqn.outvars[0]).dtype)
                columns.add(step.outputs[0])
            else:
                found = step.eqn.primitive.bind(*map(value, step.inputs), **step.eqn.params)
                results = found if step.eqn.primitive.multiple_results else [found]
                values.update(zip(step.outputs, results, strict=True))
    return [value(atom) for atom in flat.outputs]


def _product(step: Step, side: int, *operands: Any) -> Any:
    """Multiply a matrix by columns with a vector.

    What is summed over comes last on the left, and first on the right: XLA would copy the matrix to have it so.
    """
    matrix, vector = operands[side], operands[1 - side]
    (axis,) = step.eqn.params["dimension_numbers"][0][side]
    is_over_rows = axis == 0
    pair = (matrix, vector) if is_over_rows else (vector, matrix)
    over = ((1,), (0,)) if is_over_rows else ((0,), (0,))
    return step.eqn.primitive.bind(*pair, **{**step.eqn.params, "dimension_numbers": (over, ((), ()))})
