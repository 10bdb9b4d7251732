"""Trace a long program again, with one operation in the place of many that are alike."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from ...core.traced import equations
from ...density.flat import Atom, Flat, Step, aval_of, flatten
from .stacks import Values, taken
from .units import LEAST_ALIKE, MOST_NUMBERS, Alike, Sum, units_of

LEAST_OPERATIONS = 1000
"""Operations of a program, from which on it is worth it; all others stay as they are, to the bit."""

_KEPT = ("remat", "remat2", "checkpoint")  # which say what is to be computed twice


def merged(closed: ClosedJaxpr, least: int = LEAST_OPERATIONS) -> ClosedJaxpr:
    """Return a program with the same results up to the order in which long sums are added.

    Its constants are those of `closed`, and then numbers that were written in it. A program of fewer than `least`
    operations is returned as it is, and so is one that has an effect, such as printing.
    """
    whole = closed.jaxpr
    if len(whole.eqns) < least or closed.effects:
        return closed
    if any(equation.primitive.name in _KEPT for equation in equations(whole)):
        return closed
    flat = flatten(closed, is_bounded=False)
    places = [*flat.constants, *flat.inputs]
    shapes = [_shape(value) for value in flat.constants.values()] + [_shape(aval_of(v)) for v in whole.invars]
    traced = jax.make_jaxpr(lambda *arrays: _results(flat, dict(zip(places, arrays, strict=True))))(*shapes)
    count = len(flat.constants)
    given, inputs = traced.jaxpr.invars[:count], traced.jaxpr.invars[count:]
    part = Jaxpr(
        [*given, *traced.jaxpr.constvars],
        inputs,
        traced.jaxpr.outvars,
        traced.jaxpr.eqns,
        traced.jaxpr.effects,
        whole.debug_info,
    )
    return ClosedJaxpr(part, [*flat.constants.values(), *traced.consts])


def _results(flat: Flat, arrays: dict[int, Any]) -> list[Any]:
    """Compute the results of a flat program from its inputs and constants."""
    units, parts = units_of(flat)
    values = Values(arrays, parts)
    for unit in units:
        match unit:
            case Alike(steps):
                _compute_together(values, steps)
            case Sum(terms):
                stack = values.stacked(terms, unit.aval.shape, unit.aval.dtype)
                values.arrays[unit.output] = jnp.sum(stack, 0)
            case Step():
                _compute(values, unit)
    return [values.one(atom) for atom in flat.outputs]


def _compute_together(values: Values, steps: Sequence[Step]) -> None:
    eqn = steps[0].eqn
    arguments, axes = [], []
    for number, variable in enumerate(eqn.invars):
        atoms = [step.inputs[number] for step in steps]
        is_one = values.are_one(atoms)
        aval = aval_of(variable)
        arguments.append(values.one(atoms[0]) if is_one else values.stacked(atoms, aval.shape, aval.dtype))
        axes.append(None if is_one else 0)
    places = [step.outputs[0] for step in steps]

    def compute(*each: Any) -> Any:
        return eqn.primitive.bind(*each, **eqn.params)

    with eqn.ctx.manager:
        if any(axis == 0 for axis in axes):
            values.keep(places, jax.vmap(compute, axes)(*arguments))
        else:
            values.keep_one(places, compute(*arguments))


def _compute(values: Values, step: Step) -> None:
    eqn = step.eqn
    if step.name == "concatenate" and len(step.inputs) >= LEAST_ALIKE:
        values.arrays[step.outputs[0]] = _joined(values, step)
        return
    arguments = [values.one(atom) for atom in step.inputs]
    with eqn.ctx.manager:
        found = eqn.primitive.bind(*arguments, **eqn.params)
    results = found if eqn.primitive.multiple_results else [found]
    values.arrays.update(zip(step.outputs, results, strict=True))


def _joined(values: Values, step: Step) -> Any:
    """Concatenate arrays of which many are small: those of one length come out of stacks, and then into order."""
    axis, aval = step.eqn.params["dimension"], aval_of(step.eqn.outvars[0])
    sizes = [math.prod(aval_of(variable).shape) for variable in step.eqn.invars]
    if axis != 0 or max(sizes) > MOST_NUMBERS:
        return jax.lax.concatenate([values.one(atom) for atom in step.inputs], axis)
    groups: dict[int, list[tuple[Atom, int]]] = {}
    start = 0
    for atom, variable in zip(step.inputs, step.eqn.invars, strict=True):
        length = aval_of(variable).shape[0]
        groups.setdefault(length, []).append((atom, start))
        start += length
    pieces, places = [], []
    for length, atoms in groups.items():
        stack = values.stacked([atom for atom, _ in atoms], (length, *aval.shape[1:]), aval.dtype)
        pieces.append(jnp.reshape(stack, (len(atoms) * length, *aval.shape[1:])))
        places.append(np.add.outer([start for _, start in atoms], np.arange(length)).ravel())
    whole = pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)
    return taken(whole, np.argsort(np.concatenate(places)))


def _shape(value: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(value.shape, value.dtype)
