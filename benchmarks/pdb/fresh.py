"""Bind nine models that were written after accord was tuned, to see how its rules do on posteriors they do not know."""

import numpy as np

import fresh_models as models
from cold import Simulated
from cold_data import Data


def _expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _poststratification(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    sizes, scales = {"state": 50, "age": 6, "education": 5}, (0.4, 0.3, 0.3)
    data = {name: generator.integers(0, size, rows) for name, size in sizes.items()}
    effects = (
        generator.normal(0, scale, size)[data[name]]
        for (name, size), scale in zip(sizes.items(), scales, strict=True)
    )
    return {**data, "y": generator.binomial(1, _expit(-0.2 + sum(effects)))}


def _crossed_effects(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x, person, item = generator.normal(size=rows), *(generator.integers(0, n, rows) for n in (60, 40))
    of_person, of_item = generator.normal(0, 0.8, 60), generator.normal(0, 0.5, 40)
    slope = 0.4 + generator.normal(0, 0.3, 60)
    logits = -0.5 + of_person[person] + of_item[item] + slope[person] * x
    return {"x": x, "person": person, "item": item, "y": generator.binomial(1, _expit(logits))}


def _random_walk(times: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    trend = np.cumsum(generator.normal(0, 0.05, times))
    level = np.cumsum(generator.normal(0, 0.3, times) + trend)
    return {"y": level + 0.5 * generator.standard_t(4, times)}


def _stochastic_volatility(times: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    log_variance = np.zeros(times)
    for time in range(1, times):
        log_variance[time] = 0.97 * log_variance[time - 1] + 0.2 * generator.normal()
    return {"y": np.exp(log_variance / 2 - 0.5) * generator.normal(size=times)}


def _regularised_horseshoe(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    X, slopes = generator.normal(size=(rows, 60)), np.zeros(60)
    slopes[:4] = 2, -2, 1.5, 1
    return {"X": X, "y": X @ slopes + generator.normal(size=rows)}


def _multivariate_probit(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    factor = np.linalg.cholesky(0.5 * np.eye(4) + 0.5)
    return {"sign": np.where(generator.normal(size=(rows, 4)) @ factor.T + 0.3 > 0, 1.0, -1.0)}


def _spline_counts(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x, knots = generator.uniform(0, 1, rows), np.linspace(0, 1, 20)
    basis = np.exp(-0.5 * ((x[:, None] - knots) / 0.06) ** 2)
    return {"basis": basis, "y": generator.poisson(np.exp(1 + np.sin(6 * x)))}


def _spatial_counts(side: int, seed: int) -> Data:
    generator, cells = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    pairs = (cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])
    left, right = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    surface = np.add.outer(np.sin(np.arange(side) / 3), np.cos(np.arange(side) / 4)).ravel()
    log_rate = 1 + 0.5 * surface + generator.normal(0, 0.2, side * side)
    return {"left": left, "right": right, "y": generator.poisson(np.exp(log_rate))}


def _growth_curves(curves: int, seed: int) -> Data:
    generator, time = np.random.default_rng(seed), np.linspace(0, 10, 25)
    level, rate = (
        value * np.exp(generator.normal(0, s, (curves, 1))) for value, s in ((10, 0.2), (0.5, 0.3))
    )
    return {"time": time, "y": level * (1 - np.exp(-rate * time)) + generator.normal(0, 0.4, (curves, 25))}


ENTRIES: dict[str, Simulated] = {
    "poststratification": Simulated(models.poststratification, _poststratification, size=2000),
    "crossed_effects": Simulated(models.crossed_effects, _crossed_effects, size=1500),
    "random_walk": Simulated(models.random_walk, _random_walk, size=150),
    "stochastic_volatility": Simulated(models.stochastic_volatility, _stochastic_volatility, size=300),
    "regularised_horseshoe": Simulated(models.regularised_horseshoe, _regularised_horseshoe, size=100),
    "multivariate_probit": Simulated(models.multivariate_probit, _multivariate_probit, size=150),
    "spline_counts": Simulated(models.spline_counts, _spline_counts, size=500),
    "spatial_counts": Simulated(models.spatial_counts, _spatial_counts, size=15),
    "growth_curves": Simulated(models.growth_curves, _growth_curves, size=30),
}
