"""Offer guides that are made from a model, by NumPyro's names, for `SVI`."""

from ...names.refusal import refusal as _refusal
from .base import AutoGuide as AutoGuide
from .continuous import AutoContinuous as AutoContinuous
from .dais import AutoDAIS as AutoDAIS
from .delta import AutoDelta as AutoDelta
from .flows import AutoBNAFNormal as AutoBNAFNormal
from .flows import AutoIAFNormal as AutoIAFNormal
from .joined import AutoGuideList as AutoGuideList
from .laplace import AutoLaplaceApproximation as AutoLaplaceApproximation
from .normal import AutoNormal as AutoNormal
from .normals import AutoDiagonalNormal as AutoDiagonalNormal
from .normals import AutoLowRankMultivariateNormal as AutoLowRankMultivariateNormal
from .normals import AutoMultivariateNormal as AutoMultivariateNormal

__all__ = [
    "AutoBNAFNormal",
    "AutoContinuous",
    "AutoDAIS",
    "AutoDelta",
    "AutoDiagonalNormal",
    "AutoGuide",
    "AutoGuideList",
    "AutoIAFNormal",
    "AutoLaplaceApproximation",
    "AutoLowRankMultivariateNormal",
    "AutoMultivariateNormal",
    "AutoNormal",
]

__getattr__ = _refusal("numpyro.infer.autoguide")
