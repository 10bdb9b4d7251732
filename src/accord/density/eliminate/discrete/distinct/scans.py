"""Compute the steps of a scan side by side, where nothing goes on from step to step.

What a scan carries into a step may be made of what the steps before it have, and of nothing that was carried for
longer: the labels of the last steps, or their observations. Then it is computed for all steps at once, and so are all
results.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .....core.needed import only
from .....core.traced import equations
from .....core.versions import parts_of_scan
from ....dependence.provenance import sources
from .moves import MAX_MOVED
from .values import Dense, Known, Value, cells_of, joined, numbered, spread

MAX_ENTRIES = 2**24
"""Entries of all arrays in all steps, beyond which a scan goes step by step."""

_BRANCHES = ("cond", "while")

Run = Callable[[ClosedJaxpr, Sequence[Value]], list[Value]]


def side_by_side(
    equation: Any, values: Sequence[Value], is_used: Sequence[bool], run: Run
) -> list[Value] | None:
    """Compute a scan; None where something goes on from step to step."""
    body, length = equation.params["jaxpr"], equation.params["length"]
    num_consts, num_carry = parts_of_scan(equation.params)
    if not _is_suitable(body, length, num_consts):
        return None
    order = _order(body, num_consts, num_carry, is_used)
    if order is None:
        return None
    rows = values[num_consts + num_carry :]
    starts = values[num_consts : num_consts + num_carry]
    all_steps = _of_all_steps(body, length, num_consts)
    dummies: list[Value] = [
        Known(np.zeros((1,) * (len(each.aval.shape) + 1), each.aval.dtype))
        for each in body.jaxpr.invars[num_consts : num_consts + num_carry]
    ]
    carried, ends = dummies, [*starts]
    for number in order:
        part = only(all_steps, _alone(number, len(body.jaxpr.outvars)), keeps_effects=True)
        (after,) = run(part, [*values[:num_consts], *carried, *rows])
        shape = (length, *body.jaxpr.outvars[number].aval.shape)
        before, ends[number] = _shifted(starts[number], after, shape, is_reversed=equation.params["reverse"])
        carried = [before if place == number else each for place, each in enumerate(carried)]
    wanted = [place >= num_carry and used for place, used in enumerate(is_used)]
    found = iter(run(only(all_steps, wanted, keeps_effects=True), [*values[:num_consts], *carried, *rows]))
    unused = iter(equation.outvars[num_carry:])
    stacked = [
        next(found) if is_one else _zero(v) for is_one, v in zip(wanted[num_carry:], unused, strict=True)
    ]
    return [*ends, *stacked]


def _order(body: ClosedJaxpr, num_consts: int, num_carry: int, is_used: Sequence[bool]) -> list[int] | None:
    """Order what is carried and needed, so that each needs those before it; None where one needs itself."""
    given = [
        {n - num_consts} if 0 <= n - num_consts < num_carry else set() for n in range(len(body.jaxpr.invars))
    ]
    needs = sources(body.jaxpr, given)
    order: list[int] = []
    waiting: set[int] = set()

    def is_reached(number: int) -> bool:
        if number in order:
            return True
        if number in waiting:
            return False
        waiting.add(number)
        is_all = all(is_reached(other) for other in sorted(needs[number]))
        waiting.discard(number)
        order.append(number)
        return is_all

    wanted = {number for number in range(num_carry) if is_used[number]}
    wanted = wanted.union(*(needs[n] for n in range(num_carry, len(needs)) if is_used[n]))
    return order if all(is_reached(number) for number in sorted(wanted)) else None


def _of_all_steps(body: ClosedJaxpr, length: int, num_consts: int) -> ClosedJaxpr:
    """Write the body of a scan for all steps at once."""
    axes = [None if number < num_consts else 0 for number in range(len(body.jaxpr.invars))]
    shapes = [
        jax.ShapeDtypeStruct(v.aval.shape if axis is None else (length, *v.aval.shape), v.aval.dtype)
        for v, axis in zip(body.jaxpr.invars, axes, strict=True)
    ]
    return jax.make_jaxpr(jax.vmap(jaxpr_as_fun(body), axes, axis_size=length))(*shapes)


def _shifted(start: Value, after: Value, shape: tuple[int, ...], *, is_reversed: bool) -> tuple[Value, Value]:
    """Return what each step begins with, and what is left after the last one."""
    all_cells = [numbered(start), numbered(after)]
    if all(cells is not None for cells in all_cells) and prod(shape) <= MAX_MOVED:
        together, (first, rest) = joined([cells for cells in all_cells if cells is not None])
        rest = np.broadcast_to(rest, (shape[0], *rest.shape[1:]))
        wide = np.broadcast_shapes(first.shape, rest.shape[1:])
        first, rest = np.broadcast_to(first, wide)[None], np.broadcast_to(rest, (shape[0], *wide))
        parts = [rest[1:], first] if is_reversed else [first, rest[:-1]]
        last = rest[0] if is_reversed else rest[-1]
        return cells_of(together, np.concatenate(parts)), cells_of(together, last)
    first, rest = spread(start, shape[1:])[None], spread(after, shape)
    parts = [rest[1:], first] if is_reversed else [first, rest[:-1]]
    return Dense(jax.lax.concatenate(parts, 0)), Dense(rest[0] if is_reversed else rest[-1])


def _alone(number: int, count: int) -> list[bool]:
    return [place == number for place in range(count)]


def _zero(variable: Any) -> Value:
    """Return what stands for a result that nothing needs."""
    return Known(np.zeros((1,) * len(variable.aval.shape), variable.aval.dtype))


def _is_suitable(body: ClosedJaxpr, length: int, num_consts: int) -> bool:
    """Return whether there are several steps that fit into memory.

    Branches go step by step: side by side, each step would take all of them, and the derivatives of all.
    """
    inside = [*equations(body.jaxpr)]
    num_entries = sum(prod(v.aval.shape) for equation in inside for v in equation.outvars)
    has_branches = any(equation.primitive.name in _BRANCHES for equation in inside)
    is_mapped = num_consts < len(body.jaxpr.invars)
    return length > 1 and is_mapped and not has_branches and length * num_entries <= MAX_ENTRIES
