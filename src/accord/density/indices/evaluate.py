"""Compute on the host, in NumPy, the integers by which a model indexes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..flat import aval_of
from ..host import ELEMENTWISE, MAX_TURNS, ROUNDINGS, Rounding, UnevaluableError, results_of, run, turns_of
from .nodes import Carried, Column, Counter, Given, Held, Known, Turn


class Evaluator:
    """Compute nodes from data, each once; `data` is in NumPy. `rounding` is as the program may do it."""

    def __init__(self, data: Mapping[str, Any], rounding: Rounding | None = None) -> None:
        self._data = data
        self._rounding = rounding
        self._known: dict[int, np.ndarray] = {}

    def __call__(self, node: Known) -> np.ndarray:
        """Compute the value of a node, with an axis in front for each of its loops.

        **Raises** `UnevaluableError` where there is no rule after all.
        """
        if id(node) not in self._known:
            self._known[id(node)] = self._value(node)
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
            case Carried():
                return self._carried(node)
        values = [self(each) for each in node.inputs]
        if self._is_plain(node, values):
            return results_of(node.step, values, self._rounding)[node.output]
        return _over_loops(node, values, self._rounding)[node.output]

    def _carried(self, node: Carried) -> np.ndarray:
        """Go through a scan, once for each turn of the loops around it."""
        values = {id(each): self(each) for each in node.needed}
        around = node.loops[:-1]
        lengths = {
            loop: values[id(each)].shape[axis] for each in node.needed for axis, loop in enumerate(each.loops)
        }
        sizes = [lengths[loop] for loop in around]
        num_ways = 1 if node.is_exact else 1 + len(ROUNDINGS)
        if math.prod(sizes) * node.length * num_ways > MAX_TURNS:
            raise UnevaluableError
        found: list[np.ndarray] = []
        for turns in np.ndindex(*sizes):
            turn = dict(zip(around, turns, strict=True))
            # What is not needed is not looked at.
            consts, carry, rows = (
                [
                    np.zeros(node.length)
                    if each is None
                    else values[id(each)][tuple(turn[loop] for loop in each.loops)]
                    for each in part
                ]
                for part in (node.consts, node.carry, node.rows)
            )
            found.append(self._of_turns(node, consts, carry, rows))
        return np.reshape(found, (*sizes, *found[0].shape)) if found else np.zeros((*sizes, node.length))

    def _of_turns(
        self, node: Carried, consts: list[np.ndarray], carry: list[np.ndarray], rows: list[np.ndarray]
    ) -> np.ndarray:
        """Stack what a scan carries at the beginning of each turn."""
        each_turn = turns_of(
            node.body, node.length, consts, carry, rows, is_reversed=node.is_reversed, rounding=self._rounding
        )
        found = [carry[node.number], *(results[node.number] for results in each_turn)][: node.length]
        return np.stack(found[::-1] if node.is_reversed else found)

    def _is_plain(self, node: Any, values: Sequence[np.ndarray]) -> bool:
        """Return whether axes of loops, if any, are where NumPy's own broadcasting takes them to be."""
        if not node.loops:
            return True
        ranks = [value.ndim - len(each.loops) for each, value in zip(node.inputs, values, strict=True)]
        is_aligned = all(
            not each.loops or (each.loops == node.loops and rank == max(ranks))
            for each, rank in zip(node.inputs, ranks, strict=True)
        )
        return node.step.name in ELEMENTWISE and is_aligned


def _over_loops(node: Any, values: Sequence[np.ndarray], rounding: Rounding | None) -> list[np.ndarray]:
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
    try:
        closed = jax.make_jaxpr(function)(*values)
    except NotImplementedError as error:  # JAX cannot write this operation for all turns at once
        raise UnevaluableError from error
    return run(closed, values, rounding)
