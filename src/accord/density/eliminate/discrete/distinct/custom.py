"""Apply functions with derivative rules of their own once for each distinct combination of entries.

Such a function was traced for arrays of a certain shape, and so is its rule. Where all that both do is to treat every
entry alone, they are repeated for fewer entries.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from ....flat import aval_of
from .entries import distinct
from .equation import BY_ENTRY, by_entry, repeated
from .values import Cells, Dense, Value, spread

_CALLS = ("jit", "pjit", "closed_call")


def of_custom(equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """Apply a function of entries; None where entries are not treated alone, or are hardly fewer."""
    if len(equation.outvars) != 1:
        return None
    shape = equation.outvars[0].aval.shape
    is_alike = all(v.aval.shape in ((), shape) and v.aval.dtype.kind == "f" for v in equation.invars)
    if not is_alike:
        return None
    few = distinct(values)
    short = np.broadcast_shapes(*(value.shape for value in values))
    if few is None and 2 * prod(short) > prod(shape):
        return None
    if not _treats_entries(equation.params["call_jaxpr"], shape):
        return None
    rule = _rule(equation)
    if not _treats_entries(rule, shape):
        return None
    if few is not None:
        arrays, index = few
        return [Cells(_restricted(equation, rule, arrays), index)]
    return [Dense(_restricted(equation, rule, [spread(value, value.shape) for value in values]))]


def _rule(equation: Any) -> ClosedJaxpr:
    """Trace a function with its derivative, for the shapes that it was traced for."""
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars]

    def both(primals: Any, tangents: Any) -> Any:
        return jax.jvp(lambda *each: repeated(equation, each)[0], primals, tangents)

    return jax.make_jaxpr(both)(tuple(shapes), tuple(shapes))


def _restricted(equation: Any, rule: ClosedJaxpr, arrays: Sequence[Any]) -> Any:
    """Apply a function with its rule to arrays of another shape that broadcast with each other."""
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    wide = [
        jnp.broadcast_to(array, shape) if variable.aval.shape else array
        for array, variable in zip(arrays, equation.invars, strict=True)
    ]

    @jax.custom_jvp
    def function(*each: Any) -> Any:
        return _of_entries(equation.params["call_jaxpr"], each)[0]

    @function.defjvp
    def derivative(primals: Any, tangents: Any) -> Any:
        return tuple(_of_entries(rule, [*primals, *tangents]))

    del derivative
    return function(*wide)


def _treats_entries(closed: ClosedJaxpr, shape: tuple[int, ...]) -> bool:
    """Return whether a function treats every entry of arrays of this shape alone."""
    return (
        _are_numbers(closed, shape, [not variable.aval.shape for variable in closed.jaxpr.invars]) is not None
    )


def _are_numbers(closed: ClosedJaxpr, shape: tuple[int, ...], given: Sequence[bool]) -> list[bool] | None:
    """Return which results are one number in all entries; None where entries are not treated alone.

    `given`: of which arguments it is known that they are one number.
    """
    is_number: dict[Any, bool] = dict(zip(closed.jaxpr.invars, given, strict=True))
    is_number |= dict.fromkeys(closed.jaxpr.constvars, True)
    if any(np.shape(each) for each in closed.consts):
        return None

    def are_numbers(atoms: Sequence[Any]) -> list[bool]:
        return [not aval_of(atom).shape if isinstance(atom, Literal) else is_number[atom] for atom in atoms]

    for equation in closed.jaxpr.eqns:
        name, of_inputs = equation.primitive.name, are_numbers(equation.invars)
        if name in _CALLS or name == "custom_jvp_call":
            found = _are_numbers(_inner(equation), shape, of_inputs)
        elif name in BY_ENTRY or name == "broadcast_in_dim":
            found = [all(of_inputs)]
        else:
            return None
        if found is None:
            return None
        is_number.update(zip(equation.outvars, found, strict=True))
        both = zip((*equation.invars, *equation.outvars), (*of_inputs, *found), strict=True)
        if not all(is_one or atom.aval.shape == shape for atom, is_one in both):
            return None
    return are_numbers(closed.jaxpr.outvars)


def _of_entries(closed: ClosedJaxpr, arrays: Sequence[Any]) -> list[Any]:
    """Compute the results of a function that treats every entry alone, from arrays of any shape."""
    known = dict(zip(closed.jaxpr.invars, arrays, strict=True))
    known |= dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))

    def array(atom: Any) -> Any:
        return np.asarray(atom.val, aval_of(atom).dtype) if isinstance(atom, Literal) else known[atom]

    for equation in closed.jaxpr.eqns:
        given = [array(atom) for atom in equation.invars]
        name = equation.primitive.name
        if name in _CALLS:
            found = _of_entries(_inner(equation), given)
        elif name == "custom_jvp_call":
            found = [_restricted(equation, _rule(equation), given)]
        elif name == "broadcast_in_dim":
            found = given
        else:
            found = [by_entry(equation, given)]
        known.update(zip(equation.outvars, found, strict=True))
    return [jnp.broadcast_to(array(v), shape) if v.aval.shape else array(v) for v in closed.jaxpr.outvars]


def _inner(equation: Any) -> ClosedJaxpr:
    inner = equation.params["call_jaxpr" if "call_jaxpr" in equation.params else "jaxpr"]
    return inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
