"""Approximate a posterior by a family of distributions whose parameters are fitted."""

from ..core.names import refusal as _refusal
from .base import AbstractGuide as AbstractGuide
from .delta import Delta as Delta
from .flow import Flow as Flow
from .full_rank import FullRank as FullRank
from .low_rank import LowRank as LowRank
from .mean_field import MeanField as MeanField

GUIDES: dict[str, type[AbstractGuide]] = {
    each.__name__: each for each in (Delta, MeanField, FullRank, LowRank, Flow)
}
"""Guides that a stored fit may name."""

__all__ = ["AbstractGuide", "Delta", "Flow", "FullRank", "LowRank", "MeanField"]

__getattr__ = _refusal(__name__)
