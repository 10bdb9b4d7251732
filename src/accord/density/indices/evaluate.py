"""Compute on the host, in NumPy, the integers by which a model indexes."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

from ...core.traced import equations
from ...core.versions import parts_of_scan
from ..flat import CALLS, Step, aval_of, flatten
from .nodes import Column, Counter, Given, Held, Known, Turn
from .table import ELEMENTWISE, RULES

MAX_TURNS = 10_000
"""Of more turns, what a loop computes is not computed here."""

CONTROL = ("scan", "while", "cond")


class UnevaluableError(Exception):
    """An index cannot be computed on the host."""


def has_rule(step: Step) -> bool:
    """Whether NumPy can do this operation, with all that is inside of it."""
    if step.name not in CONTROL:
        return step.name in RULES
    inner = (
        each
        for value in step.eqn.params.values()
        for each in (value if isinstance(value, tuple) else (value,))
    )
    names = {
        e.primitive.name
        for each in inner
        if hasattr(each, "eqns")
        for e in equations(getattr(each, "jaxpr", each))
    }
    return names <= {*RULES, *CONTROL, *CALLS}


class Evaluator:
    """Compute nodes from data, each once; `data` is in NumPy."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._known: dict[int, np.ndarray] = {}

    def __call__(self, node: Known) -> np.ndarray:
        """Its value, with an axis in front for each of its loops.

        **Raises** `UnevaluableError` where there is no rule after all.
        """
        if id(node) not in self._known:
            try:
                self._known[id(node)] = self._value(node)
            except UnevaluableError:
                raise
            except Exception as error:  # a parameter that a rule does not know
                raise UnevaluableError from error
        return self._known[id(node)]

    def _value(self, node: Known) -> np.ndarray:
        match node:
            case Given():
                return np.asarray(self._data[node.name])
            case Held():
                return np.asarray(node.value)
            case Turn():
                return self(node.of)  # whose rows are the turns
            case Column():
                return self(node.of)[..., node.number]
            case Counter():
                turns = np.arange(node.length)[:: -1 if node.is_reversed else 1]
                return self(node.start)[..., None] + turns * node.stride
        values = [self(each) for each in node.inputs]
        if self._is_plain(node, values):
            return _apply(node.step, values)[node.output]
        return _over_loops(node, values)[node.output]

    def _is_plain(self, node: Any, values: Sequence[np.ndarray]) -> bool:
        """Whether axes of loops, if there are any, are where NumPy's own broadcasting takes them to be."""
        if not node.loops:
            return True
        ranks = [value.ndim - len(each.loops) for each, value in zip(node.inputs, values, strict=True)]
        is_aligned = all(
            not each.loops or (each.loops == node.loops and rank == max(ranks))
            for each, rank in zip(node.inputs, ranks, strict=True)
        )
        return node.step.name in ELEMENTWISE and is_aligned


def _over_loops(node: Any, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Do an operation in all turns at once, as JAX's `vmap` writes it; nothing is compiled."""
    step = node.step

    def once(*arrays: Any) -> Any:
        return step.eqn.primitive.bind(*arrays, **step.eqn.params)

    pairs = zip(values, step.eqn.invars, strict=True)
    values = [value.astype(aval_of(variable).dtype, copy=False) for value, variable in pairs]
    function = once
    for loop in reversed(node.loops):
        function = jax.vmap(
            function, in_axes=tuple(0 if loop in each.loops else None for each in node.inputs)
        )
    return _run(jax.make_jaxpr(function)(*values), values)


def _run(closed: core.ClosedJaxpr, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    flat = flatten(closed)
    known: dict[int, np.ndarray] = {place: np.asarray(value) for place, value in flat.constants.items()}
    known.update(zip(flat.inputs, arguments, strict=True))

    def value(atom: Any) -> np.ndarray:
        return np.asarray(atom.val, aval_of(atom).dtype) if isinstance(atom, core.Literal) else known[atom]

    for step in flat.steps:
        known.update(zip(step.outputs, _apply(step, [*map(value, step.inputs)]), strict=True))
    return [*map(value, flat.outputs)]


def _apply(step: Step, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of one operation, in the dtypes that JAX gives them."""
    match step.name:
        case "scan":
            return _scan(step.eqn.params, values)
        case "while":
            return _while(step.eqn.params, values)
        case "cond":
            branches = step.eqn.params["branches"]
            return _run(branches[int(np.clip(int(values[0]), 0, len(branches) - 1))], values[1:])
    if step.name not in RULES:
        raise UnevaluableError
    with np.errstate(all="ignore"):
        found = RULES[step.name](step.eqn.params, *values)
        found = found if isinstance(found, list) else [found]
        pairs = zip(found, step.eqn.outvars, strict=True)
        return [np.asarray(each).astype(aval_of(variable).dtype, copy=False) for each, variable in pairs]


def _scan(params: Mapping[str, Any], values: Sequence[np.ndarray]) -> list[np.ndarray]:
    num_consts, num_carry = parts_of_scan(params)
    consts, rows = values[:num_consts], values[num_consts + num_carry :]
    carry = [*values[num_consts : num_consts + num_carry]]
    length = params["length"]
    if length > MAX_TURNS:
        raise UnevaluableError
    made: list[list[np.ndarray]] = []
    for turn in range(length)[:: -1 if params["reverse"] else 1]:
        results = _run(params["jaxpr"], [*consts, *carry, *(row[turn] for row in rows)])
        carry = results[:num_carry]
        made.append(results[num_carry:])
    avals = params["jaxpr"].jaxpr.outvars[num_carry:]
    ordered = made[:: -1 if params["reverse"] else 1]
    stacked = [
        np.stack([each[number] for each in ordered])
        if ordered
        else np.zeros((0, *v.aval.shape), v.aval.dtype)
        for number, v in enumerate(avals)
    ]
    return [*carry, *stacked]


def _while(params: Mapping[str, Any], values: Sequence[np.ndarray]) -> list[np.ndarray]:
    num_tests, num_consts = params["cond_nconsts"], params["body_nconsts"]
    tests, consts = values[:num_tests], values[num_tests : num_tests + num_consts]
    carry = [*values[num_tests + num_consts :]]
    for _ in range(MAX_TURNS):
        if not np.all(_run(params["cond_jaxpr"], [*tests, *carry])[0]):
            return carry
        carry = _run(params["body_jaxpr"], [*consts, *carry])
    raise UnevaluableError
