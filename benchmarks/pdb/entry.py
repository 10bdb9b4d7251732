"""State what the bench needs of a posterior: its model, and how its data become the arguments of the model."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Data = Mapping[str, Any]
"""A posterior's data by Stan's names: numbers, and NumPy arrays with Stan's shapes (`iris[row, column]`)."""


@dataclass(frozen=True)
class Entry:
    """A model of the database in accord's language.

    **Fields**
    - `model`: decorated with `@ac.model`; its sites have the names and the shapes of Stan's parameters.
    - `arguments`: from the data to the arguments of the model. Indices count from 0; sizes that an array's shape
      states are left out.
    """

    model: Callable[..., Any]
    arguments: Callable[[Data], dict[str, Any]]


def take(*names: str, zero_based: tuple[str, ...] = ()) -> Callable[[Data], dict[str, Any]]:
    """Make the function that passes `names` on as they are, and `zero_based` as indices from 0."""

    def arguments(data: Data) -> dict[str, Any]:
        return {name: data[name] for name in names} | {name: data[name] - 1 for name in zero_based}

    return arguments


def example(name: str) -> Callable[..., Any]:
    """Load the model of a posterior that is among the project's examples."""
    path = EXAMPLES / name / "model.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
