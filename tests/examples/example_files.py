"""Give the tests the examples of the gallery: their modules, and their models with the data of their files."""

import functools
import importlib.util
from pathlib import Path
from types import ModuleType

from accord.cli.data import read_data
from accord.language import Model, ModelFunction

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@functools.cache
def module_of(name: str) -> ModuleType:
    """The example, imported as a file."""
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def model_of(name: str) -> Model:
    """The model that is called as the example, with the data as the command line reads it."""
    function = getattr(module_of(name), name)
    assert isinstance(function, ModelFunction)
    return function(**read_data(FOLDER / f"{name}.json"))
