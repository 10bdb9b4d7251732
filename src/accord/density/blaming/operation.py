"""Name in a user's words the operation that first gave a number that is not finite, and where it is written."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend import core

from ...language.messages.places import is_library
from ..flat import Step
from ..lines import function_of, is_accords, line_of
from .origin import Origin
from .record import holds_bad
from .result import Operation

RULE = "derivative rule"
"""How the name of an operation begins that has a rule of its own for its derivative."""

CONSTANT = "constant"
"""In the place of a primitive, where a number in the code is not finite."""

_WORDS = {
    "div": "division",
    "mul": "product",
    "sub": "difference",
    "add": "sum",
    "add_any": "sum",
    "reduce_sum": "sum",
    "pow": "power",
    "integer_pow": "power",
    "square": "power",
    "dot_general": "product of arrays",
    "select_n": "where",
    "lgamma": "log-gamma",
    "reduce_prod": "product",
    "pure_callback": "callback",
    "io_callback": "callback",
    "custom_linear_solve": "linear solve",
    "linear_solve": "linear solve",
    "triangular_solve": "linear solve",
}
# Operations that change no number share their traceback with the one that does.
_SILENT = ("convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "copy", "jit", "pjit")

# Of these, an entry of the output has more to do with than the same entry of the inputs.
_FACTORING = (
    "cholesky",
    "lu",
    "qr",
    "svd",
    "eigh",
    "triangular_solve",
    "linear_solve",
    "custom_linear_solve",
)
_MOVING = ("sort", "rev", "gather", "scatter", "scatter_add", "dynamic_update_slice", "scan", "while")
_ADDING = ("dot_general", "fft", "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
_NOT_BY_ENTRY = (*_FACTORING, *_MOVING, *_ADDING)


def written_names(closed: core.ClosedJaxpr) -> dict[Any, str]:
    """Name each operation of a program by its traceback, which the operations of its derivatives share."""
    names: dict[Any, str] = {}
    _collect(closed.jaxpr, names)
    return names


def operation_of(origin: Origin, names: Sequence[str], written: dict[Any, str]) -> Operation | None:
    """Describe the operation in words; None where the search was cut off.

    **Arguments**: `names`, of the inputs of the program; `written`, of a derivative, the operations as written.
    """
    if origin.step is None:
        return None
    step = _with_loops(origin, origin.step)
    name = written.get(step.eqn.source_info.traceback, step.name)
    where, line = line_of(step)
    if origin.is_given:
        number = origin.argument
        given = "an array that the model closes over" if number is None else f"argument {names[number]!r}"
        return Operation(given, where, line, output=_first_bad(origin.inputs)[0], primitive="argument")
    value, index = _first_bad(origin.outputs)
    if any(map(holds_bad, origin.inputs)) and not name.startswith(RULE):
        # An array would have come from somewhere: it is a number in the code.
        is_chosen = step.name in (*_SILENT, "select_n")
        word = "" if is_chosen else _WORDS.get(step.name, step.name)
        shown = () if is_chosen else _entries(step.name, origin.inputs, index, origin.outputs)
        owner = "accord" if is_accords(step) else ""
        return Operation(word, where, line, shown, value, primitive=CONSTANT, owner=owner)
    is_rule = name.startswith(RULE)
    inputs = origin.inputs if origin.written is None else origin.written
    is_forward = not written or origin.is_as_written
    return Operation(
        name=_WORDS.get(name, name),
        where=where,
        line=line,
        inputs=()
        if is_rule or not (is_forward or origin.written)
        else _entries(name, inputs, index, origin.outputs),
        output=value,
        is_derivative=not is_forward,
        is_discarded=origin.is_discarded,
        primitive=RULE if is_rule else name,
        owner="accord" if is_accords(step) else _called(step, name),
        step=origin.turns,
    )


def _collect(jaxpr: core.Jaxpr, names: dict[Any, str]) -> None:
    for eqn in jaxpr.eqns:
        name, traceback = eqn.primitive.name, eqn.source_info.traceback
        inner = list(core.jaxprs_in_params(eqn.params))
        if name in ("custom_jvp_call", "custom_vjp_call") and inner:
            info = inner[0].debug_info
            if not is_library(str(info.func_filename or "")):
                name = f"{RULE} of {str(info.func_name)!r}"
        if name not in _SILENT and traceback is not None:
            names.setdefault(traceback, name)
        for each in inner:
            _collect(each, names)


def _called(step: Step, name: str) -> str:
    function = function_of(step)
    return f"`{function}`" if function not in ("", name, _WORDS.get(name)) else ""


def _with_loops(origin: Origin, step: Step) -> Step:
    """Return the step with the frames of the loops around it."""
    frames = [frame for each in (*origin.around, step) for frame in each.frames]
    return Step(step.inputs, step.outputs, tuple(frames))


def _first_bad(outputs: Sequence[Any]) -> tuple[float, tuple[int, ...]]:
    """Find the first number that is not finite, and its index."""
    for each in map(np.asarray, outputs):
        if holds_bad(each):
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(each))[0])
            return float(np.real(each[index])), index
    return float("nan"), ()


def _entries(
    primitive: str, inputs: Sequence[Any], index: tuple[int, ...], outputs: Sequence[Any]
) -> tuple[float, ...]:
    """Find the numbers that belong to an entry of the outputs, if every input has one; else nothing."""
    found = []
    shapes = () if primitive in _NOT_BY_ENTRY else [each.shape for each in outputs]
    for each in map(np.asarray, inputs):
        if each.dtype.kind not in "fiu" or (each.shape and each.shape not in shapes):
            return ()
        found.append(float(each[index] if each.shape else each))
    return tuple(found)
