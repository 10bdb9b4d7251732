"""Offer the handlers: seed, condition, intervene, hide, rename, weigh, and change how inference treats sites.

Each function takes a `Model`, or a function of statements, and returns the same with one more rule around it. Rules
apply from the inside out, so the last one put on has the last word. `mask`, `scale` and `scope` are also statements:
`with handlers.mask(mask=m):`.
"""

from .core.names import refusal as _refusal
from .language.handlers.block import block
from .language.handlers.collapse import collapse
from .language.handlers.handled import trace
from .language.handlers.infer_config import infer_config
from .language.handlers.lift import lift
from .language.handlers.reparam import reparam
from .language.handlers.scope import scope
from .language.handlers.seed import seed
from .language.handlers.set_values import condition, do, replay, substitute, uncondition
from .language.handlers.weights import mask, scale
from .language.integrals import Laplace, Quadrature

__all__ = [
    "Laplace",
    "Quadrature",
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
