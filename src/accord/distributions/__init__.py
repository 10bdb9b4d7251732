"""Offer distributions as frozen values, by NumPyro's names.

Each is loaded when it is first used: a model needs few of them, and loading all would cost a third of a second. The
names and their files are in the stub beside this file, which type checkers read too.
"""

from typing import Any

import lazy_loader

from ..core.errors import suggest

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__ or name.startswith("__"):
        return _load(name)
    # With an object of its own, since Python would repeat the suggestion.
    raise AttributeError(
        f"accord.distributions has no {name!r}.{suggest(name, __all__)}", name=name, obj=None
    )
