"""Handle the differences between JAX releases, here only. Supported: 0.10 and later."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, cast

import jax
from jax.experimental.xla_metadata import set_xla_metadata

T = TypeVar("T")

_HAS_CHOICE = jax.__version_info__ < (0, 11, 1)  # newer releases of XLA for CPUs have one way to fuse

QUICK_CPU_OPTIONS: Mapping[str, bool | int] = MappingProxyType(
    {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 1} if _HAS_CHOICE else {}
)
"""Options that halve the work of XLA's compiler for CPUs, for the same speed or more.

The level is LLVM's: a step of NUTS takes 0.76 to 1.08 times its time at level 3 (`benchmarks/overhead.py`).
"""

FUSING_CPU_OPTIONS: Mapping[str, bool | int] = MappingProxyType(
    {**QUICK_CPU_OPTIONS, "xla_cpu_use_fusion_emitters": True} if _HAS_CHOICE else {}
)
"""Options for programs with many numbers, or rows by group: these take half to nine tenths of the time."""


def parts_of_scan(params: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many inputs of a traced `scan` are constants of its body, and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # from JAX 0.12 on
    return len(consts), len(carry)


def as_one_function(function: Callable[..., T]) -> Callable[..., T]:
    """Mark a function so that XLA for CPUs compiles it to one piece of machine code.

    Without the mark, XLA calls operations one after the other, at 50 to 100 nanoseconds each. XLA marks small loops
    this way itself; here the call is marked from outside, and not inlined before. Only plain arithmetic (see
    `programs.is_fusible`) can be compiled this way.
    """

    def run(*arguments: Any) -> T:
        results: Any = jax.jit(function)(*arguments)
        return cast(T, set_xla_metadata(results, xla_cpu_small_call="true", inlineable="false"))

    return run
