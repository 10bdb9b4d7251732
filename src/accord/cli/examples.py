"""Find the example models of accord: folders with a `model.py` and a `data.json`."""

import ast
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import OptionError, suggest


@dataclass(frozen=True)
class Example:
    """A model with its data; `title` is the first line of the model's docstring."""

    name: str
    title: str
    model: Path
    data: Path


PACKAGE = Path(__file__).parents[1]
"""Folder of accord's modules."""


def find_all(package: Path = PACKAGE) -> list[Example]:
    """Return every example that has its data, by name; `package` is the folder of accord's modules.

    **Raises** `OptionError` if there is none.
    """
    found = [folder for folder in _folders(package) if (folder / "data.json").is_file()]
    if found:
        return [_describe(folder) for folder in found]
    raise OptionError(
        "the examples are not part of this installation. Install accord from a wheel or a checkout."
    )


def find(name: str, package: Path = PACKAGE) -> Example:
    """Return the example called `name`. Raises `OptionError` if it or its data are missing."""
    known = {example.name: example for example in find_all(package)}
    if name not in known:
        if name in {folder.name for folder in _folders(package)}:
            raise OptionError(
                f"the data of the example {name!r} are too large for the installed package. Run it in a checkout "
                "of accord. `accord example --list` shows the examples that are here."
            )
        raise OptionError(f"there is no example {name!r}.{suggest(name, known)} See `accord example --list`.")
    return known[name]


def _folders(package: Path) -> list[Path]:
    """Return folders with a model: beside the modules in an installed package, in `examples/` in a checkout."""
    for folder in (package / "examples", package.parents[1] / "examples"):
        found = sorted(
            (path.parent for path in folder.glob("*/model.py")), key=lambda path: path.name.lower()
        )
        if found:
            return found
    return []


def _describe(folder: Path) -> Example:
    model = folder / "model.py"
    title = (ast.get_docstring(ast.parse(model.read_text(encoding="utf-8"))) or "").split("\n")[0]
    return Example(folder.name, title, model, folder / "data.json")
