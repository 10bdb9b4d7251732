"""Find the models that come with accord: folders of a `model.py` and a `data.json`."""

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


def find_all() -> list[Example]:
    """Every example, by name: beside the modules in an installed package, `examples/` in a checkout.

    **Raises** `OptionError` when neither is there.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "examples", package.parents[1] / "examples"):
        found = [
            path.parent for path in sorted(folder.glob("*/model.py")) if (path.parent / "data.json").is_file()
        ]
        if found:
            return [_describe(path) for path in sorted(found, key=lambda path: path.name.lower())]
    raise OptionError(
        "the examples are not part of this installation. Install accord from a wheel or a checkout."
    )


def find(name: str) -> Example:
    """The example called `name`. Raises `OptionError` with the nearest name when there is none."""
    known = {example.name: example for example in find_all()}
    if name not in known:
        raise OptionError(f"there is no example {name!r}.{suggest(name, known)} See `accord example --list`.")
    return known[name]


def _describe(folder: Path) -> Example:
    model = folder / "model.py"
    title = (ast.get_docstring(ast.parse(model.read_text(encoding="utf-8"))) or "").split("\n")[0]
    return Example(folder.name, title, model, folder / "data.json")
