"""Offer fits by Stein's method: guides in several copies that push each other apart, by the names of NumPyro."""

from ...names.refusal import refusal as _refusal
from .mixture_guide_predictive import MixtureGuidePredictive as MixtureGuidePredictive
from .stein_kernels import GraphicalKernel as GraphicalKernel
from .stein_kernels import IMQKernel as IMQKernel
from .stein_kernels import LinearKernel as LinearKernel
from .stein_kernels import MixtureKernel as MixtureKernel
from .stein_kernels import ProbabilityProductKernel as ProbabilityProductKernel
from .stein_kernels import RandomFeatureKernel as RandomFeatureKernel
from .stein_kernels import RBFKernel as RBFKernel
from .stein_loss import SteinLoss as SteinLoss
from .steinvi import SteinVI as SteinVI
from .svgd import ASVGD as ASVGD
from .svgd import SVGD as SVGD

__getattr__ = _refusal("numpyro.contrib.einstein")
