"""Tell which arguments a traced function needs for what it returns."""

from typing import Any


def is_needed(jaxpr: Any) -> list[bool]:
    """By argument, whether some result depends on it; a function that is called within is taken to need all of its own.

    JAX leaves out what is not needed when it compiles, but only after the arguments have been put on a device.
    """
    wanted = {id(variable) for variable in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(id(variable) in wanted for variable in equation.outvars):
            wanted |= {id(variable) for variable in equation.invars}
    return [id(variable) in wanted for variable in jaxpr.invars]
