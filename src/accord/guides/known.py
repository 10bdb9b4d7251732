"""List the guides that a stored fit may name, and build one of its description."""

from collections.abc import Mapping
from typing import Any

from .base import AbstractGuide
from .dais import DAIS
from .delta import Delta
from .flow import Flow
from .full_rank import FullRank
from .laplace import Laplace
from .low_rank import LowRank
from .mean_field import MeanField
from .particles import Particles
from .product import Product
from .structured import Structured

GUIDES: dict[str, type[AbstractGuide]] = {
    each.__name__: each
    for each in (Delta, MeanField, FullRank, LowRank, Flow, Laplace, Product, Structured, DAIS, Particles)
}
"""Guides that a stored fit may name, by name."""


def guide_from(described: Mapping[str, Any]) -> AbstractGuide:
    """Build the guide that `described` describes, as of `AbstractGuide.described`."""
    options = {name: value for name, value in described.items() if name != "name"}
    return GUIDES[described["name"]].from_described(options, GUIDES)
