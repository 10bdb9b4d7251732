"""Simulate the data of models that are no example; the same numbers every time, with nothing but NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np

Data = dict[str, Any]


def hierarchical_logistic() -> Data:
    """20,000 answers of yes or no, with 50 predictors, from 200 groups of unequal size."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(20_000, 50))
    slopes = generator.normal(0, 0.3, size=50)
    group = generator.choice(200, size=20_000, p=generator.dirichlet(np.full(200, 5.0)))
    intercepts = generator.normal(-0.5, 0.7, size=200)
    logits = intercepts[group] + X @ slopes
    return {"X": X, "group": group, "y": (generator.random(20_000) < _expit(logits)).astype(int)}


def horseshoe() -> Data:
    """1000 rows of 200 predictors, of which ten matter."""
    generator = np.random.default_rng(2)
    X = generator.normal(size=(1000, 200))
    slopes = np.zeros(200)
    slopes[:10] = np.linspace(0.3, 2, 10) * generator.choice([-1, 1], size=10)
    return {"X": X, "y": 1 + X @ slopes + generator.normal(size=1000)}


def stochastic_volatility() -> Data:
    """3000 returns whose log variance is an autoregression of order one."""
    generator = np.random.default_rng(3)
    mu, phi, sigma = -1.0, 0.95, 0.25
    log_variance = np.empty(3000)
    log_variance[0] = generator.normal(mu, sigma / np.sqrt(1 - phi**2))
    for t in range(1, 3000):
        log_variance[t] = mu + phi * (log_variance[t - 1] - mu) + sigma * generator.normal()
    return {"y": np.exp(log_variance / 2) * generator.normal(size=3000)}


def item_response() -> Data:
    """What 9960 persons answered to 20 questions: with two parameters for a question, 10,000 in all."""
    generator = np.random.default_rng(4)
    ability = generator.normal(size=(9960, 1))
    discrimination = np.exp(generator.normal(0, 0.4, size=20))
    difficulty = generator.normal(0, 1.2, size=20)
    chance = _expit(discrimination * (ability - difficulty))
    return {"y": (generator.random(chance.shape) < chance).astype(int)}


def logistic(num_rows: int = 1000, num_predictors: int = 25) -> Data:
    """Answers of yes or no, with predictors."""
    generator = np.random.default_rng(5)
    X = generator.normal(size=(num_rows, num_predictors))
    logits = -0.5 + X @ generator.normal(0, 0.5, size=num_predictors)
    return {"X": X, "y": (generator.random(num_rows) < _expit(logits)).astype(int)}


def _expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


DATA: dict[str, Callable[[], Data]] = {
    "hierarchical_logistic": hierarchical_logistic,
    "horseshoe": horseshoe,
    "stochastic_volatility": stochastic_volatility,
    "item_response": item_response,
    "logistic": logistic,
}
