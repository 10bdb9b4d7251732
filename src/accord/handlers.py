"""Offer the handlers of the language under `accord.handlers`."""

from .language.handlers import (
    block,
    condition,
    do,
    lift,
    mask,
    reparam,
    replay,
    scale,
    scope,
    seed,
    substitute,
    trace,
    uncondition,
)

__all__ = [
    "block",
    "condition",
    "do",
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
