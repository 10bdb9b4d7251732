"""Repeat one operation of a traced program with arrays of other shapes, or compute it on the host."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, DebugInfo, Jaxpr, Literal, jaxpr_as_fun

from ....flat import Frame, Step
from ....host import ELEMENTWISE, UnevaluableError, is_computable, results_of
from ....host.rules import RULES
from ....host.unevaluable import Parameters

_BY_PLACE = ("device_put", "optimization_barrier", "pvary", "sharding_constraint")
_NOTHING = DebugInfo("distinct", "", (), ())

BY_ENTRY = frozenset(ELEMENTWISE).difference(_BY_PLACE) | {"stop_gradient"}
"""Operations that treat every entry alone."""


def repeated(equation: Any, arrays: Sequence[Any]) -> list[Any]:
    """Apply the operation to these arrays, of which those for numbers written in the program are not looked at.

    Its place in the user's code is kept.
    """
    given: dict[Any, Any] = {}
    for variable, array in zip(equation.invars, arrays, strict=True):
        if not isinstance(variable, Literal):
            given[variable] = array
    function = Jaxpr((), [*given], equation.outvars, [equation], equation.effects, _NOTHING)
    return jaxpr_as_fun(ClosedJaxpr(function, ()))(*given.values())


def by_entry(equation: Any, arrays: Sequence[Any]) -> Any:
    """Apply an operation that treats every entry alone to arrays that broadcast with each other."""
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    wide = []
    for array, variable in zip(arrays, equation.invars, strict=True):
        is_number = not variable.aval.shape
        found = np.shape(array)
        if found != shape and not is_number:
            axes = tuple(range(len(shape) - len(found), len(shape)))
            array = jax.lax.broadcast_in_dim(array, shape, axes)
        wide.append(array)
    return repeated(equation, wide)[0]


def on_host(equation: Any, arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Compute the operation in NumPy; None where that would not give the same bits."""
    if equation.primitive.name == "stop_gradient":
        return [*arrays]
    step = Step((), (), (Frame(equation, equation.source_info),))
    if equation.effects or not is_computable(step, exactly=True):
        return None
    try:
        return results_of(step, arrays)
    except UnevaluableError:
        return None


def numbers_moved(equation: Any, indices: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """Apply an operation that puts entries elsewhere to their numbers; None where that has no rule."""
    rule = RULES[equation.primitive.name]
    try:
        found = rule(Parameters(equation.params), *indices)
    except UnevaluableError:
        return None
    return found if isinstance(found, list) else [found]
