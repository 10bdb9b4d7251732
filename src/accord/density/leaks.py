"""Refuse a model that uses a value from outside of what is being traced."""

from collections.abc import Iterable
from typing import Any

import jax
from jax.core import Tracer
from jax.extend.core import Literal

from ..core.errors import ModelError
from .logdensity import LogDensity


def check_leaks(density: LogDensity, position: Any, consts: Iterable[Any]) -> None:
    """Raise `ModelError` where tracing met a tracer of another trace, which it takes for a constant.

    **Arguments**
    - `position`: an abstract one.
    - `consts`: of what was traced.
    """
    leaked = next((value for value in consts if isinstance(value, Tracer)), None)
    if leaked is not None:
        sites = ", ".join(map(repr, _sites_that_see_tracers(density, position)))
        raise ModelError(
            f"the model uses, {f'at site {sites}' if sites else 'in none of its terms'}, a value of shape "
            f"{leaked.shape} and dtype {leaked.dtype} from an earlier run of itself, or from inside of a function that "
            "JAX transforms (jit, scan or the like). It was kept in a global, a closure, an attribute or a cache. "
            "Compute it where it is used, or pass it as an argument and a result."
        )


def _sites_that_see_tracers(density: LogDensity, position: Any) -> list[str]:
    names: list[str] = []

    def terms(position: jax.Array) -> list[jax.Array]:
        found = density.site_terms(position)
        names[:] = found
        return list(found.values())

    traced = jax.make_jaxpr(terms)(position)
    seen = {
        variable
        for variable, value in zip(traced.jaxpr.constvars, traced.consts, strict=True)
        if isinstance(value, Tracer)
    }
    for equation in traced.jaxpr.eqns:
        if any(not isinstance(variable, Literal) and variable in seen for variable in equation.invars):
            seen.update(equation.outvars)
    results = zip(names, traced.jaxpr.outvars, strict=True)
    return [name for name, variable in results if not isinstance(variable, Literal) and variable in seen]
