"""Find the models of this folder, and bind them to their data."""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from database import Database, read_data

HERE = Path(__file__).resolve().parent
SIMULATED = ("cold", "fresh", "unseen", "applied")
"""Modules of models with data of their own; their entries are called, and take nothing."""


@dataclass(frozen=True)
class Problem:
    """A model with a place where its data are.

    **Fields**
    - `posterior`: its name, `data-model` in the database and `simulated-model` elsewhere.
    - `module`, `model`: the file of this folder that has the model, and its name there.
    - `data`: the file of its data, or None where the module makes them.
    - `reference`: name of its reference draws, or None.
    """

    posterior: str
    module: str
    model: str
    data: Path | None
    reference: str | None = None


def bind(module: str, model: str, data: Path | None) -> Any:
    """Bind a model to its data."""
    if str(HERE) not in sys.path:
        sys.path.append(str(HERE))
    entry = importlib.import_module(module).ENTRIES[model]
    return entry() if data is None else entry.model(**entry.arguments(read_data(data)))


def problems(database: Database) -> dict[str, Problem]:
    """Every posterior of the database with a model here, then the simulated ones, by name."""
    modules = modules_of(sorted(file.stem for file in HERE.glob("models_*.py")))
    found = {}
    for name, about in database.posteriors().items():
        model = about["model_name"]
        if model in modules:
            data = database.data_file(about["data_name"])
            reference = about.get("reference_posterior_name")
            found[name] = Problem(name, modules[model], model, data, reference)
    simulated = modules_of(SIMULATED)
    return found | {
        f"simulated-{model}": Problem(f"simulated-{model}", module, model, None)
        for model, module in simulated.items()
    }


def missing(database: Database) -> dict[str, str]:
    """Posteriors of the database without a model here, each with the name of its model."""
    there = problems(database)
    return {name: about["model_name"] for name, about in database.posteriors().items() if name not in there}


def modules_of(modules: Sequence[str]) -> dict[str, str]:
    """Which of `modules` has which model."""
    found: dict[str, str] = {}
    for module in modules:
        for model in importlib.import_module(module).ENTRIES:
            if model in found:
                raise ValueError(f"the model {model!r} is in {found[model]}.py and in {module}.py.")
            found[model] = module
    return found
