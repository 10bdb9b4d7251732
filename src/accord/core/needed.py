"""Find the arguments that a traced function needs for its results, or for some of them."""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr


def is_needed(jaxpr: Any) -> list[bool]:
    """Return, per argument, whether a result depends on it; inner functions count as needing all of theirs.

    JAX drops unneeded arguments when it compiles, but only after they were put on a device.
    """
    wanted = {id(variable) for variable in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(id(variable) in wanted for variable in equation.outvars):
            wanted |= {id(variable) for variable in equation.invars}
    return [id(variable) in wanted for variable in jaxpr.invars]


def only(closed: ClosedJaxpr, is_wanted: Sequence[bool], *, keeps_effects: bool) -> ClosedJaxpr:
    """Return the function with only some of its results, and without computations for the others.

    `keeps_effects`: whether operations with an effect, such as printing, stay if no result depends on them.
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
