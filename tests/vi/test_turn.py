"""Hold fits of guides with correlations to posteriors that are far longer than wide."""

from typing import Any

import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.vi.turn import roots

X = 100 + np.random.default_rng(3).normal(size=50)
Y = 0.5 * X + np.random.default_rng(4).normal(size=50)


@ac.model
def uncentred(x: Any, y: Any) -> None:
    """Intercept and slope with a correlation of -0.99995."""
    a = ac.sample("a", dist.Normal(0.0, 100.0))
    b = ac.sample("b", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(a + b * x, 1.0), obs=y)


DESIGN = np.stack([np.ones_like(X), X], axis=1)
COVARIANCE = np.linalg.inv(DESIGN.T @ DESIGN + np.diag([1e-4, 1.0]))


@pytest.mark.parametrize(
    "guide",
    [
        infer.guides.FullRank(),
        pytest.param(infer.guides.LowRank(), marks=pytest.mark.slow),
        pytest.param(infer.guides.Flow(), marks=pytest.mark.slow),
    ],
)
def test_a_fit_has_the_length_and_the_width_of_the_posterior(guide: Any) -> None:
    fit = infer.fit(uncentred(X, Y), guide, quiet=True, progress=False)
    draws = fit.draw(20_000, seed=1)
    found = np.cov(draws["a"][0], draws["b"][0])
    root = np.linalg.cholesky(COVARIANCE)
    # In units of the posterior, along both of its axes.
    ratio = np.linalg.solve(root, np.linalg.solve(root, found).T)
    assert np.all(np.abs(np.linalg.eigvalsh(ratio) - 1) < 0.2)
    assert fit.pareto_k < 0.7 and not fit.notices


def test_gradients_of_a_normal_distribution_tell_its_covariance() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(5, 9))
    precision, centre, scale = half @ half.T, rng.normal(size=5), rng.uniform(0.1, 2.0, 5)
    _, daring = roots(lambda at: -(at - centre) @ precision, centre + 0.3, scale, seed=0, restart=0)
    np.testing.assert_allclose(np.tril(daring), daring)
    whole = scale[:, None] * daring
    np.testing.assert_allclose(whole @ whole.T, np.linalg.inv(precision), rtol=1e-8, atol=1e-12)


def test_gradients_that_are_no_numbers_tell_nothing() -> None:
    def scores(at: np.ndarray) -> np.ndarray:
        return np.full_like(at, np.nan)

    assert roots(scores, np.zeros(3), np.ones(3), seed=0, restart=0) == []


def test_directions_in_which_the_density_is_flat_have_a_width_all_the_same() -> None:
    careful, daring = roots(lambda at: at * [-1.0, 0.0], np.zeros(2), np.ones(2), seed=0, restart=0)
    assert np.allclose(np.linalg.svd(careful)[1], [10.0, 1.0])
    assert np.allclose(np.linalg.svd(daring)[1], [1e4, 1.0])
