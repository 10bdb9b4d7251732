"""Hold the smoothing of importance weights to that of `arviz-stats`."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from accord.report.pareto import smoothed_tail
from accord.report.weights import smoothed


@pytest.mark.parametrize("count", [25, 100, 226, 1000, 8001])
@pytest.mark.parametrize("spread", [1e-3, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("relative_ess", [0.3, 1.0])
def test_weights_and_their_shape_are_those_of_arviz_stats(count, spread, relative_ess):
    log_weights = spread * np.random.default_rng(count).standard_t(4, count)
    found, k = smoothed(log_weights, relative_ess)
    theirs, their_k = array_stats.psislw(-np.maximum(log_weights - log_weights.max(), -700), relative_ess)
    assert abs(k - their_k) < 1e-10
    np.testing.assert_allclose(found, theirs, atol=1e-10)
    assert (
        np.abs(np.sort(found - found.max()) - np.sort(log_weights - log_weights.max())).max() / spread > 1e-3
    )


def test_a_flat_tail_is_left_as_it_is():
    log_weights = np.concatenate([np.linspace(-3, -1, 60), np.zeros(40)])
    found, k = smoothed_tail(log_weights, 1.0)
    assert k == 0 and found is log_weights


def test_a_tail_of_which_most_is_at_the_cutoff_has_no_fit():
    found, k = smoothed_tail(np.concatenate([np.zeros(99), [1.0]]), 1.0)
    assert k == np.inf and found[-1] == 1.0


@pytest.mark.parametrize("k", [0.2, 0.5, 0.9])
def test_a_tail_of_a_pareto_distribution_has_its_shape(k):
    quantiles = (np.arange(40_000) + 0.5) / 40_000
    found = smoothed(-k * np.log1p(-quantiles))[1]
    assert abs(found - k) < 0.03
