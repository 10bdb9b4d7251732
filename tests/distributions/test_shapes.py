"""Test changes of shape, improper priors and supports that depend on other values."""

import jax
import numpy as np
import pytest
from laws import assert_close, assert_finite
from scipy import stats

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions import constraints


def test_to_event_sums_log_densities_and_moves_axes() -> None:
    d = dist.Normal(np.zeros((2, 3)), 1.0)
    x = d.sample(jax.random.key(0), (4,))
    assert (d.to_event(1).batch_shape, d.to_event(1).event_shape) == ((2,), (3,))
    assert (d.to_event().batch_shape, d.to_event().event_shape) == ((), (2, 3))
    assert_close(d.to_event(1).log_prob(x), d.log_prob(x).sum(-1))
    assert_close(d.to_event().log_prob(x), d.log_prob(x).sum((-1, -2)))
    assert d.to_event(1).support == constraints.independent(constraints.real, 1)
    assert_close(d.to_event(0).log_prob(x), d.log_prob(x))


def test_an_improper_uniform_weighs_its_support_evenly_and_has_no_draws() -> None:
    d = dist.ImproperUniform(constraints.simplex, (2,), (3,))
    inside, outside = np.full((2, 3), 1 / 3), np.ones((2, 3))
    assert_close(d.log_prob(inside), np.zeros(2))
    assert (d.log_prob(outside) == -np.inf).all()
    assert (d.batch_shape, d.event_shape, d.support) == ((2,), (3,), constraints.simplex)
    whole = dist.ImproperUniform(constraints.real, (), (4,))
    assert whole.support == constraints.independent(constraints.real, 1)
    assert_close(whole.log_prob(np.ones((5, 4))), np.zeros(5))
    with pytest.raises(DistributionError, match="no draws"):
        d.sample(jax.random.key(0))


def test_a_support_may_depend_on_a_traced_value() -> None:
    @jax.jit
    def log_joint(x: jax.Array, free: jax.Array) -> jax.Array:
        d = dist.TruncatedNormal(0, 1, low=x)
        y, log_det = dist.biject_to(d.support).forward_and_log_det(free)
        return d.log_prob(y) + log_det

    x, free = 0.5, -0.3
    expected = stats.truncnorm(0.5, np.inf).logpdf(0.5 + np.exp(-0.3)) - 0.3
    assert_close(log_joint(x, free), np.asarray(expected), rtol=1e-10)
    assert_finite(jax.hessian(log_joint, (0, 1))(x, free))
