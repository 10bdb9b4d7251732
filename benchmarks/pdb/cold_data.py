"""Simulate the data of the eight models of `cold.py`, each from a size and a seed, with nothing but NumPy."""

from typing import Any

import numpy as np

Data = dict[str, Any]


def varying_slopes(groups: int, seed: int) -> Data:
    """Twelve rows of each group."""
    generator = np.random.default_rng(seed)
    beta = generator.multivariate_normal([1.0, 0.5], [[0.49, 0.15], [0.15, 0.25]], size=groups)
    group = np.repeat(np.arange(groups), 12)
    x = generator.normal(size=len(group))
    y = beta[group, 0] + beta[group, 1] * x + generator.normal(0, 0.8, size=len(group))
    return {"x": x, "group": group, "y": y, "num_groups": groups}


def item_response_2pl(persons: int, seed: int) -> Data:
    """Answers to 20 questions."""
    generator = np.random.default_rng(seed)
    ability = generator.normal(size=(persons, 1))
    chance = _expit(np.exp(generator.normal(0, 0.4, size=20)) * (ability - generator.normal(0, 1.2, size=20)))
    return {"y": (generator.random(chance.shape) < chance).astype(int)}


def zero_inflated_counts(rows: int, seed: int) -> Data:
    """Four predictors."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    mean = np.exp(1.2 + X @ [0.5, -0.3, 0.2, 0.0])
    counts = generator.poisson(mean * generator.gamma(2.0, 1 / 2.0, size=rows))
    is_zero = generator.random(rows) < _expit(-1.0 + X @ [0.6, 0.0, -0.4, 0.2])
    return {"X": X, "y": np.where(is_zero, 0, counts)}


def ordinal_regression(rows: int, seed: int) -> Data:
    """Six predictors, five categories."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 6))
    latent = X @ [1.0, -0.7, 0.4, 0.2, 0.0, 0.0] + generator.logistic(size=rows)
    return {"X": X, "y": np.searchsorted([-2.0, -0.5, 0.8, 2.2], latent)}


def mixture_of_normals(points: int, seed: int) -> Data:
    """Clusters that touch each other."""
    generator = np.random.default_rng(seed)
    means = np.array([[-3.0, 0.0], [0.0, 2.0], [3.0, -1.0]])
    factors = np.array([[[1.0, 0.0], [0.5, 0.8]], [[0.7, 0.0], [0.0, 1.2]], [[1.2, 0.0], [-0.6, 0.7]]])
    component = generator.choice(3, size=points, p=[0.5, 0.3, 0.2])
    return {
        "x": means[component]
        + np.einsum("nij,nj->ni", factors[component], generator.normal(size=(points, 2)))
    }


def latent_autoregression(times: int, seed: int) -> Data:
    """Begin in the stationary distribution."""
    generator = np.random.default_rng(seed)
    phi, sigma = 0.9, 0.3
    shocks = sigma * generator.normal(size=times)
    deviation = np.empty(times)
    deviation[0] = shocks[0] / np.sqrt(1 - phi**2)
    for t in range(1, times):
        deviation[t] = phi * deviation[t - 1] + shocks[t]
    return {"y": generator.poisson(np.exp(1.0 + deviation))}


def latent_gaussian_process(points: int, seed: int) -> Data:
    """A rate that goes up and down four times."""
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(0, 10, size=points))
    return {"x": x, "y": generator.poisson(np.exp(1.5 + 0.8 * np.sin(2.5 * x) + 0.3 * np.cos(0.7 * x)))}


def logistic_horseshoe(rows: int, seed: int) -> Data:
    """Forty predictors, of which six matter."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 40))
    slopes = np.concatenate([[1.5, -1.2, 0.9, -0.6, 0.4, 0.25], np.zeros(34)])
    return {"X": X, "y": (generator.random(rows) < _expit(-0.5 + X @ slopes)).astype(int)}


def _expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
