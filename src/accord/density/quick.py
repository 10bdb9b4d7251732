"""Compile a program for one use."""

from collections.abc import Callable
from typing import Any

import jax

from ..core.versions import QUICK_CPU_OPTIONS


def quickly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for one use: the operations in their order, as they were written."""
    is_cpu = jax.default_backend() == "cpu"
    options = {**QUICK_CPU_OPTIONS, "xla_backend_optimization_level": 0} if is_cpu else {}
    return jax.jit(function, compiler_options=options)
