"""Compile programs by XLA, cache them, and find programs that must not run side by side."""

import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

import jax

from ..core.traced import equations
from ..core.versions import FUSING_CPU_OPTIONS, QUICK_CPU_OPTIONS
from ..density.flat import CALLS
from .cache import ProgramCache
from .is_fusible import is_plain

_MAX_PROGRAMS = 32
_MANY_UPDATES = 2**14
_MANY_UPDATES_OF_ONE_LANE = 2**10
_MANY_NUMBERS = 3 * 2**15
_MANY_ELEMENTARY = 2**29
_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc exp exp2 expm1 lgamma log log1p
    logistic pow sin sinh tan tanh
"""
_ELEMENTARY = frozenset(_NAMES.split())
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


def compile_lowered(lowered: Any, *, is_large: bool = False) -> Any:
    """Compile a lowered program with accord's options; see `options_for`."""
    return lowered.compile(options_for(is_large))


def options_for(is_large: bool) -> dict[str, bool | int] | None:
    """Return the options for XLA; `is_large`: steps of the program take so long that slower compiling pays."""
    if jax.default_backend() != "cpu":
        return None
    return dict(FUSING_CPU_OPTIONS if is_large else QUICK_CPU_OPTIONS)


def is_large_gradient(gradient: Any, lanes: int) -> bool:
    """Return whether the gradient of a log density makes slower compiling (0.1 to 1 s) pay.

    It does where the gradient adds up many rows by group, and where it computes many numbers for one lane: a gradient
    of 380 football matches by team takes 6 us for 12, of 6,000 answers to 20 items 31 for 61. Code of one piece, for
    which XLA has no choice of how to fuse, takes as long either way.
    """
    every = [*equations(gradient.jaxpr)]
    num_updates = [num_updated(each) for each in every]
    if lanes > 1:
        return max(num_updates, default=0) >= _MANY_UPDATES
    if sum(num_updates) >= _MANY_UPDATES_OF_ONE_LANE:
        return True
    return num_numbers(every) >= _MANY_NUMBERS and not is_plain(gradient.jaxpr)


def is_large_step(closed: Any, num_steps: int) -> bool:
    """Return whether so many steps of a program make slower compiling (1 to 4 s) pay.

    They do where they compute many elementary functions, which XLA's older way to fuse takes one number at a time: of
    51,200 numbers in float32, log(1 + exp(x)) takes 1.0 ms for 0.13, tanh 0.15 for 0.02. Random numbers take longer.
    """
    every = (each for each in equations(closed.jaxpr) if each.primitive.name in _ELEMENTARY)
    return num_steps * num_numbers(every) >= _MANY_ELEMENTARY


def num_numbers(every: Iterable[Any]) -> int:
    """Count the numbers that operations compute, each function once."""
    called = ((each, each.primitive.name in CALLS) for each in every)
    return sum(math.prod(v.aval.shape) for each, is_call in called if not is_call for v in each.outvars)


def num_updated(equation: Any) -> int:
    """Return how many numbers an equation sums by group."""
    return math.prod(equation.invars[2].aval.shape) if equation.primitive.name == "scatter-add" else 0


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
