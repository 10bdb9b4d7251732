"""Offer distributions as frozen values, by NumPyro's names.

Each is loaded when it is first used: a model needs few of them, and loading all would cost a third of a second. The
names and their files are in the stub beside this file, which type checkers read too.
"""

from typing import Any

import lazy_loader

from ..core.names import refusal
from ..core.tracebacks import entry_point

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

_refuse = refusal(__name__)


@entry_point
def __getattr__(name: str) -> Any:
    if name in __all__ or name.startswith("__"):
        return _load(name)
    return _refuse(name)
