"""Go back from a result that is not finite to the operation that first made it so, also in loops and branches."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax.extend import core

from ...core.versions import parts_of_scan
from ..flat import Flat, Step, flatten
from ..quick import quickly
from .record import fetch, holds_bad, record, value_of
from .way import meets_a_discarded_zero, origins_of, way_back

MAX_TURNS = 5_000
"""The most turns of a loop that are examined."""


@dataclass(frozen=True)
class Origin:
    """The place where numbers that are not finite come from.

    **Fields**
    - `step`: the operation; None where the search was cut off.
    - `is_given`: whether what it is given is not finite already, and comes from outside of the program: from its
      input number `argument`, or where that is None, from an array that it holds.
    - `inputs`, `outputs`: the numbers of the step. `written`: in a derivative, the inputs of the operation as written,
      which `is_as_written` says the step is.
    - `is_discarded`: whether what comes of it meets a zero which a `where` put there, in a derivative.
    - `around`: the loops and branches in which it stands, outermost first. `turns`: which turn of each loop.
    - `remark`: what was cut off.
    """

    step: Step | None
    argument: int | None = None
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    written: tuple[Any, ...] | None = None
    is_as_written: bool = False
    is_given: bool = False
    is_discarded: bool = False
    around: tuple[Step, ...] = ()
    turns: tuple[int, ...] = ()
    remark: str = ""


def origin_of(
    closed: core.ClosedJaxpr,
    arguments: Sequence[Any],
    outputs: Collection[int] | None = None,
    written: Mapping[Any, str] | None = None,
    is_inside: bool = False,
) -> Origin | None:
    """Find the origin of what is not finite among some results; None if there is none.

    Where a result is NaN, it is the origin of the NaN: an infinity may be meant, as the first of running maxima.

    **Arguments**
    - `outputs`: the numbers of these results, all by default.
    - `written`: of a derivative, the names of operations as they were written, by their tracebacks.
    - `is_inside`: whether this is the inside of a loop or a branch, whose inputs have no names.

    **Raises** `TooLongError` for a program that is too long to be looked at.
    """
    flat = flatten(closed)
    seen = record(flat, arguments)
    asked = range(len(flat.outputs)) if outputs is None else outputs
    results = [flat.outputs[number] for number in asked]
    bad = [place for place in results if not isinstance(place, core.Literal) and place in seen.bad]
    if not bad:
        return None
    way, given = way_back(flat, seen, bad)
    roots = [number for number in way if not any(origins_of(flat, seen, number))]
    # NaN among the data is earlier than anything that is computed; an infinity there may be a bound, and harmless.
    for place in () if is_inside else given:
        value = fetch(flat, arguments, [place])[place]
        if not roots or np.any(np.isnan(value)):
            return _given(flat, way, place, value)
    first = min(roots or way, default=None)
    if first is None:
        return None
    root = flat.steps[first]
    twin = _as_written(flat, root, written or {})
    atoms = (*root.inputs, *root.outputs, *(twin.inputs if twin else ()))
    values = fetch(flat, arguments, {atom for atom in atoms if not isinstance(atom, core.Literal)})
    inputs = tuple(np.asarray(value_of(atom, values)) for atom in root.inputs)
    origin = Origin(
        root,
        inputs=inputs,
        outputs=tuple(values[place] for place in root.outputs),
        written=tuple(np.asarray(value_of(atom, values)) for atom in twin.inputs) if twin else None,
        is_as_written=twin is root,
        is_discarded=meets_a_discarded_zero(flat, arguments, seen, way, first),
    )
    inner = _inside(root, inputs, [place in seen.bad for place in root.outputs], written)
    if inner is None:
        return origin
    return replace(
        inner,
        is_discarded=inner.is_discarded or origin.is_discarded,
        around=(root, *inner.around),
    )


def _given(flat: Flat, way: Collection[int], place: int, value: np.ndarray) -> Origin | None:
    """Find what is given and not finite, with the first step that uses it on the way."""
    users = [number for number in way if place in flat.steps[number].inputs]
    if not users:
        return None
    argument = flat.inputs.index(place) if place in flat.inputs else None
    return Origin(flat.steps[min(users)], argument, (value,), is_given=True)


def _as_written(flat: Flat, root: Step, written: Mapping[Any, str]) -> Step | None:
    """Find the operation whose derivative a step is part of, if it is in the same program; it may be that step."""
    name = written.get(root.eqn.source_info.traceback)
    # A function that is compiled by itself is traced once, and called from several lines: all calls must be the same.
    steps = (each for each in flat.steps if each.name == name and not each.is_transposed)
    return next((each for each in steps if each.tracebacks == root.tracebacks), None)


def _inside(
    step: Step, inputs: Sequence[Any], bad: Sequence[bool], written: Mapping[Any, str] | None
) -> Origin | None:
    """Find where it begins within a loop or a branch; None for any other step."""
    params = step.eqn.params
    if step.name == "cond":
        number = int(np.clip(int(inputs[0]), 0, len(params["branches"]) - 1))
        return origin_of(params["branches"][number], inputs[1:], _numbers(bad), written, is_inside=True)
    if step.name == "scan":
        return _inside_scan(params, inputs, bad, written)
    if step.name == "while":
        return _inside_while(params, inputs, bad, written)
    return None


def _inside_scan(
    params: Any, inputs: Sequence[Any], bad: Sequence[bool], written: Mapping[Any, str] | None
) -> Origin | None:
    body, length = params["jaxpr"], params["length"]
    num_consts, num_carry = parts_of_scan(params)
    consts, carry, rows = (
        inputs[:num_consts],
        inputs[num_consts : num_consts + num_carry],
        inputs[num_consts + num_carry :],
    )
    turn = quickly(core.jaxpr_as_fun(body))
    order = range(length)[::-1] if params["reverse"] else range(length)
    for count, index in enumerate(order):
        if count >= MAX_TURNS:
            return Origin(None, remark=_cut_off())
        given = [*consts, *carry, *(row[index] for row in rows)]
        results = [np.asarray(each) for each in turn(*given)]
        before = [*carry, *(None for _ in results[num_carry:])]
        is_bad = [
            bad[number] and _is_worse(*pair) for number, pair in enumerate(zip(before, results, strict=True))
        ]
        if any(is_bad):
            return _in_turn(origin_of(body, given, _numbers(is_bad), written, is_inside=True), index)
        carry = results[:num_carry]
    return None


def _inside_while(
    params: Any, inputs: Sequence[Any], bad: Sequence[bool], written: Mapping[Any, str] | None
) -> Origin | None:
    num_tests, num_consts = params["cond_nconsts"], params["body_nconsts"]
    tests, consts = inputs[:num_tests], inputs[num_tests : num_tests + num_consts]
    carry = list(inputs[num_tests + num_consts :])
    goes_on = quickly(core.jaxpr_as_fun(params["cond_jaxpr"]))
    turn = quickly(core.jaxpr_as_fun(params["body_jaxpr"]))
    for index in range(MAX_TURNS):
        if not bool(np.all(goes_on(*tests, *carry)[0])):
            return None
        results = [np.asarray(each) for each in turn(*consts, *carry)]
        is_bad = [bad[n] and _is_worse(*pair) for n, pair in enumerate(zip(carry, results, strict=True))]
        if any(is_bad):
            inner = origin_of(
                params["body_jaxpr"], [*consts, *carry], _numbers(is_bad), written, is_inside=True
            )
            return _in_turn(inner, index)
        carry = results
    return Origin(None, remark=_cut_off())


def _is_worse(before: np.ndarray | None, after: np.ndarray) -> bool:
    """Return whether an array has become NaN, or infinite where it was finite."""
    if before is None or not holds_bad(before):
        return holds_bad(after)
    return bool(np.any(np.isnan(after))) and not np.any(np.isnan(before))


def _in_turn(origin: Origin | None, turn: int) -> Origin | None:
    return None if origin is None else replace(origin, turns=(turn, *origin.turns))


def _numbers(flags: Sequence[bool]) -> list[int]:
    return [number for number, flag in enumerate(flags) if flag]


def _cut_off() -> str:
    return f"The first {MAX_TURNS} turns of a loop are finite; the others were not looked at one by one."
