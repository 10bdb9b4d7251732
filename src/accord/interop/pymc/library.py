"""Import PyMC and its conversions to JAX, without what this import changes in a process.

`pymc.sampling.jax` sets `XLA_FLAGS` to 100 CPU devices, and PyTensor turns on 64-bit numbers in JAX for the process.
Both are put back, so that other programs in the process keep their settings. Accord's runs have their own precision.
"""

import importlib
import importlib.util
import os
import threading
import warnings
from typing import Any

import jax

from ...distributions.special.basic.error_function import erfcx

_FLAGS = "XLA_FLAGS"
_LOCK = threading.Lock()


def pymc() -> Any:
    """Return PyMC. Raises `ImportError` where it is not installed."""
    return _imported("pymc")


def conversions() -> Any:
    """Return the module with PyTensor's `jax_funcify`, once PyMC has added its own operations.

    Raises `ImportError` where PyMC is not installed, or cannot be used with JAX.
    """
    with _LOCK:
        flags, is_wide = os.environ.get(_FLAGS), _is_wide()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of PyMC's dependencies about their releases
                _imported("pymc.sampling.jax")
        finally:
            if flags is None:
                os.environ.pop(_FLAGS, None)
            else:
                os.environ[_FLAGS] = flags
            jax.config.update("jax_enable_x64", is_wide)
    return _completed(importlib.import_module("pytensor.link.jax.dispatch"))


def _completed(dispatch: Any) -> Any:
    """Convert `erfcx`, of the tails of censored normal variables, where PyTensor would need TensorFlow Probability."""
    operation = importlib.import_module("pytensor.scalar.math").Erfcx
    if importlib.util.find_spec("tensorflow_probability") is None:
        dispatch.jax_funcify.register(operation, lambda op, **more: erfcx)
    return dispatch


def _is_wide() -> bool:
    """Return the setting of the process, which a new thread has: this one may be in a scope."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(bool(jax.config.read("jax_enable_x64"))))
    thread.start()
    thread.join()
    return found[0]


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "pymc":
            raise
        raise ImportError("interop.pymc needs PyMC. Install it with: pip install pymc") from error
