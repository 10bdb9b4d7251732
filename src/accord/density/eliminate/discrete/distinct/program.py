"""Write a traced program anew, with each distinct number computed once.

The values of labels are known when a program is written, and so is which entries of its arrays are the same: those of
all rows that have the same label. `log(sigma[z])` of a thousand rows and two labels is two logarithms. What is known is
computed on the host; of all else, each distinct combination of entries is computed once (`entries`), moves of entries
move their numbers (`moves`, `gathers`), and steps of a scan are computed side by side (`scans`). As the derivative is
taken of the new program, it is as small.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from .....core.needed import only
from .....core.traced import equations
from ....flat import aval_of
from . import axes, moves
from .custom import of_custom
from .entries import of_entries
from .equation import BY_ENTRY, on_host, repeated
from .gathers import gathered
from .scans import side_by_side
from .values import MAX_COMPARED, Dense, Known, Value, shortened, spread

_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"}
_KEPT = ("remat", "remat2", "checkpoint", "shard_map")


def computed_once(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return a program with the same results, up to rounding.

    One that has an effect, such as printing, or says what is to be computed twice is returned as it is.
    """
    if closed.effects or any(equation.primitive.name in _KEPT for equation in equations(closed.jaxpr)):
        return closed
    shapes = [jax.ShapeDtypeStruct(aval_of(each).shape, aval_of(each).dtype) for each in closed.jaxpr.invars]
    avals = [aval_of(each) for each in closed.jaxpr.outvars]

    def whole(*arrays: Any) -> list[Any]:
        results = results_of(closed, [Dense(array) for array in arrays])
        return [spread(value, aval.shape) for value, aval in zip(results, avals, strict=True)]

    traced = jax.make_jaxpr(whole)(*shapes)
    return only(traced, [True] * len(avals), keeps_effects=True)


def results_of(closed: ClosedJaxpr, arguments: Sequence[Value]) -> list[Value]:
    """Compute the results of a function from its arguments."""
    jaxpr = closed.jaxpr
    values: dict[Any, Value] = dict(zip(jaxpr.invars, arguments, strict=True))
    values |= {v: _constant(value) for v, value in zip(jaxpr.constvars, closed.consts, strict=True)}
    used = {v for equation in jaxpr.eqns for v in equation.invars if not isinstance(v, Literal)}
    used |= {v for v in jaxpr.outvars if not isinstance(v, Literal)}

    def value(atom: Any) -> Value:
        return Known(np.asarray(atom.val, aval_of(atom).dtype)) if isinstance(atom, Literal) else values[atom]

    for equation in jaxpr.eqns:
        is_used = [variable in used for variable in equation.outvars]
        found = _applied(equation, [value(atom) for atom in equation.invars], is_used)
        values.update(zip(equation.outvars, found, strict=True))
    return [value(atom) for atom in jaxpr.outvars]


def _applied(equation: Any, values: list[Value], is_used: Sequence[bool]) -> list[Value]:
    name, params = equation.primitive.name, equation.params
    if name in _CALLS:
        inner = params[_CALLS[name]]
        return results_of(inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ()), values)
    if not all(_is_of_numbers(v.aval) for v in (*equation.invars, *equation.outvars)):
        return _as_it_is(equation, values)
    if name in BY_ENTRY:
        return [of_entries(equation, values)]
    if name in moves.NAMES:
        return moves.moved(equation, values)
    if name in axes.NAMES:
        return axes.along_axes(equation, values)
    found: Any = None
    match name:
        case "iota":
            found = on_host(equation, []) if equation.outvars[0].aval.size <= MAX_COMPARED else None
            found = found and [Known(shortened(found[0]))]
        case "gather":
            found = [gathered(equation, values)]
        case "custom_jvp_call":
            found = of_custom(equation, values)
        case "scan":
            found = side_by_side(equation, values, is_used, results_of)
    return found or _as_it_is(equation, values)


def _as_it_is(equation: Any, values: Sequence[Value]) -> list[Value]:
    arrays = [spread(value, x.aval.shape) for value, x in zip(values, equation.invars, strict=True)]
    return [Dense(each) for each in repeated(equation, arrays)]


def _constant(array: Any) -> Value:
    is_here = not isinstance(array, jax.Array) or array.is_fully_addressable
    is_known = is_here and np.size(array) <= MAX_COMPARED and _is_of_numbers(array)
    return Known(shortened(np.asarray(array))) if is_known else Dense(array)


def _is_of_numbers(array: Any) -> bool:
    dtype = getattr(array, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"
