"""Offer the effect handlers of NumPyro, by its names and arguments.

Each is put on a function, entered by `with`, or used as a decorator.
"""

from ..names.refusal import refusal as _refusal
from .keys import seed
from .renamed import infer_config, lift, scope
from .reparam import reparam
from .shown import block, trace
from .values import condition, do, replay, substitute, uncondition
from .weights import mask, scale

__all__ = [
    "block",
    "condition",
    "do",
    "infer_config",
    "lift",
    "mask",
    "reparam",
    "replay",
    "scale",
    "scope",
    "seed",
    "substitute",
    "trace",
    "uncondition",
]

__getattr__ = _refusal("numpyro.handlers")
