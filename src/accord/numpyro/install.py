"""Put accord's door in the place of the library, so that scripts run unchanged."""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ..core.errors import ModelError
from .names.refusal import NotInAccord, refusal
from .names.tables import TABLES

DOOR = __name__.rpartition(".")[0]

ELSEWHERE = {
    "numpyro.distributions.constraints": "accord.distributions.constraints",
    "numpyro.infer.barker": f"{DOOR}.infer.kernels",
    "numpyro.infer.ensemble": f"{DOOR}.infer.kernels",
    "numpyro.infer.sa": f"{DOOR}.infer.kernels",
    "numpyro.distributions.distribution": f"{DOOR}.distributions",
    "numpyro.distributions.continuous": f"{DOOR}.distributions",
    "numpyro.distributions.discrete": f"{DOOR}.distributions",
}
"""Modules of NumPyro that have no file of the same name."""


@contextlib.contextmanager
def install(version: str | None = None) -> Iterator[ModuleType]:
    """Let `import numpyro` import `accord.numpyro` inside of a `with`.

    **Arguments**: `version`, what `numpyro.__version__` says there; None is the release whose meaning is kept.

    **Raises** `ModelError` where NumPyro itself has been imported.

    **Example**

    >>> from accord.numpyro import install
    >>> with install():
    ...     import numpyro
    ...     print(numpyro.__name__)
    accord.numpyro
    """
    loaded = sys.modules.get("numpyro")
    if loaded is not None:
        raise ModelError(
            "accord.numpyro.install: NumPyro itself has been imported in this process, and two libraries cannot have "
            "one name. Install before the first `import numpyro`, or write `import accord.numpyro as numpyro`."
        )
    door = importlib.import_module(DOOR)
    before = door.__version__
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    sys.modules["numpyro"] = door
    if version is not None:
        door.__version__ = version  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield door
    finally:
        door.__version__ = before  # pyright: ignore[reportAttributeAccessIssue]
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name == "numpyro" or name.startswith("numpyro.")]:
            del sys.modules[name]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find modules of NumPyro among those of accord."""

    def __init__(self) -> None:
        self._own: dict[str, Any] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return a spec for names that begin with `numpyro.`."""
        del path, target
        if not fullname.startswith("numpyro."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: Any) -> ModuleType:
        """Return accord's module, or one whose names raise errors where they are used."""
        ours = ELSEWHERE.get(spec.name, f"{DOOR}{spec.name.removeprefix('numpyro')}")
        try:
            module = importlib.import_module(ours)
            self._own[module.__name__] = module.__spec__, module.__loader__
            return module
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith(DOOR):
                raise
            if spec.name not in TABLES:
                raise NotInAccord(f"`{spec.name}` is not in accord. Keep NumPyro for this script.") from None
            made: Any = ModuleType(spec.name)
            made.__path__ = []
            made.__getattr__ = refusal(spec.name)
            return made

    def exec_module(self, module: ModuleType) -> None:
        """Give accord's module, which has been run, its own spec back."""
        if module.__name__.startswith(DOOR.partition(".")[0]):
            module.__spec__, module.__loader__ = self._own[module.__name__]
