"""Say which site, which derivative and which line of a model is not finite, why, and what to do."""

from .blame import blame
from .result import BadDerivative, BadParameter, BadTerm, Blame, Operation

__all__ = ["BadDerivative", "BadParameter", "BadTerm", "Blame", "Operation", "blame"]
