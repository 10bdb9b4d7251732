"""Offer distributions as frozen values, by NumPyro's names."""

from . import constraints
from .base import AbstractDistribution
from .bijection import biject_to
from .constraint import Constraint
from .discrete import Bernoulli, Binomial, Categorical, Poisson
from .gamma import Exponential, Gamma, InverseGamma
from .improper import ImproperUniform
from .interval import Beta, Uniform
from .mixtures import Mixture, MixtureGeneral, MixtureSameFamily
from .multivariate import MultivariateNormal
from .positive import HalfCauchy, HalfNormal, HalfStudentT, LogNormal
from .real_line import Cauchy, Normal, StudentT
from .simplex import Dirichlet
from .truncated import TruncatedNormal
from .wrappers import Expanded, Independent, Masked

__all__ = [
    "AbstractDistribution",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Constraint",
    "Dirichlet",
    "Expanded",
    "Exponential",
    "Gamma",
    "HalfCauchy",
    "HalfNormal",
    "HalfStudentT",
    "ImproperUniform",
    "Independent",
    "InverseGamma",
    "LogNormal",
    "Masked",
    "Mixture",
    "MixtureGeneral",
    "MixtureSameFamily",
    "MultivariateNormal",
    "Normal",
    "Poisson",
    "StudentT",
    "TruncatedNormal",
    "Uniform",
    "biject_to",
    "constraints",
]
