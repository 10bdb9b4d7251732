"""Say which distributions move their draws smoothly with their parameters, so that a mean can be differentiated."""

import jax
from jax.core import Tracer

from .base import AbstractDistribution
from .wrappers.each_step import EachStep
from .wrappers.entries import AbstractEntries, AbstractPart
from .wrappers.family import family
from .wrappers.masked import MaskedDistribution
from .wrappers.transformed import TransformedDistribution
from .wrappers.wrappers import ExpandedDistribution, Independent

# fmt: off
FAMILIES = frozenset({
    "Normal", "LogNormal", "HalfNormal", "StudentT", "HalfStudentT", "Cauchy", "HalfCauchy", "Laplace",
    "AsymmetricLaplace", "Logistic", "Gumbel", "Exponential", "Gamma", "InverseGamma", "Chi2",
    "Weibull", "Rayleigh", "Frechet", "LogLogistic", "Beta", "Kumaraswamy", "LogitNormal", "Uniform",
    "RelaxedBernoulli", "RelaxedBernoulliLogits", "Pareto", "Dirichlet", "MultivariateNormal",
    "LowRankMultivariateNormal", "MultivariateStudentT", "MultivariateLogNormal", "LogisticNormal",
    "MatrixNormal", "Delta",
})
# fmt: on
"""Families of this package whose draws have slopes by all parameters, by which the mean of a smooth function changes as
it should. Classes of others say it themselves, by `has_pathwise_draws`."""

_AROUND = ExpandedDistribution | Independent | MaskedDistribution | EachStep | AbstractEntries | AbstractPart
_PACKAGE = __name__.partition(".")[0] + "."


def is_pathwise(distribution: AbstractDistribution) -> bool:
    """Return whether draws are of one of `FAMILIES`, or made of one, in a support that parameters do not move.

    A class that is not of this package counts if it says so, whatever its name.

    Draws that are accepted or rejected need not move smoothly, whatever slope JAX gives them. Where parameters move the
    support, as the bounds of a uniform distribution do, the mean slope of the log density is not zero.

    **Source**: Mohamed, Rosca, Figurnov & Mnih (2020), "Monte Carlo gradient estimation in machine learning", JMLR
    21(132), section 5.
    """
    if family(distribution) == "Delta":
        return True
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(distribution.support)):
        return False
    while isinstance(distribution, _AROUND):
        distribution = distribution.base
    if isinstance(distribution, TransformedDistribution):
        return is_pathwise(distribution.base_distribution)
    kind = type(distribution)
    is_own = kind.__module__.startswith(_PACKAGE)
    return kind.__name__ in FAMILIES if is_own else kind.has_pathwise_draws
