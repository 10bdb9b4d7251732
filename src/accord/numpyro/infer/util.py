"""Offer what `numpyro.infer.util` does: densities, potentials, predictions."""

from ..names.refusal import refusal as _refusal
from .densities import (
    compute_log_probs,
    constrain_fn,
    get_transforms,
    log_density,
    potential_energy,
    transform_fn,
    unconstrain_fn,
)
from .initialize import (
    ModelInfo,
    ParamInfo,
    find_valid_initial_params,
    get_potential_fn,
    initialize_model,
)
from .predictive import Predictive, log_likelihood

__all__ = [
    "ModelInfo",
    "ParamInfo",
    "Predictive",
    "compute_log_probs",
    "constrain_fn",
    "find_valid_initial_params",
    "get_potential_fn",
    "get_transforms",
    "initialize_model",
    "log_density",
    "log_likelihood",
    "potential_energy",
    "transform_fn",
    "unconstrain_fn",
]

__getattr__ = _refusal("numpyro.infer.util")
