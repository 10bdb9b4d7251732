"""Test the robust adaptation of a random walk: its update by hand, and what it learns of a covariance."""

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
from accord import infer
from accord.adaptation.robust import Root, updated
from accord.core.errors import OptionError

# Vihola (2012), equation 1, at S = I, u = (1, 0), n = 1, with a target of 0.234.
BY_HAND = {"accepted at 0.9": (0.9, 1.290736224), "refused": (0.0, 0.875214259)}


@pytest.mark.parametrize("case", BY_HAND)
def test_an_update_is_that_by_hand(case: str) -> None:
    acceptance, expected = BY_HAND[case]
    new = updated(Root(jnp.eye(2)), jnp.array([1.0, 0.0]), jnp.asarray(acceptance - 0.234), jnp.asarray(1.0))
    np.testing.assert_allclose(new.root, [[expected, 0], [0, 1]], atol=1e-9)


def test_the_covariance_changes_as_the_cholesky_factor_of_the_source_says() -> None:
    generator = np.random.default_rng(0)
    root, step, excess, count = generator.standard_normal((5, 5)), generator.standard_normal(5), -0.2, 40.0
    found = np.asarray(
        updated(Root(jnp.asarray(root)), jnp.asarray(step), jnp.asarray(excess), jnp.asarray(count)).root
    )
    gain = min(1, 5 * count**-0.6) * excess
    expected = root @ (np.eye(5) + gain * np.outer(step, step) / (step @ step)) @ root.T
    np.testing.assert_allclose(found @ found.T, expected, rtol=1e-12)


def test_a_covariance_is_learnt_from_acceptances_and_stays_after_warm_up() -> None:
    covariance = np.array([[1.0, 0.95], [0.95, 1.0]]) * np.outer([1.0, 100.0], [1.0, 100.0])
    precision = np.linalg.inv(covariance)
    normal = ac.LogDensity.from_function(lambda x: -0.5 * x @ (jnp.asarray(precision) @ x), np.zeros(2))
    kernel = infer.RandomWalk(metric="robust")
    options = dict(warmup=5000, chains=4, seed=0, progress=False, quiet=True)
    draws, fewer = (infer.sample(normal, kernel, draws=count, **options) for count in (2000, 1))
    scales = draws.tuning["proposal_scale"]
    np.testing.assert_array_equal(scales, fewer.tuning["proposal_scale"])
    np.testing.assert_allclose(scales[:, 1] / scales[:, 0], 100, rtol=0.5)
    assert abs(draws.stats["acceptance_rate"].mean() - 0.234) < 0.06
    assert np.all(draws.tuning["target_accept"] == 0.234)


def test_too_many_dimensions_are_refused_before_anything_is_compiled() -> None:
    flat = ac.LogDensity.from_function(lambda x: -0.5 * (x * x).sum(), np.zeros(501))
    with pytest.raises(OptionError, match="up to 500 dimensions, and the posterior has 501"):
        infer.sample(flat, infer.RandomWalk(metric="robust"), draws=10, quiet=True)
