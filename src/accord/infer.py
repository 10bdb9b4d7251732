"""Run inference: check models, sample from them, and read what was sampled.

Each name is loaded when it is first used: a program that only writes models needs none, and loading all would cost more
than a third of a second. The names and their files are in the stub beside this file, which type checkers read too.
"""

from typing import Any

import lazy_loader

from .core.names import unknown
from .core.tracebacks import entry_point

# The stub's imports begin at the package, as this file's would.
_load, __dir__, __all__ = lazy_loader.attach_stub(__package__, __file__)


@entry_point
def __getattr__(name: str) -> Any:
    if name in __all__:
        found = globals()[name] = _load(name)
        return found
    raise unknown(__name__, name)
