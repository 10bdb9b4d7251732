"""Set the surroundings of a worker process before it imports JAX, and check them before it works."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np

from ..core import precision as precisions
from ..core.errors import OptionError, WorkerError
from ..core.precision import Precision
from .base import Surroundings
from .local import available_cores

T = TypeVar("T")

_IS_WORKER = "ACCORD_WORKER"
"""Environment variable of a process that is a worker of another one."""


def surroundings_here(precision: Precision) -> Surroundings:
    """Return the surroundings of this process, as JAX reports them in the scope of a run."""
    with precisions.scope(precision):
        real: Precision = "float64" if jax.dtypes.canonicalize_dtype(np.float64) == np.float64 else "float32"
    folder: str | None = getattr(jax.config, "jax_compilation_cache_dir", None)  # set dynamically by JAX
    width = int(os.environ.get("NPROC") or available_cores())
    return Surroundings(real, jax.default_backend(), width, folder or None)


def environment(surroundings: Surroundings) -> dict[str, str]:
    """Return the environment that a worker needs before it imports JAX."""
    devices = (
        {} if surroundings.cpu_devices is None else {"JAX_NUM_CPU_DEVICES": str(surroundings.cpu_devices)}
    )
    return devices | {
        _IS_WORKER: "1",
        "NPROC": str(surroundings.pool_width),
        "XLA_FLAGS": surroundings.flags,
        "JAX_PLATFORMS": surroundings.platform,
        # The scope of a run is its thread's alone, and callbacks of a model run in others.
        "JAX_ENABLE_X64": str(surroundings.precision == "float64"),
        "JAX_COMPILATION_CACHE_DIR": surroundings.cache or "",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def call_in(expected: Surroundings, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    """Call the function in a worker, after checking its surroundings."""
    found = surroundings_here(expected.precision)
    if found != expected:
        raise WorkerError(
            f"a worker process has {found} where the run has {expected}: its draws would differ. Look for settings of "
            "JAX in sitecustomize or in the module that defines the model, and for another JAX on that machine."
        )
    return function(*arguments)


def refuse_inside_worker(executor: str) -> None:
    """Raise `OptionError` in a process that is itself a worker."""
    if os.environ.get(_IS_WORKER):
        raise OptionError(
            f"executor={executor}() was asked for inside of a worker process, which would start processes of its own. "
            "Use executor=Threads() or Serial() there."
        )
