"""Run programs of NumPyro: `import accord.numpyro as numpyro`.

Statements, handlers, samplers and fits have NumPyro's names and arguments, and runs have NumPyro's posterior. What
accord does not have is an error that says what to write. `accord run-numpyro script.py` and `install` run scripts
unchanged.
"""

import importlib as _importlib
from typing import Any as _Any

from ..core.tracebacks import entry_point as _entry_point
from . import distributions as distributions
from . import handlers as handlers
from .bridge import as_model as as_model
from .install import install as install
from .names.refusal import NotInAccord as NotInAccord
from .names.refusal import refusal as _refusal
from .plates import plate as plate
from .plates import plate_stack as plate_stack
from .primitives import deterministic as deterministic
from .primitives import factor as factor
from .primitives import get_mask as get_mask
from .primitives import module as module
from .primitives import mutable as mutable
from .primitives import param as param
from .primitives import prng_key as prng_key
from .primitives import sample as sample
from .primitives import subsample as subsample
from .settings import enable_validation as enable_validation
from .settings import enable_x64 as enable_x64
from .settings import set_host_device_count as set_host_device_count
from .settings import set_platform as set_platform
from .settings import validation_enabled as validation_enabled

__version__ = "0.22.0"
"""The release of NumPyro whose meaning is kept."""

_MODULES = ("contrib", "diagnostics", "examples", "infer", "ops", "optim", "primitives", "util")

_refuse = _refusal("numpyro")


@_entry_point
def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name == "render_model":
        return _importlib.import_module(".infer.inspect", __name__).render_model
    return _refuse(name)
