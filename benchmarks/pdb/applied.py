"""Bind ten models of applied work, written after the last change of a rule, so that nothing was tuned on them."""

import numpy as np

import applied_models as models
from cold import Simulated
from cold_data import Data


def _network_of_trials(trials: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    arms = generator.integers(2, 4, trials)
    trial = np.repeat(np.arange(trials), arms)
    treatment = np.concatenate([np.sort(generator.choice(6, count, replace=False)) for count in arms])
    effect = np.array([0, -0.3, -0.5, 0.2, -0.8, 0.1])
    size = generator.integers(30, 200, len(trial))
    logits = (
        generator.normal(-1, 0.8, trials)[trial] + effect[treatment] + generator.normal(0, 0.2, len(trial))
    )
    return {
        "trial": trial,
        "treatment": treatment,
        "size": size,
        "deaths": generator.binomial(size, 1 / (1 + np.exp(-logits))),
    }


def _panel_of_visits(persons: int, seed: int) -> Data:
    generator, time = np.random.default_rng(seed), np.linspace(-1, 1, 8)
    treated = (np.arange(persons) % 2).astype(float)
    intercept, slope = generator.normal((1.0, 0.2), (0.6, 0.3), (persons, 2)).T
    rate = np.exp(intercept[:, None] + (slope - 0.3 * treated)[:, None] * time)
    return {"time": time, "treated": treated, "y": generator.negative_binomial(4, 4 / (4 + rate))}


def _gaussian_process_classes(points: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x = generator.uniform(-1, 1, (points, 2))
    logits = 3 * np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1])
    return {"x": x, "y": (generator.random(points) < 1 / (1 + np.exp(-logits))).astype(int)}


def _vector_autoregression(times: int, seed: int) -> Data:
    generator, y = np.random.default_rng(seed), np.zeros((times, 3))
    first, second = np.diag([0.5, 0.4, 0.3]) + 0.1, np.diag([0.2, -0.1, 0.1])
    root = np.linalg.cholesky(np.array([[1, 0.4, 0.1], [0.4, 0.5, 0.2], [0.1, 0.2, 0.8]]))
    for t in range(2, times):
        y[t] = first @ y[t - 1] + second @ y[t - 2] + root @ generator.normal(size=3)
    return {"y": y}


def _volatility_with_far_tails(times: int, seed: int) -> Data:
    generator, level, levels = np.random.default_rng(seed), 0.0, []
    for _ in range(times):
        level = 0.96 * level + 0.2 * generator.normal()
        levels.append(level)
    return {"returns": np.exp((-0.5 + np.array(levels)) / 2) * generator.standard_t(8, times)}


def _shares_of_variance(rows: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    X, slope = generator.normal(size=(rows, 40)), np.zeros(40)
    slope[:6] = [1.0, -0.8, 0.6, 0.4, -0.3, 0.2]
    return {"X": X, "y": 2 + X @ slope + 1.5 * generator.normal(size=rows)}


def _grades_by_rater(ratings: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    film, rater = generator.integers(0, 60, ratings), generator.integers(0, 40, ratings)
    liking = (
        generator.normal(0, 1, 60)[film]
        - generator.normal(0, 0.6, 40)[rater]
        + generator.logistic(size=ratings)
    )
    return {"film": film, "rater": rater, "grade": np.digitize(liking, [-2, -0.7, 0.7, 2])}


def _oral_dose(persons: int, seed: int) -> Data:
    generator, time = np.random.default_rng(seed), np.array([0.25, 0.5, 1, 2, 4, 6, 8, 12, 24])
    weight, dose = generator.normal(70, 12, persons), generator.choice([200.0, 400.0], persons)
    own = np.array([0.4, 1.1, 3.4]) + generator.normal(size=(persons, 3)) * [0.4, 0.25, 0.2]
    absorption, volume = np.exp(own[:, [0]]), np.exp(own[:, [2]])
    elimination = np.exp(own[:, [1]] + 0.75 * np.log(weight / 70)[:, None]) / volume
    level = np.exp(-elimination * time) - np.exp(-absorption * time)
    level *= dose[:, None] / volume * absorption / (absorption - elimination)
    seen = level * np.exp(0.15 * generator.normal(size=level.shape))
    return {"time": time, "dose": dose, "weight": weight, "concentration": seen}


def _hazard_by_month(persons: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(persons, 2))
    walk = -3 + np.cumsum(generator.normal(0, 0.2, 24))
    rows = []
    for person in range(persons):
        end = generator.uniform(6, 24)
        for month in range(24):
            exposure = min(1.0, end - month)
            if exposure <= 0:
                break
            wait = generator.exponential() / np.exp(walk[month] + x[person] @ [0.5, -0.3])
            rows.append((person, month, min(exposure, wait), wait < exposure))
            if wait < exposure:
                break
    person, month, exposure, is_event = (np.array(column) for column in zip(*rows, strict=True))
    return {"x": x[person], "month": month, "exposure": exposure, "is_event": is_event.astype(int)}


def _paths_among_factors(persons: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    cause = generator.normal(0, 1, persons)
    effect = 0.6 * cause + generator.normal(0, 0.7, persons)
    scores = np.stack([cause, cause, cause, effect, effect, effect], axis=1) * [1, 0.8, 1.2, 1, 0.9, 0.7]
    return {"y": generator.normal(size=6) + scores + generator.normal(0, 0.5, (persons, 6))}


ENTRIES: dict[str, Simulated] = {
    "network_of_trials": Simulated(models.network_of_trials, _network_of_trials, size=30),
    "panel_of_visits": Simulated(models.panel_of_visits, _panel_of_visits, size=80),
    "gaussian_process_classes": Simulated(
        models.gaussian_process_classes, _gaussian_process_classes, size=100
    ),
    "vector_autoregression": Simulated(models.vector_autoregression, _vector_autoregression, size=200),
    "volatility_with_far_tails": Simulated(
        models.volatility_with_far_tails, _volatility_with_far_tails, size=400
    ),
    "shares_of_variance": Simulated(models.shares_of_variance, _shares_of_variance, size=150),
    "grades_by_rater": Simulated(models.grades_by_rater, _grades_by_rater, size=800),
    "oral_dose": Simulated(models.oral_dose, _oral_dose, size=30),
    "hazard_by_month": Simulated(models.hazard_by_month, _hazard_by_month, size=200),
    "paths_among_factors": Simulated(models.paths_among_factors, _paths_among_factors, size=200),
}
