"""Know in what releases of JAX differ; nothing else decides by its version. Supported: 0.10 and later."""

from collections.abc import Mapping
from types import MappingProxyType

import jax

QUICK_CPU_OPTIONS: Mapping[str, bool] = MappingProxyType(
    {"xla_cpu_use_fusion_emitters": False} if jax.__version_info__ < (0, 11, 1) else {}
)
"""Options that halve the work of XLA's compiler for CPUs, for the same speed; newer ones know no such choice."""
