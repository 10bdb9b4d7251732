"""Compute the results of traced operations in NumPy, with the loops and branches among them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from ...core.traced import equations
from ...core.versions import parts_of_scan
from ..flat import CALLS, Flat, Step, aval_of, flatten
from .rounding import Rounding
from .rules import RULES, is_exact
from .unevaluable import Parameters, UnevaluableError

MAX_TURNS = 10_000
"""The most turns of a loop that are computed here."""

Value = TypeVar("Value")

CONTROL = ("scan", "while", "cond")


def is_computable(step: Step, *, exactly: bool) -> bool:
    """Return whether NumPy has a rule for an operation, and for every operation inside of it.

    **Arguments**: `exactly`: accept only rules whose results are the same bits in NumPy and in the program.
    """

    def has_rule(equation: Any) -> bool:
        return equation.primitive.name in RULES and (not exactly or is_exact(equation))

    if step.name not in CONTROL:
        return has_rule(step.eqn)
    functions = (
        getattr(each, "jaxpr", each)
        for value in step.eqn.params.values()
        for each in (value if isinstance(value, tuple) else (value,))
        if hasattr(each, "eqns")
    )
    return all(
        equation.primitive.name in (*CONTROL, *CALLS) or has_rule(equation)
        for function in functions
        for equation in equations(function)
    )


def interpret(
    flat: Flat,
    inputs: Sequence[Value],
    read: Callable[[Any], Value],
    apply: Callable[[Step, list[Value]], Sequence[Value]],
) -> list[Value]:
    """Go through a flat program step by step, and return the values of its outputs.

    **Arguments**
    - `inputs`: the values of its inputs.
    - `read`: makes a value of an array that the program holds; `apply`: makes those of one step's results.
    """
    known = {place: read(array) for place, array in flat.constants.items()}
    known.update(zip(flat.inputs, inputs, strict=True))

    def value(atom: Any) -> Value:
        return read(_number(atom)) if isinstance(atom, core.Literal) else known[atom]

    for step in flat.steps:
        known.update(zip(step.outputs, apply(step, [*map(value, step.inputs)]), strict=True))
    return [*map(value, flat.outputs)]


def run(
    closed: core.ClosedJaxpr, arguments: Sequence[np.ndarray], rounding: Rounding | None = None
) -> list[np.ndarray]:
    """Compute the results of a traced function, rounded as NumPy does or in another way.

    **Raises** `UnevaluableError` where a rule is missing, or does not know how the operation is used.
    """
    return _run(flatten(closed, is_bounded=False), arguments, rounding)


def turns_of(
    body: Flat,
    length: int,
    consts: Sequence[np.ndarray],
    carry: Sequence[np.ndarray],
    rows: Sequence[np.ndarray],
    *,
    is_reversed: bool,
    rounding: Rounding | None = None,
) -> Iterator[list[np.ndarray]]:
    """Compute the results of each turn of a loop, in the order in which they are made: what it carries, then the rest.

    **Raises** `UnevaluableError` as `run` does, and for too many turns.
    """
    if length > MAX_TURNS:
        raise UnevaluableError
    for turn in range(length)[:: -1 if is_reversed else 1]:
        results = _run(body, [*consts, *carry, *(row[turn] for row in rows)], rounding)
        yield results
        carry = results[: len(carry)]


def results_of(
    step: Step, values: Sequence[np.ndarray], rounding: Rounding | None = None
) -> list[np.ndarray]:
    """Compute the results of one operation, in the dtypes that JAX gives them.

    **Raises** `UnevaluableError` as `run` does. What else a rule raises is a fault of the rule.
    """
    dtypes = [aval_of(variable).dtype for variable in step.eqn.outvars]
    if not all(map(_is_of_numpy, (*dtypes, *(value.dtype for value in values)))):
        raise UnevaluableError("NumPy computes with its own dtypes alone")
    with np.errstate(all="ignore"):
        found = _applied(step, values, rounding)
        if rounding is not None and step.name not in CONTROL and not is_exact(step.eqn):
            found = rounding.moved(step.name, lambda others: _applied(step, others, None), values, found)
        return [np.asarray(each).astype(dtype, copy=False) for each, dtype in zip(found, dtypes, strict=True)]


def _run(flat: Flat, inputs: Sequence[np.ndarray], rounding: Rounding | None) -> list[np.ndarray]:
    return interpret(flat, inputs, np.asarray, lambda step, values: results_of(step, values, rounding))


def _applied(step: Step, values: Sequence[np.ndarray], rounding: Rounding | None) -> list[np.ndarray]:
    match step.name:
        case "scan":
            return _scan(step.eqn.params, values, rounding)
        case "while":
            return _while(step.eqn.params, values, rounding)
        case "cond":
            branches = step.eqn.params["branches"]
            return run(branches[int(np.clip(int(values[0]), 0, len(branches) - 1))], values[1:], rounding)
    if step.name not in RULES:
        raise UnevaluableError
    found = RULES[step.name](Parameters(step.eqn.params), *values)
    return found if isinstance(found, list) else [found]


def _scan(
    params: Mapping[str, Any], values: Sequence[np.ndarray], rounding: Rounding | None
) -> list[np.ndarray]:
    num_consts, num_carry = parts_of_scan(params)
    consts, rows = values[:num_consts], values[num_consts + num_carry :]
    carry = [*values[num_consts : num_consts + num_carry]]
    made: list[list[np.ndarray]] = []
    body, is_reversed = flatten(params["jaxpr"], is_bounded=False), params["reverse"]
    for results in turns_of(
        body, params["length"], consts, carry, rows, is_reversed=is_reversed, rounding=rounding
    ):
        carry = results[:num_carry]
        made.append(results[num_carry:])
    avals = params["jaxpr"].jaxpr.outvars[num_carry:]
    ordered = made[:: -1 if is_reversed else 1]
    stacked = [
        np.stack([each[number] for each in ordered])
        if ordered
        else np.zeros((0, *v.aval.shape), v.aval.dtype)
        for number, v in enumerate(avals)
    ]
    return [*carry, *stacked]


def _while(
    params: Mapping[str, Any], values: Sequence[np.ndarray], rounding: Rounding | None
) -> list[np.ndarray]:
    num_tests, num_consts = params["cond_nconsts"], params["body_nconsts"]
    tests, consts = values[:num_tests], values[num_tests : num_tests + num_consts]
    carry = [*values[num_tests + num_consts :]]
    test = flatten(params["cond_jaxpr"], is_bounded=False)
    body = flatten(params["body_jaxpr"], is_bounded=False)
    for _ in range(MAX_TURNS):
        if not np.all(_run(test, [*tests, *carry], rounding)[0]):
            return carry
        carry = _run(body, [*consts, *carry], rounding)
    raise UnevaluableError


def _is_of_numpy(dtype: Any) -> bool:
    """Return whether a dtype is NumPy's own: not bfloat16, small integers, or those of random keys."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biufc"


def _number(literal: Any) -> Any:
    dtype = aval_of(literal).dtype
    return literal.val if jnp.issubdtype(dtype, jax.dtypes.extended) else np.asarray(literal.val, dtype)
