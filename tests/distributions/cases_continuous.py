"""List the continuous families on the line, of lifetimes, of powers and on intervals that every law is tested for."""

import numpy as np
from scipy import stats
from table_case import Case

import accord.distributions as dist

# Scales and shapes far from 1, side by side.
TINY_TO_HUGE = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
HUGE_TO_TINY = TINY_TO_HUGE[:, None]
SHAPES = np.array([-5.0, -0.5, -1e-9, 0.0, 1e-4, 0.5, 5.0])

UNIVARIATE = {
    "Laplace": Case(
        lambda: dist.Laplace(0.5, 2), lambda: stats.laplace(0.5, 2), lambda: dist.Laplace(-1e6, TINY_TO_HUGE)
    ),
    "AsymmetricLaplace": Case(
        lambda: dist.AsymmetricLaplace(0.5, 2, 0.7),
        lambda: stats.laplace_asymmetric(0.7, 0.5, 2),
        lambda: dist.AsymmetricLaplace(0, TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "AsymmetricLaplaceQuantile": Case(
        lambda: dist.AsymmetricLaplaceQuantile(0.5, 2, 0.3),
        lambda: stats.laplace_asymmetric(np.sqrt(0.3 / 0.7), 0.5, 2 / np.sqrt(0.3 * 0.7)),
        lambda: dist.AsymmetricLaplaceQuantile(0, TINY_TO_HUGE, np.array([[1e-6], [0.999999]])),
    ),
    "Logistic": Case(
        lambda: dist.Logistic(0.5, 2),
        lambda: stats.logistic(0.5, 2),
        lambda: dist.Logistic(1e6, TINY_TO_HUGE),
    ),
    "SoftLaplace": Case(
        lambda: dist.SoftLaplace(0.5, 2),
        lambda: stats.hypsecant(0.5, 2),
        lambda: dist.SoftLaplace(0, TINY_TO_HUGE),
    ),
    "Gumbel": Case(
        lambda: dist.Gumbel(0.5, 2), lambda: stats.gumbel_r(0.5, 2), lambda: dist.Gumbel(1e6, TINY_TO_HUGE)
    ),
    "GeneralizedExtremeValue": Case(
        lambda: dist.GeneralizedExtremeValue(0.5, 2, 0.2),
        lambda: stats.genextreme(-0.2, 0.5, 2),
        lambda: dist.GeneralizedExtremeValue(1.0, HUGE_TO_TINY, SHAPES),
    ),
    "GeneralizedExtremeValue, upper end": Case(
        lambda: dist.GeneralizedExtremeValue(0.5, 2, -0.4), lambda: stats.genextreme(0.4, 0.5, 2)
    ),
    "Frechet": Case(
        lambda: dist.Frechet(4.5, 2),
        lambda: stats.invweibull(4.5, scale=2),
        lambda: dist.Frechet(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "Weibull": Case(
        lambda: dist.Weibull(2, 1.7),
        lambda: stats.weibull_min(1.7, scale=2),
        lambda: dist.Weibull(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "Rayleigh": Case(
        lambda: dist.Rayleigh(2), lambda: stats.rayleigh(0, 2), lambda: dist.Rayleigh(TINY_TO_HUGE)
    ),
    "Gompertz": Case(
        lambda: dist.Gompertz(0.5, 2), extremes=lambda: dist.Gompertz(TINY_TO_HUGE, HUGE_TO_TINY)
    ),
    "Dagum": Case(
        lambda: dist.Dagum(1.5, 4.5, 2),
        lambda: stats.burr(4.5, 1.5, scale=2),
        lambda: dist.Dagum(TINY_TO_HUGE, HUGE_TO_TINY, 2.0),
    ),
    "LogLogistic": Case(
        lambda: dist.LogLogistic(2, 4.5),
        lambda: stats.fisk(4.5, scale=2),
        lambda: dist.LogLogistic(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "Pareto": Case(
        lambda: dist.Pareto(2, 4.5),
        lambda: stats.pareto(4.5, scale=2),
        lambda: dist.Pareto(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "LowerTruncatedPowerLaw": Case(
        lambda: dist.LowerTruncatedPowerLaw(-5.5, 2),
        lambda: stats.pareto(4.5, scale=2),
        lambda: dist.LowerTruncatedPowerLaw(-1 - TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "GeneralizedPareto": Case(
        lambda: dist.GeneralizedPareto(0.5, 2, 0.2),
        lambda: stats.genpareto(0.2, 0.5, 2),
        lambda: dist.GeneralizedPareto(1.0, HUGE_TO_TINY, SHAPES),
    ),
    "LogUniform": Case(
        lambda: dist.LogUniform(0.5, 3),
        lambda: stats.loguniform(0.5, 3),
        lambda: dist.LogUniform(TINY_TO_HUGE, 1e7),
    ),
    "DoublyTruncatedPowerLaw": Case(
        lambda: dist.DoublyTruncatedPowerLaw(1.5, 0.5, 3),
        extremes=lambda: dist.DoublyTruncatedPowerLaw(np.array([-1e6, -1.0, 1e6]), HUGE_TO_TINY, 1e7),
    ),
    "Levy": Case(lambda: dist.Levy(0.5, 2), lambda: stats.levy(0.5, 2), lambda: dist.Levy(1e3, TINY_TO_HUGE)),
    "InverseGaussian": Case(
        lambda: dist.InverseGaussian(2, 3),
        lambda: stats.invgauss(2 / 3, scale=3),
        lambda: dist.InverseGaussian(TINY_TO_HUGE, HUGE_TO_TINY),
    ),
    "Kumaraswamy": Case(
        lambda: dist.Kumaraswamy(2, 3.5), extremes=lambda: dist.Kumaraswamy(TINY_TO_HUGE, HUGE_TO_TINY)
    ),
    "BetaProportion": Case(
        lambda: dist.BetaProportion(0.3, 5),
        lambda: stats.beta(1.5, 3.5),
        lambda: dist.BetaProportion(np.array([1e-6, 0.5, 0.999999]), HUGE_TO_TINY),
    ),
    "LogitNormal": Case(
        lambda: dist.LogitNormal(0.5, 2), extremes=lambda: dist.LogitNormal(3.0, TINY_TO_HUGE)
    ),
    "RelaxedBernoulliLogits": Case(
        lambda: dist.RelaxedBernoulliLogits(1.5, 0.5),
        extremes=lambda: dist.RelaxedBernoulliLogits(TINY_TO_HUGE, 3.0),
    ),
    "RelaxedBernoulli": Case(lambda: dist.RelaxedBernoulli(0.7, 0.3)),
    "Arcsine": Case(
        lambda: dist.Arcsine(-1, 2), lambda: stats.arcsine(-1, 3), lambda: dist.Arcsine(1.0, 1 + TINY_TO_HUGE)
    ),
    "Triangular": Case(
        lambda: dist.Triangular(-1, 2, 1.5),
        lambda: stats.triang(2.5 / 3, -1, 3),
        lambda: dist.Triangular(1.0, 1 + TINY_TO_HUGE, 1.0),
    ),
    "Moyal": Case(
        lambda: dist.Moyal(0.5, 2), lambda: stats.moyal(0.5, 2), lambda: dist.Moyal(1e6, TINY_TO_HUGE)
    ),
    "JohnsonSU": Case(
        lambda: dist.JohnsonSU(0.5, 2, 0.7, 1.5),
        lambda: stats.johnsonsu(0.7, 1.5, 0.5, 2),
        lambda: dist.JohnsonSU(0.0, HUGE_TO_TINY, 1.0, np.array([0.3, 1.0, 1e6])),
    ),
}

BATCHED = {
    "Laplace, batch": Case(lambda: dist.Laplace(np.zeros(3), np.ones((2, 1)))),
    "AsymmetricLaplace, batch": Case(lambda: dist.AsymmetricLaplace(0, 1, np.array([0.5, 1.0, 2.0]))),
    "GeneralizedExtremeValue, batch": Case(
        lambda: dist.GeneralizedExtremeValue(0, 1, np.array([-2.0, -0.3, 0.0, 0.1]))
    ),
    "Weibull, batch": Case(lambda: dist.Weibull(2, np.array([0.5, 1.0, 20.0]))),
    "Dagum, batch": Case(lambda: dist.Dagum(np.array([0.5, 20.0]), 9.0, np.ones((2, 1)))),
    "GeneralizedPareto, batch": Case(lambda: dist.GeneralizedPareto(0, 1, np.array([-2.0, -0.3, 0.0, 0.1]))),
    "DoublyTruncatedPowerLaw, batch": Case(
        lambda: dist.DoublyTruncatedPowerLaw(
            np.array([-30.0, -1.1, -1.0, 30.0]), 0.5, np.array([[1.0], [3.0]])
        )
    ),
    "InverseGaussian, batch": Case(lambda: dist.InverseGaussian(np.array([1, 2]), 3)),
    "Kumaraswamy, batch": Case(lambda: dist.Kumaraswamy(np.array([0.5, 1.0, 3.0]), 2)),
    "RelaxedBernoulli, batch": Case(lambda: dist.RelaxedBernoulli(0.7, np.array([0.3, 0.8]))),
    "Triangular, batch": Case(lambda: dist.Triangular(0, 1, np.array([0.0, 0.3, 1.0]))),
}

OUTSIDE = {
    "GeneralizedExtremeValue below": (dist.GeneralizedExtremeValue, (0.5, 2.0, 0.5), -4.0),
    "GeneralizedExtremeValue above": (dist.GeneralizedExtremeValue, (0.5, 2.0, -0.5), 5.0),
    "Frechet": (dist.Frechet, (2.0, 3.0), -1.0),
    "Weibull": (dist.Weibull, (2.0, 3.0), -1.0),
    "Weibull at 0": (dist.Weibull, (2.0, 0.5), 0.0),
    "Rayleigh": (dist.Rayleigh, (2.0,), -1.0),
    "Gompertz": (dist.Gompertz, (2.0, 3.0), -1.0),
    "Dagum": (dist.Dagum, (2.0, 3.0, 1.5), -1.0),
    "LogLogistic": (dist.LogLogistic, (2.0, 3.0), -1.0),
    "Pareto": (dist.Pareto, (2.0, 3.0), 1.9),
    "LowerTruncatedPowerLaw": (dist.LowerTruncatedPowerLaw, (-2.0, 3.0), 2.9),
    "GeneralizedPareto below": (dist.GeneralizedPareto, (0.5, 2.0, 0.5), 0.4),
    "GeneralizedPareto above": (dist.GeneralizedPareto, (0.5, 2.0, -0.5), 5.0),
    "Levy": (dist.Levy, (0.5, 2.0), 0.4),
    "InverseGaussian": (dist.InverseGaussian, (2.0, 3.0), -1.0),
    "Kumaraswamy below": (dist.Kumaraswamy, (2.0, 3.0), 0.0),
    "Kumaraswamy above": (dist.Kumaraswamy, (2.0, 3.0), 1.5),
    "BetaProportion": (dist.BetaProportion, (0.3, 3.0), 1.5),
    "LogitNormal": (dist.LogitNormal, (0.5, 2.0), 1.0),
    "RelaxedBernoulli": (dist.RelaxedBernoulli, (0.5, 0.3), -1.0),
    "Arcsine": (dist.Arcsine, (0.5, 2.0), 0.4),
    "Triangular below": (dist.Triangular, (0.5, 2.0, 1.0), 0.0),
    "Triangular above": (dist.Triangular, (0.5, 2.0, 1.0), 2.5),
    "LogUniform": (dist.LogUniform, (2.0, 3.0), 1.0),
    "DoublyTruncatedPowerLaw": (dist.DoublyTruncatedPowerLaw, (0.5, 2.0, 3.0), 4.0),
}
