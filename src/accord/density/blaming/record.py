"""Evaluate a flat program, and record for each step which of its numbers are not finite."""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from ..flat import Atom, Flat, Step

# A program with fewer steps and numbers is compiled as a whole; of others each operation is, once for each shape. The
# first takes 20 ms for each step, since nothing is fused, and the second 30 ms for each kind of operation.
_MAX_COMPILED_STEPS = 100
_MAX_COMPILED_NUMBERS = 1_000_000


@dataclass(frozen=True)
class Record:
    """The numbers that were found at one set of arguments.

    **Fields**
    - `bad`: places that hold a number which is not finite; `nan`: those with NaN among them; `zero`: with a zero.
    - `reach`: by step, which of its inputs hold one that may reach its outputs: a `where` leaves some behind.
    """

    bad: frozenset[int]
    nan: frozenset[int]
    zero: frozenset[int]
    reach: tuple[tuple[bool, ...], ...]


def record(flat: Flat, arguments: Sequence[Any]) -> Record:
    """Evaluate all steps and look at every number."""
    places: list[int] = []

    def look(arguments: Sequence[Any], constants: Mapping[int, Any], xp: Any) -> Any:
        bad, nan, zero, chosen = [], [], [], []
        for step, place, value, given in _evaluate(flat, arguments, constants):
            if step is not None and step.name == "select_n":
                chosen += _chosen(given, xp)
            if _is_float(value):
                places.append(place)
                bad.append(xp.any(~xp.isfinite(value)))
                nan.append(xp.any(xp.isnan(value)))
                zero.append(xp.any(value == 0))
        return bad, nan, zero, chosen

    bad, nan, zero, chosen = (np.asarray(flags, bool) for flags in _do(flat, look, arguments))

    def those(flags: np.ndarray) -> frozenset[int]:
        return frozenset(map(int, np.asarray(places, int)[flags]))

    is_bad = those(bad)
    flags = iter(chosen.tolist())
    reach = [
        tuple(itertools.islice(flags, len(step.inputs)))
        if step.name == "select_n"
        else tuple(_is_bad(atom, is_bad) for atom in step.inputs)
        for step in flat.steps
    ]
    return Record(is_bad, those(nan), those(zero), tuple(reach))


def fetch(flat: Flat, arguments: Sequence[Any], places: Collection[int]) -> dict[int, np.ndarray]:
    """Return the numbers at some places."""

    def look(arguments: Sequence[Any], constants: Mapping[int, Any], xp: Any) -> Any:
        del xp
        return {
            place: value for _, place, value, _ in _evaluate(flat, arguments, constants) if place in places
        }

    return {place: _on_host(value) for place, value in _do(flat, look, arguments).items()}


def value_of(atom: Atom, values: Mapping[int, Any]) -> Any:
    """Return the number that an input of a step is."""
    return atom.val if isinstance(atom, core.Literal) else values[atom]


def holds_bad(value: np.ndarray) -> bool:
    """Return whether a number in an array is not finite."""
    return value.dtype.kind in "fc" and not bool(np.all(np.isfinite(value)))


def _do(flat: Flat, look: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call `look` with arguments and constants, compiled if the program is small enough."""
    shapes: list[Any] = [variable.aval for step in flat.steps for variable in step.eqn.outvars]
    if (
        len(flat.steps) > _MAX_COMPILED_STEPS
        or sum(int(np.prod(each.shape)) for each in shapes) > _MAX_COMPILED_NUMBERS
    ):
        given, constants = jax.tree.map(jnp.asarray, (list(arguments), dict(flat.constants)))
        return look(given, constants, np)
    # Every number is a result: XLA would fuse into each all that it is computed from, which takes minutes to compile.
    options: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_disable_hlo_passes": "fusion"}
    if jax.default_backend() != "cpu":
        options = {}
    run = jax.jit(lambda given, constants: look(given, constants, jnp), compiler_options=options)
    return jax.device_get(run(list(arguments), dict(flat.constants)))


def _evaluate(
    flat: Flat, arguments: Sequence[Any], constants: Mapping[int, Any]
) -> Iterator[tuple[Step | None, int, Any, list[Any]]]:
    """Return each number with its step (None for what is given), its place, and the inputs of the step."""
    values: dict[int, Any] = {**constants, **dict(zip(flat.inputs, arguments, strict=True))}
    for place, value in values.items():
        yield None, place, value, []
    last = {
        atom: number
        for number, step in enumerate(flat.steps)
        for atom in step.inputs
        if not isinstance(atom, core.Literal)
    }
    for number, step in enumerate(flat.steps):
        given = [value_of(atom, values) for atom in step.inputs]
        outputs = _apply(step, given)
        for place, value in zip(step.outputs, outputs, strict=True):
            yield step, place, value, given
            values[place] = value
        for atom in (*step.inputs, *step.outputs):
            if not isinstance(atom, core.Literal) and last.get(atom, number) <= number:
                values.pop(atom, None)


def _apply(step: Step, given: Sequence[Any]) -> list[Any]:
    """Do one operation, called as a program of its own, which needs no knowledge of what it is."""
    eqn = step.eqn
    # A function that is called with a constant has a variable where the constant goes.
    inputs = {
        variable: jnp.asarray(value) if isinstance(atom, core.Literal) else value
        for variable, atom, value in zip(eqn.invars, step.inputs, given, strict=True)
        if not isinstance(variable, core.Literal)
    }
    jaxpr = core.Jaxpr([], list(inputs), eqn.outvars, [eqn], eqn.effects, step.frames[-1].debug_info)
    return list(core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, ()))(*inputs.values()))


def _chosen(given: Sequence[Any], xp: Any) -> list[Any]:
    """Return for each input of a `where` whether it chooses a number in it that is not finite."""
    which, *cases = given
    which = xp.asarray(which).astype(int)
    return [
        False,
        *(_is_float(case) and xp.any(~xp.isfinite(case) & (which == n)) for n, case in enumerate(cases)),
    ]


def _is_bad(atom: Atom, bad: Collection[int]) -> bool:
    if not isinstance(atom, core.Literal):
        return atom in bad
    return holds_bad(np.asarray(atom.val))


def _is_float(value: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(value), jnp.inexact)


def _on_host(value: Any) -> np.ndarray:
    is_key = jnp.issubdtype(value.dtype, jax.dtypes.extended)
    return np.zeros(0) if is_key else np.asarray(value)
