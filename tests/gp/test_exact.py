"""Test exact Gaussian processes against the multivariate normal of all points."""

import jax
import numpy as np
import pytest
from laws import assert_close, compiled
from scipy import stats

from accord import gp

X, NEW = np.array([-1.0, -0.2, 0.5, 1.4]), np.array([0.0, 0.8, 3.0])
Y = np.array([0.3, -0.5, 1.1, 0.2])
COVARIANCE = gp.Matern52(1.3, 0.7)
NOISE = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def log_prob(distribution, y) -> np.ndarray:
    return compiled(lambda d, y: d.log_prob(y))(distribution, y)


def test_the_marginal_is_the_normal_with_noise_on_the_diagonal() -> None:
    matrix = np.asarray(COVARIANCE(X)) + np.diag(NOISE**2)
    found = log_prob(gp.marginal(COVARIANCE, X, noise=NOISE, mean=0.5), Y)
    assert_close(found, np.asarray(stats.multivariate_normal(np.full(4, 0.5), matrix).logpdf(Y)))


def test_what_is_known_first_and_what_follows_are_the_whole() -> None:
    new = np.array([0.4, -0.3, 2.0])

    def parts():
        first = gp.marginal(COVARIANCE, X, noise=0.2, mean=0.5).log_prob(Y)
        then = gp.conditional(COVARIANCE, X, Y, NEW, noise=0.2, mean=0.5, mean_new=0.5).log_prob(new)
        return first + then, gp.marginal(COVARIANCE, np.r_[X, NEW], noise=0.2, mean=0.5).log_prob(
            np.r_[Y, new]
        )

    assert_close(*compiled(parts)())


def conditional(x_new, **noise) -> tuple[np.ndarray, np.ndarray]:
    def moments():
        found = gp.conditional(COVARIANCE, X, Y, x_new, **noise)
        return found.mean, found.variance

    return compiled(moments)()


def test_without_noise_a_process_goes_through_its_points_and_far_away_it_is_the_prior() -> None:
    mean, variance = conditional(np.r_[X, 1e3], noise=1e-6)
    assert_close(mean[:4], Y, rtol=1e-9)
    assert_close(variance[4], np.asarray(1.69), rtol=1e-9)
    assert (np.asarray(variance)[:4] < 1e-11).all()


def test_new_points_may_have_a_noise_of_their_own() -> None:
    (mean, one), (other_mean, other) = (conditional(NEW, noise=NOISE, noise_new=n) for n in (0.1, 0.3))
    assert_close(np.asarray(other) - np.asarray(one), np.full(3, 0.08))
    assert_close(mean, other_mean)
