"""Approximate a posterior by a family of distributions whose parameters are fitted."""

from ..core.names import refusal as _refusal
from .base import AbstractGuide as AbstractGuide
from .dais import DAIS as DAIS
from .delta import Delta as Delta
from .flow import Flow as Flow
from .full_rank import FullRank as FullRank
from .known import GUIDES as GUIDES
from .laplace import Laplace as Laplace
from .low_rank import LowRank as LowRank
from .mean_field import MeanField as MeanField
from .particles import Particles as Particles
from .product import Product as Product
from .structured import Structured as Structured

__all__ = [
    "DAIS",
    "AbstractGuide",
    "Delta",
    "Flow",
    "FullRank",
    "Laplace",
    "LowRank",
    "MeanField",
    "Particles",
    "Product",
    "Structured",
]

__getattr__ = _refusal(__name__)
