"""Map unconstrained vectors to constrained spaces and back, with log determinants."""

from .arrays import align, float_type, is_concrete, is_number, value_hash
from .base import AbstractBijector
from .combine import Chain, Independent
from .elementwise import (
    Affine,
    Exp,
    Identity,
    Interval,
    LowerBounded,
    Sigmoid,
    Softplus,
    UpperBounded,
)
from .structured import LowerCholesky, Ordered, PositiveOrdered, StickBreaking

__all__ = [
    "AbstractBijector",
    "Affine",
    "Chain",
    "Exp",
    "Identity",
    "Independent",
    "Interval",
    "LowerBounded",
    "LowerCholesky",
    "Ordered",
    "PositiveOrdered",
    "Sigmoid",
    "Softplus",
    "StickBreaking",
    "UpperBounded",
    "align",
    "float_type",
    "is_concrete",
    "is_number",
    "value_hash",
]
