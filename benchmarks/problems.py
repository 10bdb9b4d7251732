"""Name the models that are measured, and bind them to their data: those of the examples, or simulated."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import large_models
import simulated
from accord.language.model import Model, ModelFunction

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

# Cheap ones first, so that a run that is cut short has measured most of them.
MODELS = (
    "eight_schools",
    "kidscore_interaction",
    "logearn_interaction",
    "nes",
    "garch11",
    "arK",
    "blr",
    "low_dim_gauss_mix",
    "logmesquite",
    "gp_regr",
    "gp_pois_regr",
    "kilpisjarvi",
    "hmm_example",
    "arma11",
    "one_comp_mm_elim_abs",
    "lotka_volterra",
    "diamonds",
)
LARGE_MODELS = ("hierarchical_logistic", "horseshoe", "stochastic_volatility", "item_response")


def file_of(name: str, folder: Path) -> Path:
    """A file with the data of a model: that of an example, or one that is simulated and written into `folder`."""
    if name not in simulated.DATA:
        return EXAMPLES / name / "data.json"
    path = folder / f"{name}.npz"
    np.savez(path, **simulated.DATA[name]())
    return path


def data_of(name: str) -> dict[str, Any]:
    """The arguments of a model."""
    if name in simulated.DATA:
        return simulated.DATA[name]()
    values = json.loads((EXAMPLES / name / "data.json").read_text())
    return {key: np.asarray(value) if isinstance(value, list) else value for key, value in values.items()}


def function_of(name: str) -> ModelFunction:
    """The model function in accord's language."""
    if name in simulated.DATA:
        return getattr(large_models, name)
    found = vars(_module(EXAMPLES / name / "model.py", name)).values()
    return next(value for value in found if isinstance(value, ModelFunction))


def model_of(name: str) -> Model:
    """A model, bound to its data."""
    return function_of(name)(**data_of(name))


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
