"""Bind eight models that were written after the last change of a rule, so that nothing was tuned on them."""

import numpy as np

import unseen_models as models
from cold import Simulated
from cold_data import Data


def _survival_with_frailty(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x, clinic = generator.normal(size=(rows, 3)), generator.integers(0, 40, rows)
    log_hazard = -1 + x @ [0.5, -0.3, 0] + generator.normal(0, 0.4, 40)[clinic]
    time = (generator.exponential(size=rows) / np.exp(log_hazard)) ** (1 / 1.3)
    end = generator.uniform(1, 4, rows)
    return {"x": x, "clinic": clinic, "time": np.minimum(time, end), "is_event": (time <= end).astype(float)}


def _discrete_choice(persons: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    attributes = generator.normal(size=(persons, 8, 4, 3))
    covariance = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.25]])
    slope = generator.multivariate_normal([1.0, -0.5, 0.3], covariance, persons)
    utility = np.einsum("pcak,pk->pca", attributes, slope) + generator.gumbel(size=(persons, 8, 4))
    return {"attributes": attributes, "chosen": utility.argmax(-1)}


def _football(rounds: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    home, away = (np.tile(side, rounds) for side in np.nonzero(~np.eye(20, dtype=bool)))
    attack, defence = generator.normal(0, (0.25, 0.15), (20, 2)).T
    home_goals = generator.poisson(np.exp(0.1 + 0.3 + attack[home] - defence[away]))
    away_goals = generator.poisson(np.exp(0.1 + attack[away] - defence[home]))
    return {"home": home, "away": away, "home_goals": home_goals, "away_goals": away_goals}


def _factor_analysis(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    loadings = np.tril(generator.normal(0, 0.7, (10, 2)))
    loadings[[0, 1], [0, 1]] = 0.8
    return {"y": generator.normal(size=(rows, 2)) @ loadings.T + generator.normal(0, 0.6, (rows, 10))}


def _counts_with_a_trend(times: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    trend = 0.01 + np.cumsum(generator.normal(0, 0.01, times))
    rate = np.exp(1.5 + np.cumsum(trend + generator.normal(0, 0.05, times)))
    return {"y": generator.negative_binomial(20, 20 / (20 + rate))}


def _dose_response(subjects: int, seed: int) -> Data:
    generator, dose = np.random.default_rng(seed), np.array([0.5, 1, 2, 4, 8, 16, 32])
    top, middle = (
        value * np.exp(generator.normal(0, s, (subjects, 1))) for value, s in ((10, 0.3), (5, 0.5))
    )
    return {"dose": dose, "y": top / (1 + (middle / dose) ** 1.8) + generator.normal(0, 0.5, (subjects, 7))}


def _proportions(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x, group = generator.normal(size=rows), generator.integers(0, 40, rows)
    mean = 1 / (1 + np.exp(-(-0.5 + 0.4 * x + generator.normal(0, 0.5, 40)[group])))
    precision = np.exp(generator.normal(2.5, 0.3, 40))[group]
    return {"x": x, "group": group, "y": generator.beta(mean * precision, (1 - mean) * precision)}


def _robust_regression(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 30))
    for column in range(1, 30):
        X[:, column] = 0.9 * X[:, column - 1] + np.sqrt(1 - 0.81) * X[:, column]
    return {"X": X, "y": 1 + X @ generator.normal(0, 0.5, 30) + generator.standard_t(3, rows)}


ENTRIES: dict[str, Simulated] = {
    "survival_with_frailty": Simulated(models.survival_with_frailty, _survival_with_frailty, size=800),
    "discrete_choice": Simulated(models.discrete_choice, _discrete_choice, size=100),
    "football": Simulated(models.football, _football, size=1),
    "factor_analysis": Simulated(models.factor_analysis, _factor_analysis, size=200),
    "counts_with_a_trend": Simulated(models.counts_with_a_trend, _counts_with_a_trend, size=150),
    "dose_response": Simulated(models.dose_response, _dose_response, size=30),
    "proportions": Simulated(models.proportions, _proportions, size=600),
    "robust_regression": Simulated(models.robust_regression, _robust_regression, size=500),
}
