"""Compare modes, and the information at them, with figures worked out by hand."""

import numpy as np
from test_exact_densities import X
from test_known_answers import normal_of_unknown_variance

import accord as ac
import accord.distributions as dist
from accord import infer

RNG = np.random.default_rng(14)
COVARIATES = RNG.normal(size=(40, 3))
Y = COVARIATES @ [1.0, 2.0, 3.0] + RNG.normal(size=40)


@ac.model
def regression(x, y):
    with ac.plate("column", x.shape[1]):
        b = ac.param("b", np.zeros(x.shape[1]))
    noise = ac.param("noise", 1.0, constraint=dist.constraints.positive)
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(x @ b, noise), obs=y)


def test_the_posterior_mode_of_k1_is_that_of_the_model_s_own_space():
    """K1a: without the Jacobian."""
    mode = infer.find_mode(normal_of_unknown_variance(X), "map", quiet=True)
    np.testing.assert_allclose([mode.values["s"], mode.values["m"]], [49 / 54, 7 / 6], rtol=1e-12)
    np.testing.assert_allclose(mode.log_density, -4.622354, atol=5e-7)
    assert mode.is_converged and mode.num_reached == 8 and not mode.notices


def test_the_maximum_of_the_likelihood_of_k1_has_the_exact_information():
    """K1a: information diag(256, 32)."""
    mode = infer.find_mode(normal_of_unknown_variance(X), "mle", quiet=True)
    np.testing.assert_allclose([mode.values["s"], mode.values["m"]], [1 / 16, 7 / 4], rtol=1e-12)
    np.testing.assert_allclose(mode.log_density, -0.065288, atol=5e-7)
    np.testing.assert_allclose(mode.covariance, np.diag([1 / 256, 1 / 32]), atol=1e-12)
    errors = mode.standard_errors
    np.testing.assert_allclose([errors["s"], errors["m"]], [0.0625, 0.176777], atol=5e-7)


def test_maximum_likelihood_of_a_linear_regression_has_the_covariance_of_the_formula():
    """K14: inv(X'X) sigma^2, with sigma^2 the mean squared residual."""
    mode = infer.find_mode(regression(COVARIATES, Y), "mle", quiet=True)
    least_squares, *_ = np.linalg.lstsq(COVARIATES, Y, rcond=None)
    variance = np.mean((Y - COVARIATES @ least_squares) ** 2)
    np.testing.assert_allclose(mode.values["b"], least_squares, rtol=1e-8)
    np.testing.assert_allclose(mode.values["noise"] ** 2, variance, rtol=1e-8)
    exact = np.linalg.inv(COVARIATES.T @ COVARIATES) * variance
    np.testing.assert_allclose(mode.covariance[:3, :3], exact, rtol=1e-6, atol=1e-12)


def test_collinear_columns_are_told_and_leave_the_other_errors():
    """K14: a note that the information matrix is singular, not a crash."""
    collinear = np.column_stack([COVARIATES, COVARIATES[:, 0] + COVARIATES[:, 1]])
    mode = infer.find_mode(regression(collinear, Y), "mle", quiet=True)
    (notice,) = mode.notices
    assert notice.code == "singular_information"
    assert notice.sites == ("b",)
    known = np.isfinite(mode.standard_errors["b"])
    np.testing.assert_array_equal(known, [False, False, True, False])
    fitted = collinear @ mode.values["b"]
    least_squares, *_ = np.linalg.lstsq(COVARIATES, Y, rcond=None)
    np.testing.assert_allclose(fitted, COVARIATES @ least_squares, rtol=1e-6, atol=1e-6)
