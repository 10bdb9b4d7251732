"""Hand programs to XLA, keep what it returns, and say what in a program must be run with care."""

import threading
from collections.abc import Callable
from typing import Any

import jax

from ..core.versions import QUICK_CPU_OPTIONS
from .cache import ProgramCache

_MAX_PROGRAMS = 32
_LAPACK = {
    "cholesky",
    "triangular_solve",
    "lu",
    "eigh",
    "eig",
    "svd",
    "geqrf",
    "householder_product",
    "schur",
    "hessenberg",
}

PROGRAMS: ProgramCache[tuple[Any, Any]] = ProgramCache(_MAX_PROGRAMS)
"""What this process has compiled, by what was traced."""

_may_run = threading.Lock()


def compile_lowered(lowered: Any) -> Any:
    """Compile what has been lowered, with the options of this library."""
    return lowered.compile(dict(QUICK_CPU_OPTIONS) if jax.default_backend() == "cpu" else None)


def is_batched_lapack(equation: Any, lanes: int) -> bool:
    """Whether it hands several matrices at once to LAPACK."""
    return equation.primitive.name in _LAPACK and (lanes > 1 or equation.invars[0].aval.ndim > 2)


def spans_devices(equation: Any) -> bool:
    """Whether it is a user's own program over several devices."""
    return equation.primitive.name == "shard_map" and equation.params["mesh"].size > 1


def one_at_a_time(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that is never run beside another one of its kind, and has ended when it returns.

    Batched LAPACK in jaxlib waits for the very threads that it runs on, and devices wait for each other in a
    collective: two such programs would wait for ever.
    """

    def run(*arguments: Any) -> Any:
        with _may_run:
            return jax.block_until_ready(program(*arguments))

    return run
