"""Run inference: check a model, sample from its posterior, and read the draws.

Each name is loaded when it is first used: a program that only writes models needs none, and loading all would cost more
than a third of a second. The names and their files are in the stub beside this file, which type checkers read too.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

from .core.names import refusal
from .core.tracebacks import entry_point


def _read_stub() -> tuple[dict[str, str], list[str]]:
    """Return the file of each name, and all names, from the lines `from .file import name as name` of the stub.

    A line `from . import name as name` names a module.
    """
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    files = {name.name: f".{line.module or name.name}" for line in imports for name in line.names}
    return files, sorted(files)


_FILES, __all__ = _read_stub()  # once, and not changed

_refuse = refusal(__name__)


@entry_point
def __getattr__(name: str) -> Any:
    if name in _FILES:
        module = importlib.import_module(_FILES[name], __package__)
        found = globals()[name] = module if _FILES[name] == f".{name}" else getattr(module, name)
        return found
    return _refuse(name)


def __dir__() -> list[str]:
    return list(__all__)
