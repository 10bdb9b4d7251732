"""Name the distribution class that the user wrote, for a site's distribution."""

from ..base import AbstractDistribution
from .each_step import EachStep
from .either import Either
from .entries import AbstractEntries, AbstractPart


def family(distribution: AbstractDistribution | None) -> str:
    """Return the name of the class that the user wrote, or of both alternatives; empty for None."""
    while isinstance(distribution, EachStep | AbstractEntries | AbstractPart):
        distribution = distribution.base
    if isinstance(distribution, Either):
        names = dict.fromkeys((family(distribution.first), family(distribution.second)))
        return " or ".join(names)
    return "" if distribution is None else type(distribution).__name__
