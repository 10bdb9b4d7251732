"""Offer the handlers of the language under `accord.handlers`."""

from .core.names import refusal as _refusal
from .language.handlers.basic import (
    block,
    condition,
    do,
    mask,
    replay,
    scale,
    scope,
    seed,
    substitute,
    trace,
    uncondition,
)
from .language.handlers.collapse import collapse
from .language.handlers.unknowns import infer_config, lift, reparam

__all__ = [
    "block",
    "collapse",
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

__getattr__ = _refusal(__name__)
