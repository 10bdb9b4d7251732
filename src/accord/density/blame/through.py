"""Take the derivative of each site's term alone, to find the terms through which it is not finite.

One vector-Jacobian product for each row would not do: where a derivative is infinite, zero times it is NaN, and all
rows would look bad. Each term is differentiated alone, and a group of them together where there are many.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

from ..quick import quickly

_AT_ONCE = 8  # groups of terms, each with a gradient of its own in one program


def bad_rows(closed: core.ClosedJaxpr, arguments: Sequence[Any]) -> dict[int, np.ndarray]:
    """Return the derivatives by the first argument that are not finite, by the number of the result."""
    found: dict[int, np.ndarray] = {}
    groups = _parts(range(len(closed.jaxpr.outvars)))
    while groups:
        now, groups = groups[:_AT_ONCE], groups[_AT_ONCE:]
        run = quickly(_gradients([only(closed, group) for group in now]))
        for group, gradient in zip(now, map(np.asarray, run(*arguments)), strict=True):
            if np.all(np.isfinite(gradient)):
                continue
            if len(group) == 1:
                found[group[0]] = gradient
            else:
                groups += _parts(group)
    return dict(sorted(found.items()))


def only(closed: core.ClosedJaxpr, outputs: Sequence[int]) -> core.ClosedJaxpr:
    """Keep the program of some results, without what only the others need."""
    jaxpr = closed.jaxpr
    results = [jaxpr.outvars[number] for number in outputs]
    needed = {each for each in results if not isinstance(each, core.Literal)}
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        if needed.isdisjoint(eqn.outvars) and not eqn.effects:
            continue
        eqns.append(eqn)
        needed.update(each for each in eqn.invars if not isinstance(each, core.Literal))
    shorter = core.Jaxpr(jaxpr.constvars, jaxpr.invars, results, eqns[::-1], jaxpr.effects, jaxpr.debug_info)
    return core.ClosedJaxpr(shorter, closed.consts)


def _parts(numbers: Sequence[int]) -> list[list[int]]:
    parts = np.array_split(np.asarray(numbers), min(len(numbers), _AT_ONCE))
    return [[int(number) for number in part] for part in parts]


def _gradients(programs: Sequence[core.ClosedJaxpr]) -> Callable[..., list[Any]]:
    """Build a function that takes the gradient of the sum of each program's results."""

    def total(position: Any, program: core.ClosedJaxpr, rest: Sequence[Any]) -> Any:
        first, *others = core.jaxpr_as_fun(program)(position, *rest)
        return sum(others, start=first)

    return lambda position, *rest: [jax.grad(total)(position, program, rest) for program in programs]
