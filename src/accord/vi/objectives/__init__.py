"""Objectives of fits, a file each."""

from .base import AbstractObjective as AbstractObjective
from .curvature import Curvature as Curvature
from .curvature import Height as Height
from .elbo import ELBO as ELBO
from .fisher import FisherDivergence as FisherDivergence
from .fixed_draws import FixedDraws as FixedDraws
from .renyi import IWAE as IWAE
from .renyi import Renyi as Renyi
from .stein import SteinDiscrepancy as SteinDiscrepancy
from .stein import SteinMoments as SteinMoments

OBJECTIVES: dict[str, type[AbstractObjective]] = {
    each.__name__: each
    for each in (
        ELBO,
        FixedDraws,
        IWAE,
        Renyi,
        FisherDivergence,
        Curvature,
        SteinDiscrepancy,
        SteinMoments,
    )
}
"""Objectives that a stored fit may name."""
