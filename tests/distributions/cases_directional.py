"""List the distributions of angles, directions and random measures that every law is tested for."""

from typing import Any

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

COUNTS = np.array([3, 1, 0, 2, 0])
EXTREME = np.array([0.0, 1e-6, 1.0, 1e4, 1e6])
NORTH = np.array([0.6, 0.0, 0.8])
DIRECTIONS = np.array([[1.0, 0.2, 0.0, 2.0], [0.1, 0.2, 0.3, 0.4]])


def pull_back(x: Any, t: Any) -> tuple[Any, Any]:
    """A process of Ornstein and Uhlenbeck."""
    del t
    return -0.8 * x, 0.5


UNIVARIATE = {
    "VonMises": Case(
        lambda: dist.VonMises(0.0, 4.0),
        lambda: stats.vonmises(4.0),
        lambda: dist.VonMises(np.array([0.0, 3.14159, -3.1, 1.0, 40.0]), EXTREME),
    ),
    "TruncatedPolyaGamma": Case(lambda: dist.TruncatedPolyaGamma()),
    "VonMises, wrapped": Case(lambda: dist.VonMises(np.array(2.5), 1.5)),
}

DISCRETE = {
    "ChineseRestaurantProcess, Dirichlet": Case(
        lambda: dist.ChineseRestaurantProcess(dist.DirichletProcess(1.5), COUNTS)
    ),
    "ChineseRestaurantProcess, Pitman-Yor": Case(
        lambda: dist.ChineseRestaurantProcess(dist.PitmanYorProcess(0.4, np.array(1.5)), COUNTS[:2])
    ),
}

MULTIVARIATE = {
    "ProjectedNormal, circle": Case(
        lambda: dist.ProjectedNormal(np.array([1.0, -2.0])),
        extremes=lambda: dist.ProjectedNormal(EXTREME[:, None] * np.array([0.6, 0.8])),
    ),
    "ProjectedNormal, sphere": Case(lambda: dist.ProjectedNormal(np.array([1.0, -2.0, 0.5]))),
    "VonMisesFisher": Case(
        lambda: dist.VonMisesFisher(NORTH, 3.0),
        lambda: stats.vonmises_fisher(NORTH, 3.0),
        lambda: dist.VonMisesFisher(NORTH, EXTREME),
    ),
    "SineBivariateVonMises, correlation": Case(
        lambda: dist.SineBivariateVonMises(0.3, -1.0, 2.0, 3.0, 1.0),
        extremes=lambda: dist.SineBivariateVonMises(
            0.3, -1.0, EXTREME + 1e-6, EXTREME[::-1] + 1e-6, weighted_correlation=0.99
        ),
    ),
    "SineBivariateVonMises, weighted": Case(
        lambda: dist.SineBivariateVonMises(0.3, 3.0, 20.0, 3.0, weighted_correlation=-0.5)
    ),
    "SineSkewed": Case(
        lambda: dist.SineSkewed(dist.VonMises(np.array([0.3, -1.0]), 2.0).to_event(1), np.array([0.6, -0.3]))
    ),
}

BATCHED = {
    "TruncatedPolyaGamma, batch": Case(lambda: dist.TruncatedPolyaGamma((2, 1))),
    "EulerMaruyama": Case(
        lambda: dist.EulerMaruyama(
            np.array([0.0, 0.1, 0.3]), pull_back, dist.Normal(np.array([1.0, 2.0]), 0.5)
        )
    ),
    "EulerMaruyama, vectors": Case(
        lambda: dist.EulerMaruyama(
            np.array([[0.0, 0.1, 0.3], [0.0, 1.0, 2.0]]), pull_back, dist.Normal(np.zeros(2), 0.5).to_event(1)
        )
    ),
    "StickBreakingProcess": Case(
        lambda: dist.StickBreakingProcess(dist.PitmanYorProcess(0.3, 1.0, np.arange(3.0)))
    ),
    "SizeBiasedSamplingProcess": Case(
        lambda: dist.SizeBiasedSamplingProcess(dist.DirichletProcess(np.array([0.5, 3.0])), 0.7)
    ),
    "ChineseRestaurantProcess, batch": Case(
        lambda: dist.ChineseRestaurantProcess(
            dist.DirichletProcess(np.array([0.5, 3.0])), np.stack([COUNTS, COUNTS])
        )
    ),
    "ProjectedNormal, batch": Case(lambda: dist.ProjectedNormal(DIRECTIONS)),
    "VonMisesFisher, batch": Case(
        lambda: dist.VonMisesFisher(np.stack([NORTH, NORTH]), np.array([0.5, 50.0]))
    ),
    "SineBivariateVonMises, batch": Case(
        lambda: dist.SineBivariateVonMises(np.array([0.3, 1.0]), 0, 2, np.array([[3.0], [30.0]]), 1)
    ),
    "SineSkewed, batch": Case(
        lambda: dist.SineSkewed(
            dist.SineBivariateVonMises(0.3, 0.0, np.array([2.0, 5.0]), 3.0, 1.0), np.array([0.1, -0.5])
        )
    ),
}

OUTSIDE = {
    "TruncatedPolyaGamma": (lambda: dist.TruncatedPolyaGamma(), (), 2.6),
    "VonMises": (lambda loc, k: dist.VonMises(loc, k), (0.3, 4.0), 3.2),
    "ProjectedNormal": (lambda c: dist.ProjectedNormal(c), (np.array([1.0, 2.0]),), np.array([1.0, 1.0])),
    "VonMisesFisher": (lambda m, k: dist.VonMisesFisher(m, k), (NORTH, 2.0), np.array([1.0, 1.0, 0.0])),
    "SineBivariateVonMises": (
        lambda *p: dist.SineBivariateVonMises(*p),
        (0.3, 0.4, 2.0, 3.0, 1.0),
        np.array([0.1, -3.5]),
    ),
    "SineSkewed": (
        lambda loc, s: dist.SineSkewed(dist.VonMises(loc, 2.0).to_event(1), s),
        (np.array([0.3, -1.0]), np.array([0.6, -0.3])),
        np.array([0.1, 3.5]),
    ),
    "SizeBiasedSamplingProcess": (
        lambda a, s: dist.SizeBiasedSamplingProcess(dist.DirichletProcess(a), s),
        (1.5, 0.7),
        0.8,
    ),
    "ChineseRestaurantProcess": (
        lambda a: dist.ChineseRestaurantProcess(dist.DirichletProcess(a), COUNTS),
        (1.5,),
        4.0,
    ),
}
