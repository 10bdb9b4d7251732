"""List further continuous families that every law is tested for: kernels, ratios, lifetimes and skewed laws."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

TINY_TO_HUGE = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
HUGE_TO_TINY = TINY_TO_HUGE[:, None]

UNIVARIATE = {
    "Epanechnikov": Case(
        lambda: dist.Epanechnikov(0.5, 2), None, lambda: dist.Epanechnikov(0.0, TINY_TO_HUGE)
    ),
    "Biweight": Case(lambda: dist.Biweight(0.5, 2), None, lambda: dist.Biweight(0.0, TINY_TO_HUGE)),
    "Triweight": Case(lambda: dist.Triweight(0.5, 2), None, lambda: dist.Triweight(0.0, TINY_TO_HUGE)),
    "Semicircle": Case(
        lambda: dist.Semicircle(0.5, 2),
        lambda: stats.semicircular(0.5, 2),
        lambda: dist.Semicircle(0.0, TINY_TO_HUGE),
    ),
    "Cosine": Case(
        lambda: dist.Cosine(0.5, 2),
        lambda: stats.cosine(0.5, 2 / np.pi),
        lambda: dist.Cosine(0.0, TINY_TO_HUGE),
    ),
    "Lindley": Case(lambda: dist.Lindley(0.5), None, lambda: dist.Lindley(TINY_TO_HUGE)),
    "BetaPrime": Case(
        lambda: dist.BetaPrime(2.5, 4.5),
        lambda: stats.betaprime(2.5, 4.5),
        lambda: dist.BetaPrime(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "FisherSnedecor": Case(
        lambda: dist.FisherSnedecor(5, 9),
        lambda: stats.f(5, 9),
        lambda: dist.FisherSnedecor(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "GeneralizedNormal": Case(
        lambda: dist.GeneralizedNormal(0.5, 2, 1.5),
        lambda: stats.gennorm(1.5, 0.5, 2),
        lambda: dist.GeneralizedNormal(0.0, TINY_TO_HUGE, np.array([0.5, 1.0, 2.0, 8.0, 1e3])[:, None]),
    ),
    "SkewNormal": Case(
        lambda: dist.SkewNormal(0.5, 2, -3),
        lambda: stats.skewnorm(-3, 0.5, 2),
        lambda: dist.SkewNormal(0.0, TINY_TO_HUGE, np.array([-1e6, 0.0, 1e-6, 1.0, 1e3])[:, None]),
    ),
    "ExponentiallyModifiedGaussian": Case(
        lambda: dist.ExponentiallyModifiedGaussian(0.5, 2, 0.3),
        lambda: stats.exponnorm(1 / 0.6, 0.5, 2),
        lambda: dist.ExponentiallyModifiedGaussian(0.0, TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "WrappedCauchy": Case(
        lambda: dist.WrappedCauchy(2.5, 0.4),
        extremes=lambda: dist.WrappedCauchy(
            np.array([0.0, 3.14159, -3.1, 40.0]), np.array([[1e-6], [0.5], [0.9999]])
        ),
    ),
    "Cardioid": Case(
        lambda: dist.Cardioid(2.5, 0.3),
        extremes=lambda: dist.Cardioid(np.array([0.0, 3.14159, -3.1, 40.0]), np.array([[0.0], [0.2], [0.5]])),
    ),
    "WrappedNormal": Case(
        lambda: dist.WrappedNormal(2.5, 1.2),
        extremes=lambda: dist.WrappedNormal(np.array([0.0, 3.14159, -3.1, 40.0]), HUGE_TO_TINY),
    ),
}

OUTSIDE = {
    "Epanechnikov": (dist.Epanechnikov, (0.5, 2.0), -1.5),
    "Semicircle": (dist.Semicircle, (0.5, 2.0), 3.0),
    "Cosine": (dist.Cosine, (0.5, 2.0), -1.6),
    "Lindley": (dist.Lindley, (0.5,), -0.1),
    "BetaPrime": (dist.BetaPrime, (2.5, 4.5), 0.0),
    "FisherSnedecor": (dist.FisherSnedecor, (5.0, 9.0), -1.0),
    "WrappedCauchy": (dist.WrappedCauchy, (0.3, 0.4), 3.2),
    "Cardioid": (dist.Cardioid, (0.3, 0.4), -3.2),
    "WrappedNormal": (dist.WrappedNormal, (0.3, 0.4), 3.2),
}
