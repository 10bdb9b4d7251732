"""Leave out of a traced function what it computes again.

XLA merges equal operations, but no loops, nor what follows from two equal ones. A guide and its model each find the
same part of the data by such a loop, and the networks of the guide would be evaluated twice.
"""

from collections.abc import Hashable
from typing import Any

from jax.extend.core import ClosedJaxpr, DropVar, Jaxpr
from jax.extend.core import Literal as Constant

from ..core.traced import equation_key, equations

_LOOPS = ("while", "scan")


def without_repeats(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Return the program with each result computed once, also within its loops; for programs that run as they are."""
    return closed.replace(jaxpr=_once_each(closed.jaxpr))


def _once_each(jaxpr: Jaxpr) -> Jaxpr:
    if sum(equation.primitive.name in _LOOPS for equation in equations(jaxpr)) < 2:
        return jaxpr.replace(eqns=[_smaller(equation) for equation in jaxpr.eqns])
    same: dict[Any, Any] = {}  # from a result to the equal one that was there first
    first: dict[Hashable, Any] = {}
    kept: list[Any] = []
    for equation in jaxpr.eqns:
        given = [v if isinstance(v, Constant) else same.get(v, v) for v in equation.invars]
        equation = _smaller(equation.replace(invars=given))
        seen = equation if equation.effects else first.setdefault(equation_key(equation), equation)
        if seen is equation or any(isinstance(v, DropVar) for v in seen.outvars):
            kept.append(equation)
        else:
            same |= zip(equation.outvars, seen.outvars, strict=True)
    results = [v if isinstance(v, Constant) else same.get(v, v) for v in jaxpr.outvars]
    return jaxpr.replace(eqns=kept, outvars=results)


def _smaller(equation: Any) -> Any:
    """Look within a loop that is a program of its own."""
    if equation.primitive.name != "while":
        return equation
    body = equation.params["body_jaxpr"]
    return equation.replace(params={**equation.params, "body_jaxpr": without_repeats(body)})
