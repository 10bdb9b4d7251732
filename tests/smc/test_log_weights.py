"""Do arithmetic with log weights at its edges."""

import numpy as np
import pytest

from accord.report.weights import effective_size
from accord.smc.tuning import metric_of, next_step_size
from accord.smc.weights import log_mean, next_power, relative_variance


def test_means_of_weights_survive_any_scale_and_zeros():
    assert log_mean(np.array([-1e4, -1e4])) == -1e4
    assert log_mean(np.array([800.0, -np.inf])) == pytest.approx(800 - np.log(2))
    assert log_mean(np.full(3, -np.inf)) == -np.inf


def test_the_next_power_has_the_effective_size_that_is_wanted():
    heights = np.random.default_rng(0).normal(size=500) * 40
    power = next_power(heights, 0.0, 0.5)
    assert 0 < power < 1
    assert effective_size(power * heights) == pytest.approx(250, abs=1e-6)
    assert next_power(heights, power, 0.5) > power


def test_the_last_power_is_one():
    assert next_power(np.zeros(10), 0.3, 0.9) == 1.0
    assert next_power(np.array([-1.0, -1.1]), 0.0, 0.5) == 1.0


def test_particles_that_are_impossible_at_every_power_do_not_hold_it_back():
    heights = np.where(np.arange(100) < 10, -0.1 * np.arange(100), -np.inf)
    assert next_power(heights, 0.0, 0.5) == 1.0
    steep = np.where(np.arange(100) < 10, -100.0 * np.arange(100), -np.inf)
    power = next_power(steep, 0.0, 0.5)
    assert effective_size(power * steep) == pytest.approx(5, abs=1e-6)


def test_a_power_rises_whatever_the_rounding():
    heights = np.array([0.0, -1e300])
    power = next_power(heights, 0.5, 0.9)
    assert 0.5 < power < 0.5 + 1e-12


def test_the_variance_of_a_mean_weight_is_that_of_families():
    log_weights = np.random.default_rng(3).normal(size=1000)
    weights = np.exp(log_weights)
    alone = relative_variance(log_weights, np.arange(1000))
    assert alone == pytest.approx(weights.var() / weights.mean() ** 2 / 1000)
    twice = relative_variance(np.repeat(log_weights, 2), np.repeat(np.arange(1000), 2))
    assert twice == pytest.approx(alone)
    # Each family once more, all by one ancestor.
    assert relative_variance(log_weights, np.zeros(1000, int)) == pytest.approx(0, abs=1e-20)


def test_the_metric_whitens_weighted_particles():
    generator = np.random.default_rng(5)
    covariance = np.array([[4.0, 1.9], [1.9, 1.0]])
    x = generator.multivariate_normal([3, -1], covariance, 4000)
    weights = np.concatenate([np.ones(2000), np.zeros(2000)])
    x[2000:] = np.inf
    for form, dense in (("auto", True), ("dense", True), ("diagonal", False), ("marginal", False)):
        metric = metric_of(x, weights, form, None, np.dtype(float))
        found = np.cov(x[:2000].T, bias=True)
        np.testing.assert_allclose(metric.inverse_mass(), np.diag(found), rtol=1e-9)
        assert bool(metric.is_diagonal) != dense
        if dense:
            whole = np.diag(metric.scale) @ (
                np.eye(2) + metric.factor @ np.diag(metric.stretch) @ metric.factor.T
            )
            np.testing.assert_allclose(whole @ whole.T, found, rtol=1e-9)


def test_particles_that_are_all_alike_keep_the_scales_there_were():
    x = np.random.default_rng(0).normal(size=(50, 2)) * [2.0, 5.0]
    before = metric_of(x, np.ones(50), "auto", None, np.dtype(float))
    one = metric_of(x, np.eye(50)[0], "auto", before, np.dtype(float))
    np.testing.assert_array_equal(one.scale, before.scale)


def test_step_sizes_follow_acceptance_within_limits():
    assert next_step_size(0.5, 0.8, 0.8) == 0.5
    assert next_step_size(0.5, 0.9, 0.8) > 0.5 > next_step_size(0.5, 0.7, 0.8)
    assert next_step_size(1.0, 0.0, 0.99) == pytest.approx(np.exp(-1))
