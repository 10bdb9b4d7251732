"""Compile functions by the options that accord gives XLA, which halve its work."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax

from ..programs.compiler import options_for

P = ParamSpec("P")
T = TypeVar("T")


def compiled(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function as one program, of accord's options; within another that JAX traces, of that one's."""
    outermost = jax.jit(function, compiler_options=options_for(is_large=False))
    within = jax.jit(function)

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return outermost(*args, **kwargs)
        except ValueError:
            pass  # JAX refuses options within another program; an error of the function itself comes again
        return within(*args, **kwargs)

    return run
