"""Set the JAX options that change numerical results, for one run and one thread.

JAX keeps these settings per thread, so every thread that traces or executes a run enters the scope itself. Nothing
global is changed: leaving the scope gives the thread back what it had.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal, get_args

import jax
import numpy as np

from .errors import OptionError, suggest
from .forks import check_threads

Precision = Literal["float64", "float32"]


@contextmanager
def scope(precision: Precision) -> Iterator[None]:
    """Trace and execute at `precision` with fixed rules, whatever the user's own settings are.

    Promotion is NumPy-like because models are users' code. The debug flags are off because they change the compiled
    program, and a run reports non-finite values itself.

    **Raises** `OptionError` for a precision that is neither `"float64"` nor `"float32"`; `WorkerError` in a process
    that was forked after JAX had been used.
    """
    check(precision)
    check_threads()
    with ExitStack() as stack:
        stack.enter_context(jax.enable_x64(precision == "float64"))
        stack.enter_context(jax.numpy_dtype_promotion("standard"))
        stack.enter_context(jax.numpy_rank_promotion("allow"))
        stack.enter_context(jax.default_matmul_precision("highest"))
        stack.enter_context(jax.default_prng_impl("threefry2x32"))
        stack.enter_context(jax.threefry_partitionable(True))
        stack.enter_context(jax.debug_nans(False))
        stack.enter_context(jax.debug_infs(False))
        stack.enter_context(jax.disable_jit(False))
        yield


def check(precision: str) -> None:
    """Raise `OptionError` unless `precision` is one that accord knows."""
    known = get_args(Precision)
    if precision not in known:
        raise OptionError(
            f"precision must be 'float64' or 'float32', got {precision!r}.{suggest(str(precision), known)}"
        )


def float_dtype(precision: Precision) -> np.dtype:
    """Return the NumPy dtype of every real number in a run of this precision."""
    check(precision)
    return np.dtype(precision)
