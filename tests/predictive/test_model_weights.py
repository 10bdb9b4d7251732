"""Weigh models by what they predict: against a grid, known answers, and a slow but sure algorithm."""

import numpy as np
import pytest
from scipy import optimize

from accord.predictive.weights import NUM_BOOTSTRAP, bootstrap_shares, pseudo_bma, stacking

# Families F45: rows are observations, columns models.
F45 = np.array([[-1.0, -2.0], [-2.0, -1.0], [-1.0, -3.0]])


def score(log_densities, weights):
    return np.log(np.exp(log_densities) @ weights).sum()


def test_stacking_and_pseudo_bma_give_the_weights_of_families_f45():
    weights = stacking(F45)
    np.testing.assert_allclose(weights, [0.943063, 0.056937], atol=1e-6)
    assert abs(score(F45, weights) + 3.993800306) < 1e-9
    plain = pseudo_bma(F45, np.full((1, 3), 1 / 3))
    np.testing.assert_allclose(plain, [0.880797078, 0.119202922], atol=1e-9)


def test_stacking_is_the_best_point_of_a_grid():
    rng = np.random.default_rng(0)
    for scale in (0.3, 2.0, 20.0):
        log_densities = rng.normal(-1, scale, size=(40, 3))
        weights = stacking(log_densities)
        assert np.all(weights >= 0) and abs(weights.sum() - 1) < 1e-12
        steps = np.linspace(0, 1, 41)
        grid = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1 + 1e-12]
        best = max(score(log_densities, np.clip(point, 0, 1)) for point in np.array(grid))
        assert score(log_densities, weights) >= best - 1e-12


def test_stacking_meets_the_conditions_of_an_optimum():
    """No model gains more than one on average, and those with weight gain one."""
    rng = np.random.default_rng(1)
    for size, num_models in ((5, 2), (30, 8), (200, 15)):
        log_densities = rng.normal(size=(size, num_models)) * 3
        weights = stacking(log_densities)
        densities = np.exp(log_densities)
        gains = np.mean(densities / (densities @ weights)[:, None], axis=0)
        assert gains.max() < 1 + 1e-9
        np.testing.assert_allclose(gains[weights > 1e-6], 1.0, atol=1e-8)


def test_stacking_agrees_with_a_general_optimiser():
    rng = np.random.default_rng(2)
    log_densities = rng.normal(-2, 1, size=(60, 4))
    found = optimize.minimize(
        lambda weights: -score(log_densities, weights),
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(stacking(log_densities), found.x, atol=1e-4)


def test_models_that_predict_alike_share_their_weight():
    rng = np.random.default_rng(3)
    one = rng.normal(size=(20, 1))
    np.testing.assert_allclose(stacking(np.repeat(one, 3, axis=1)), np.full(3, 1 / 3), atol=1e-6)
    weights = stacking(np.hstack([one, one, one - 5]))
    np.testing.assert_allclose(weights, [0.5, 0.5, 0], atol=1e-4)


def test_densities_far_apart_neither_overflow_nor_vanish():
    log_densities = np.array([[-1e4, -2e4], [-2e4, -1e4], [-5.0, -6.0]])
    np.testing.assert_allclose(stacking(log_densities), [0.5, 0.5], atol=0.2)
    assert np.isfinite(pseudo_bma(log_densities, bootstrap_shares(3, 0))).all()


@pytest.mark.parametrize("seed", [0, 7])
def test_the_bootstrap_is_a_function_of_the_seed(seed):
    shares = bootstrap_shares(5, seed)
    assert shares.shape == (NUM_BOOTSTRAP, 5)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares, bootstrap_shares(5, seed))
    assert not np.array_equal(shares, bootstrap_shares(5, seed + 1))


def test_pseudo_bma_averages_over_the_bootstrap():
    """Between two models that trade observations, weights are more even than plain ones."""
    rng = np.random.default_rng(4)
    log_densities = np.stack([rng.normal(0, 2, 30), rng.normal(-0.2, 2, 30)], axis=1)
    plain = pseudo_bma(log_densities, np.full((1, 30), 1 / 30))
    weights = pseudo_bma(log_densities, bootstrap_shares(30, 0))
    assert abs(weights.sum() - 1) < 1e-12
    assert weights.max() < plain.max()
