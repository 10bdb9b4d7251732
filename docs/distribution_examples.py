"""Give every public distribution a few parameter values, for its picture and for what the page derives from a value.

A distribution that is not named here gets values that its constraints allow. Name it when those do not fit together,
or make a poor picture.
"""

import itertools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import accord.distributions as dist
from accord.bijectors import Affine
from accord.distributions import constraints

inf = np.inf
FACTOR = np.array([[1.0, 0.0], [0.8, 0.6]])
THIRDS = np.array([0.2, 0.5, 0.3])
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)

# Arguments of up to three values, drawn in one picture.
ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "AsymmetricLaplace": [(0.0, 1.0, 1.7), (0.0, 1.2, 0.6)],
    "AsymmetricLaplaceQuantile": [(0.0, 0.6, 0.2), (0.0, 0.6, 0.65)],
    "Arcsine": [(-1.25, 2.25)],
    "Bernoulli": [(0.3,)],
    "Beta": [(2.0, 5.0), (5.0, 3.0), (0.7, 0.7)],
    "BetaBinomial": [(2.0, 3.0, 12), (8.0, 3.0, 12)],
    "BetaNegativeBinomial": [(6.0, 4.0, 5.0)],
    "BetaPrime": [(2.0, 4.0), (5.0, 6.0)],
    "BetaProportion": [(0.3, 8.0), (0.7, 20.0)],
    "Binomial": [(12, 0.3), (12, 0.7)],
    "Categorical": [(np.array([0.1, 0.35, 0.25, 0.2, 0.1]),)],
    "Cauchy": [(0.0, 1.0), (-2.0, 0.6)],
    "Chi": [(2.0,), (5.0,)],
    "Chi2": [(2.0,), (4.0,), (7.0,)],
    "Dagum": [(1.5, 3.5, 1.25), (0.5, 5.5, 2.25)],
    "Dirichlet": [(np.array([2.0, 4.0, 3.0]),)],
    "DirichletMultinomial": [(np.array([2.0, 4.0, 3.0]), 20)],
    "DiscreteUniform": [(2, 9)],
    "DoublyTruncatedPowerLaw": [(-1.75, 1.25, 5.25), (0.75, 1.25, 5.25)],
    "Exponential": [(1.25,), (0.6,)],
    "Frechet": [(2.5, 1.25), (4.5, 1.75)],
    "Gamma": [(2.5, 1.75), (5.5, 1.25), (1.0, 0.7)],
    "GammaPoisson": [(2.5, 0.75), (12.5, 1.25)],
    "GeneralizedExtremeValue": [(0.25, 1.25, 0.35), (0.25, 1.25, -0.45)],
    "GeneralizedInverseGaussian": [(2.5, 1.5, 0.75), (6.0, 8.0, -0.5)],
    "GeneralizedPareto": [(0.25, 1.25, 0.5), (0.25, 1.75, -0.6)],
    "Geometric": [(0.3,)],
    "Gompertz": [(0.35, 1.25), (1.5, 0.45)],
    "Gumbel": [(0.25, 1.25), (2.0, 0.7)],
    "HalfCauchy": [(1.25,), (0.6,)],
    "HalfNormal": [(1.25,), (0.6,)],
    "HalfStudentT": [(3.5, 1.25), (3.5, 0.6)],
    "InverseGamma": [(3.5, 2.5), (6.5, 9.5)],
    "InverseGaussian": [(1.25, 3.5), (1.75, 12.0)],
    "KolmogorovSmirnov": [(5,), (20,), (100,)],
    "KolmogorovSmirnovOneSided": [(5,), (20,), (100,)],
    "Kumaraswamy": [(2.0, 5.0), (5.0, 3.0), (0.7, 0.8)],
    "LKJ": [(2, 3.0)],
    "LKJCholesky": [(2, 3.0)],
    "Laplace": [(0.25, 1.25), (-2.0, 0.6)],
    "Levy": [(0.25, 0.75), (0.25, 1.75)],
    "LogLogistic": [(1.5, 3.25), (2.5, 6.25)],
    "LogNormal": [(0.25, 0.5), (0.75, 0.3), (0.0, 1.0)],
    "LogUniform": [(0.75, 5.25)],
    "Logistic": [(0.25, 0.75), (-2.0, 0.4)],
    "LogitNormal": [(0.5, 0.7), (-0.5, 1.7)],
    "LowRankMultivariateNormal": [(np.zeros(2), np.array([[0.9], [0.7]]), np.array([0.1, 0.3]))],
    "LowerTruncatedPowerLaw": [(-2.75, 1.25), (-1.75, 1.25)],
    "Multinomial": [(20, THIRDS)],
    "MatrixStudentT": [(5.0, np.zeros((2, 2)), FACTOR, FACTOR)],
    "LogisticNormal": [(np.zeros(2), FACTOR @ FACTOR.T)],
    "MultivariateLogNormal": [(np.zeros(2), 0.3 * FACTOR @ FACTOR.T)],
    "MultivariateNormal": [(np.zeros(2), FACTOR @ FACTOR.T)],
    "MultivariateStudentT": [(4.0, np.zeros(2), FACTOR)],
    "NegativeBinomial": [(3.5, 0.5), (9.5, 0.6)],
    "NegativeBinomial2": [(4.5, 2.5), (9.5, 20.5)],
    "Normal": [(0.25, 1.25), (-2.0, 0.6)],
    "NormalInverseGaussian": [(0.0, 1.25, 2.0, 0.0), (-1.5, 1.25, 1.5, 1.1)],
    "OrderedLogistic": [(0.4, np.array([-1.5, 0.0, 1.0, 2.5]))],
    "Pareto": [(1.25, 2.5), (1.25, 5.5)],
    "Poisson": [(3.5,), (9.5,)],
    "PolyaGamma": [(1.0, 0.0), (2.0, 3.0)],
    "Rayleigh": [(1.25,), (2.25,)],
    "RelaxedBernoulliLogits": [(0.6, 0.4), (2.5, -0.6)],
    "RelaxedBernoulli": [(0.6, 0.6), (2.5, 0.4)],
    "SkewedExponentialPower": [(0.25, 1.25, 1.0, 0.3), (0.25, 1.25, 2.0, 0.7), (0.25, 1.25, 6.0, 0.3)],
    "SkewNormal": [(0.25, 1.25, 4.0), (0.25, 1.25, -1.5)],
    "Soliton": [(30, 8, 0.05)],
    "SoftLaplace": [(0.25, 0.75), (-2.0, 0.4)],
    "StudentT": [(3.5, 0.25, 1.25), (10.0, -2.0, 0.5)],
    "StudentizedRange": [(5.0, 3), (30.0, 3), (30.0, 10)],
    "Triangular": [(-1.25, 2.75, 1.5)],
    "TruncatedNormal": [(0.25, 1.25)],
    "TruncatedPolyaGamma": [()],
    "Uniform": [(-1.25, 2.75)],
    "VonMises": [(0.25, 4.5), (-1.5, 0.9)],
    "VonMisesFisher": [(np.array([0.8, 0.6]), 6.0)],
    "WalleniusHypergeometric": [(12, 8, 7, 0.3), (12, 8, 7, 2.0)],
    "Weibull": [(1.25, 1.5), (1.75, 4.5), (1.0, 0.9)],
    "ZeroSumNormal": [(1.25, (3,))],
    "CAR": [(np.zeros(6), 0.9, 1.0, RING)],
    "CirculantNormal": [(np.zeros(6), np.array([1.0, 0.7, 0.3, 0.1, 0.3, 0.7]))],
    "DirichletProcess": [(2.5,)],
    "PitmanYorProcess": [(0.4, 1.5, 3)],
    "ProjectedNormal": [(np.array([1.2, 0.6]),)],
    "SineBivariateVonMises": [(0.25, -0.25, 3.0, 3.0, 2.0)],
    "Wishart": [(5.0, np.eye(2))],
    "WishartCholesky": [(5.0, np.eye(2))],
    "InverseWishart": [(6.0, np.eye(2))],
    "InverseWishartCholesky": [(6.0, np.eye(2))],
    "MatrixNormal": [(np.zeros((2, 2)), FACTOR, FACTOR)],
    "GaussianRandomWalk": [(1.0, 40)],
    "Flat": [()],
    "FlatPos": [(1.25,)],
    "Delta": [(1.5,)],
    "Unit": [(0.5,)],
    "ImproperUniform": [(constraints.positive, (), ())],
}

# What takes another distribution, or keyword arguments.
MADE: dict[str, Callable[[], list[dist.AbstractDistribution]]] = {
    "CensoredDistribution": lambda: [dist.Normal(0, 1).censor(-1.0, 1.25)],
    "ChineseRestaurantProcess": lambda: [
        dist.ChineseRestaurantProcess(dist.DirichletProcess(2.5), np.array([6, 3, 1, 0, 0]))
    ],
    "EulerMaruyama": lambda: [
        dist.EulerMaruyama(np.arange(41) * 0.1, lambda x, t: (-x, jnp.ones_like(x)), dist.Normal(2.0, 0.5))
    ],
    "ExpandedDistribution": lambda: [dist.Normal(0, 1).expand((2,))],
    "FoldedDistribution": lambda: [dist.FoldedDistribution(dist.Normal(0.8, 1.0))],
    "GaussianCopula": lambda: [
        dist.GaussianCopula(dist.Gamma(np.full(2, 3.0), 1.0), np.array([[1.0, 0.8], [0.8, 1.0]]))
    ],
    "GaussianCopulaBeta": lambda: [
        dist.GaussianCopulaBeta(np.full(2, 2.0), np.full(2, 3.0), np.array([[1.0, 0.8], [0.8, 1.0]]))
    ],
    "GaussianStateSpace": lambda: [
        dist.GaussianStateSpace(40, np.array([[0.97, 0.2], [-0.2, 0.97]]), scale_tril=0.15 * np.eye(2))
    ],
    "LinearGaussianStateSpace": lambda: [
        dist.LinearGaussianStateSpace(
            40,
            np.array([[1.0, 1.0], [0.0, 1.0]]),
            np.array([[1.0, 0.0]]),
            transition_scale=np.diag([0.1, 0.05]),
            observation_scale=np.array([[0.5]]),
            initial_mean=np.zeros(2),
            initial_scale=np.diag([1.0, 0.1]),
        )
    ],
    "HurdleDistribution": lambda: [dist.HurdleDistribution(dist.Poisson(4.5), gate=0.3)],
    "DiscreteNonParametric": lambda: [dist.DiscreteNonParametric(np.array([-1.0, 0.5, 2.0]), THIRDS)],
    "Independent": lambda: [dist.Normal(np.zeros(2), 1.0).to_event(1)],
    "IntervalCensoredDistribution": lambda: [
        dist.IntervalCensoredDistribution(dist.Normal(0.0, 1.0), np.array(False), np.array(False))
    ],
    "JointOrderStatistics": lambda: [dist.JointOrderStatistics(dist.Normal(0.0, 1.0), 3)],
    "LeftCensoredDistribution": lambda: [
        dist.LeftCensoredDistribution(dist.Normal(0.0, 1.0), np.array(False))
    ],
    "MaskedDistribution": lambda: [dist.Normal(0, 1).mask(np.array(True))],
    "MatrixBeta": lambda: [dist.MatrixBeta(2, 4.0, 5.0)],
    "MatrixFDist": lambda: [dist.MatrixFDist(4.0, 5.0, np.eye(2))],
    "MixtureGeneral": lambda: [
        dist.MixtureGeneral(
            dist.Categorical(np.array([0.4, 0.6])), [dist.Normal(-2.0, 0.7), dist.StudentT(3.0, 2.0, 0.8)]
        )
    ],
    "MixtureSameFamily": lambda: [
        dist.MixtureSameFamily(dist.Categorical(THIRDS), dist.Normal(np.array([-3.0, 0.0, 3.0]), 0.8))
    ],
    "NoncentralHypergeometric": lambda: [
        dist.NoncentralHypergeometric(12, 8, 7, odds) for odds in (0.3, 2.0)
    ],
    "OrderStatistic": lambda: [dist.OrderStatistic(dist.Normal(0.0, 1.0), 5, rank) for rank in (1, 3, 5)],
    "OrderedDistribution": lambda: [dist.OrderedDistribution(dist.Normal(0.0, 1.0).expand((2,)).to_event(1))],
    "ProductDistribution": lambda: [dist.ProductDistribution((dist.Normal(0.0, 1.0), dist.Gamma(2.5, 1.0)))],
    "RightCensoredDistribution": lambda: [
        dist.RightCensoredDistribution(dist.Normal(0.0, 1.0), np.array(False))
    ],
    "SineSkewed": lambda: [
        dist.SineSkewed(dist.VonMises(np.zeros(2), 3.0).to_event(1), np.array([0.6, 0.3]))
    ],
    "SizeBiasedSamplingProcess": lambda: [dist.SizeBiasedSamplingProcess(dist.DirichletProcess(2.5), 1.0)],
    "StickBreakingProcess": lambda: [dist.StickBreakingProcess(dist.DirichletProcess(2.5))],
    "TransformedDistribution": lambda: [
        dist.TransformedDistribution(dist.Gumbel(0.0, 1.0), Affine(1.0, -0.8))
    ],
    "TruncatedDistribution": lambda: [
        dist.StudentT(3.5, 0.0, 1.0).truncate(-1.25, 2.25),
        dist.Gamma(2.5, 1.0).truncate(high=3.25),
    ],
    "TruncatedNormal": lambda: [
        dist.TruncatedNormal(0.25, 1.25, low=-1.5, high=1.75),
        dist.TruncatedNormal(-0.5, 0.9, low=-1.5, high=1.75),
    ],
    "ZeroInflatedDistribution": lambda: [dist.ZeroInflatedDistribution(dist.Poisson(4.5), gate=0.3)],
}


def examples(name: str) -> list[dist.AbstractDistribution]:
    """Up to three distributions of this name.

    **Raises** `LookupError` when there are no arguments for it here and those of its constraints do not fit.
    """
    if name in MADE:
        return MADE[name]()
    make: Any = getattr(dist, name)
    if name in ARGUMENTS:
        return [make(*arguments) for arguments in ARGUMENTS[name]]
    try:
        return [
            make(**{field: _value(of, number) for number, (field, of) in enumerate(make.parameters.items())})
        ]
    except Exception as error:
        raise LookupError(
            f"{name} has no example, and {type(error).__name__} with values that its constraints allow: {error} "
            "Add a line to docs/distribution_examples.py."
        ) from error


def _value(constraint: Any, number: int) -> Any:
    """A value in a constraint, other for each number so that a bound can be told by its value."""
    shape = (3,) * constraint.event_dim
    for candidate in itertools.chain((1.25 + 0.5 * number, 0.35 + 0.1 * number), (2 + number,)):
        if constraint.event_dim == 0 and bool(constraint(np.asarray(candidate))):
            return candidate
    return np.asarray(constraint.feasible_like(np.zeros(shape)))
