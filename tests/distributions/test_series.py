"""Test what tables cannot say of the distributions of time series."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases_series import COVARIANCE, FACTOR, TRANSITION
from laws import assert_close, assert_finite
from scipy import stats

import accord.distributions as dist
from accord.core.errors import DistributionError


def dense_state_space(num_steps: int, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the whole covariance of a path, from the map of all innovations to all states."""
    powers = [np.linalg.matrix_power(TRANSITION, k) for k in range(num_steps + 1)]
    zero = np.zeros((2, 2))
    rows = [[powers[t - k] @ FACTOR if k <= t else zero for k in range(num_steps)] for t in range(num_steps)]
    whole = np.block(rows)
    return np.concatenate([powers[t + 1] @ start for t in range(num_steps)]), whole @ whole.T


MATRICES = {
    "factor": {"scale_tril": FACTOR},
    "covariance": {"covariance_matrix": COVARIANCE},
    "precision": {"precision_matrix": np.linalg.inv(COVARIANCE)},
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=list(MATRICES))
def test_a_state_space_is_the_normal_of_its_whole_path(matrix: dict) -> None:
    start = np.array([1.0, -2.0])
    mean, covariance = dense_state_space(4, start)
    reference = stats.multivariate_normal(mean, covariance)
    d = dist.GaussianStateSpace(4, TRANSITION, **matrix, initial_value=start)
    x = reference.rvs(5, random_state=np.random.default_rng(3))
    assert_close(d.log_prob(x.reshape(5, 4, 2)), reference.logpdf(x), rtol=1e-11)
    assert_close(d.mean.ravel(), mean)
    assert_close(d.mode.ravel(), mean)
    assert_close(d.variance.ravel(), np.diag(covariance))
    assert_close(d.entropy(), np.asarray(reference.entropy()))


def test_draws_of_a_state_space_have_the_covariance_of_its_whole_path() -> None:
    # Each of 21 whitened second moments within 5 standard errors; the key is fixed.
    mean, covariance = dense_state_space(3, np.zeros(2))
    d = dist.GaussianStateSpace(3, TRANSITION, scale_tril=FACTOR)
    draws = np.asarray(jax.jit(lambda key: d.sample(key, (20000,)))(jax.random.key(1))).reshape(-1, 6)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    assert np.abs(white @ white.T / 20000 - np.eye(6)).max() < 5 * np.sqrt(2 / 20000)


def test_a_random_walk_is_the_state_space_that_does_not_change_its_state() -> None:
    walk = dist.GaussianRandomWalk(0.7, 6)
    space = dist.GaussianStateSpace(6, np.eye(1), scale_tril=np.full((1, 1), 0.7))
    x = walk.sample(jax.random.key(0), (3,))
    assert_close(walk.log_prob(x), space.log_prob(x[..., None]))
    assert_close(walk.variance, space.variance[:, 0])


def test_a_long_walk_costs_no_square_matrix() -> None:
    for d, length in (
        (dist.GaussianRandomWalk(0.1, 1000), 1000),
        (dist.GaussianStateSpace(1000, TRANSITION, scale_tril=FACTOR), 1000),
    ):
        jaxpr = jax.make_jaxpr(d.log_prob)(jnp.zeros(d.event_shape))
        sizes = [np.prod(out.aval.shape, dtype=int) for eqn in jaxpr.eqns for out in eqn.outvars]
        assert max(sizes) <= 3 * length


def test_gradients_of_the_whole_path_are_finite_and_right() -> None:
    x = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])

    def log_prob(transition: jax.Array, factor: jax.Array, start: jax.Array) -> jax.Array:
        return dist.GaussianStateSpace(3, transition, scale_tril=factor, initial_value=start).log_prob(x)

    def directly(transition: jax.Array, factor: jax.Array, start: jax.Array) -> jax.Array:
        before = jnp.concatenate([start[None], x[:-1]])
        z = jnp.linalg.solve(factor, (x - before @ transition.T).T)
        return -0.5 * (z * z).sum() - 3 * (jnp.log(factor[0, 0] * factor[1, 1]) + np.log(2 * np.pi))

    arguments = (jnp.asarray(TRANSITION), jnp.asarray(FACTOR), jnp.ones(2))
    slopes = jax.jit(jax.grad(log_prob, (0, 1, 2)))(*arguments)
    expected = jax.jit(jax.grad(directly, (0, 1, 2)))(*arguments)
    assert_finite(slopes)
    # Above the diagonal of the factor there is no parameter: a solver may or may not look there.
    assert_close(slopes[0::2], expected[0::2], rtol=1e-10)
    assert_close(jnp.tril(slopes[1]), jnp.tril(expected[1]), rtol=1e-10)


REFUSED = {
    "no steps": (lambda: dist.GaussianRandomWalk(1.0, 0), ["GaussianRandomWalk", "num_steps is 0"]),
    "half a step": (lambda: dist.GaussianRandomWalk(1.0, 2.5), ["num_steps is 2.5", "whole number"]),
    "no noise": (lambda: dist.GaussianStateSpace(3, TRANSITION), ["GaussianStateSpace", "exactly one"]),
    "oblong": (lambda: dist.GaussianStateSpace(3, TRANSITION[:1], scale_tril=FACTOR), ["(1, 2)", "n, n"]),
    "a start of another length": (
        lambda: dist.GaussianStateSpace(3, TRANSITION, scale_tril=FACTOR, initial_value=np.ones(3)),
        ["(3,)", "initial value"],
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=list(REFUSED))
def test_mistakes_are_refused_in_words_that_name_them(call: object, words: list[str]) -> None:
    with pytest.raises(DistributionError) as caught:
        call()  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value), str(caught.value)
