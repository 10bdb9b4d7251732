"""Say of which distributions draws can be differentiated by their parameters, as a draw moves with them."""

from .base import AbstractDistribution
from .wrappers.family import family

MOVING = frozenset(
    {
        "Normal", "LogNormal", "Gamma", "Beta", "Dirichlet", "Delta", "MultivariateNormal",
    }
)  # fmt: skip


def is_pathwise(distribution: AbstractDistribution) -> bool:
    return family(distribution) in MOVING
