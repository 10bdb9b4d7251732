"""Tell what a traced function needs for what it returns, or for a part of that."""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr


def is_needed(jaxpr: Any) -> list[bool]:
    """By argument, whether some result depends on it; a function that is called within is taken to need all of its own.

    JAX leaves out what is not needed when it compiles, but only after the arguments have been put on a device.
    """
    wanted = {id(variable) for variable in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(id(variable) in wanted for variable in equation.outvars):
            wanted |= {id(variable) for variable in equation.invars}
    return [id(variable) in wanted for variable in jaxpr.invars]


def only(closed: ClosedJaxpr, is_wanted: Sequence[bool], *, keeps_effects: bool) -> ClosedJaxpr:
    """The same function with some of its results, and without what is computed for the others.

    `keeps_effects` says whether what has an effect, such as printing, stays where no result depends on it.
    """
    whole = closed.jaxpr
    results = [variable for variable, is_one in zip(whole.outvars, is_wanted, strict=True) if is_one]
    wanted, equations = {id(variable) for variable in results}, []
    for equation in reversed(whole.eqns):
        has_effect = keeps_effects and bool(equation.effects)
        if has_effect or any(id(variable) in wanted for variable in equation.outvars):
            wanted |= {id(variable) for variable in equation.invars}
            equations.insert(0, equation)
    effects = set().union(*(equation.effects for equation in equations))
    part = Jaxpr(whole.constvars, whole.invars, results, equations, effects, whole.debug_info)
    return ClosedJaxpr(part, closed.consts)
