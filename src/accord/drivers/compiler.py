"""Compile programs by XLA, cache them, and find programs that must not run side by side."""

import math
import threading
from collections.abc import Callable
from typing import Any

import jax

from ..core.versions import FUSING_CPU_OPTIONS, QUICK_CPU_OPTIONS
from .cache import ProgramCache

_MAX_PROGRAMS = 32
_MANY_UPDATES = 2**14
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
"""Compiled programs of this process, by what was traced."""

_may_run = threading.Lock()


def compile_lowered(lowered: Any, *, adds_much: bool = False) -> Any:
    """Compile a lowered program with accord's options."""
    return lowered.compile(options_for(adds_much))


def options_for(adds_much: bool) -> dict[str, bool | int] | None:
    """Return the options for XLA; `adds_much`: the program has an equation that `adds_many_up`."""
    if jax.default_backend() != "cpu":
        return None
    return dict(FUSING_CPU_OPTIONS if adds_much else QUICK_CPU_OPTIONS)


def adds_many_up(equation: Any) -> bool:
    """Return whether an equation sums so many numbers by group that slower compiling (0.1 to 0.3 s) pays.

    A gradient of 100,000 rows in 200 groups takes 255 us for 464, of 20,000 rows 123 for 131, of 2,000 rows 81 for 67.
    """
    return (
        equation.primitive.name == "scatter-add" and math.prod(equation.invars[2].aval.shape) >= _MANY_UPDATES
    )


def is_batched_lapack(equation: Any, lanes: int) -> bool:
    """Return whether an equation passes several matrices at once to LAPACK."""
    return equation.primitive.name in _LAPACK and (lanes > 1 or equation.invars[0].aval.ndim > 2)


def spans_devices(equation: Any) -> bool:
    """Return whether an equation is the user's own program over several devices."""
    return equation.primitive.name == "shard_map" and equation.params["mesh"].size > 1


def one_at_a_time(program: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a program so that it never runs beside another one of its kind, and has ended when it returns.

    Batched LAPACK in jaxlib waits for the threads that it runs on, and devices wait for each other in a collective: two
    such programs would wait for ever.
    """

    def run(*arguments: Any) -> Any:
        with _may_run:
            return jax.block_until_ready(program(*arguments))

    return run
