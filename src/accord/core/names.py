"""Raise a helpful error for unknown names in public modules, through their `__getattr__`."""

import sys
from pathlib import Path
from typing import Any

from .errors import suggest
from .tracebacks import entry_point


def refusal(module: str) -> Any:
    """Return a `__getattr__` for a module: it raises `AttributeError` with the nearest name or accord's word.

    It is typed `Any`, not as a function, so that type checkers still report such names.
    """

    @entry_point
    def __getattr__(name: str) -> Any:  # noqa: N807 - the name that Python asks for
        raise unknown(module, name)

    return __getattr__


def unknown(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module does not have.

    Submodules (which Python looks up before importing them) and names with an underscore (for tools) get no hint.
    """
    known = vars(sys.modules[module])
    hint = ""
    if not name.startswith("_") and not _is_submodule(known.get("__path__", ()), name):
        from .dictionary.hints import for_name

        names = known.get("__all__") or dir(sys.modules[module])
        public = [each for each in names if not each.startswith("_")]
        families = getattr(sys.modules.get("accord.distributions"), "__all__", ())
        hint = for_name(name, families) or suggest(name, public)
    # Pass `obj`, since Python would otherwise repeat the suggestion.
    return AttributeError(f"{module} has no {name!r}.{hint}", name=name, obj=None)


def no_attribute(owner: str, name: str) -> AttributeError:
    """Return the error for an attribute that a run's result does not have; Python adds the nearest name."""
    told = f"{owner!r} object has no attribute {name!r}"
    if not name.startswith("_"):
        from .dictionary.hints import for_attribute

        if hint := for_attribute(name):
            return AttributeError(f"{told}.{hint}", name=name, obj=None)
    return AttributeError(told)


def _is_submodule(folders: Any, name: str) -> bool:
    return any(Path(folder, name).is_dir() or Path(folder, f"{name}.py").is_file() for folder in folders)
