"""Name the models that are measured, and bind those of the examples to their data."""

import importlib.util
import json
from pathlib import Path

import numpy as np

from accord.language.model import Model, ModelFunction

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

MODELS = (
    "eight_schools",
    "kidscore_interaction",
    "logearn_interaction",
    "nes",
    "garch11",
    "arK",
    "blr",
    "low_dim_gauss_mix",
    "diamonds",
)


def data_of(name: str) -> Path:
    """The data file of an example."""
    return EXAMPLES / name / "data.json"


def model_of(name: str) -> Model:
    """An example's model, bound to the example's data."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / name / "model.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(EXAMPLES / name / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = next(value for value in vars(module).values() if isinstance(value, ModelFunction))
    values = json.loads(data_of(name).read_text())
    return function(
        **{key: np.asarray(value) if isinstance(value, list) else value for key, value in values.items()}
    )
