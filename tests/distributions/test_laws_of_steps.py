"""Test the distributions that scans and branches make: one for each step, and the one of the chosen branch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord.distributions as dist
from accord.core.by_step import made_at_each_step
from accord.core.errors import DistributionError
from accord.distributions import biject_to
from accord.distributions.wrappers.each_step import EachStep
from accord.distributions.wrappers.either import Either

T = 3
A = np.array([0.5, 1.0, 2.0])

BASES = {
    "a vector and a series": lambda a: dist.Normal(jnp.zeros(2), a),
    "coins": lambda a: dist.Bernoulli(a / 4.0),
    "bounds that move": lambda a: dist.Uniform(-a, 2.0 * a),
    "vectors": lambda a: dist.MultivariateNormal(jnp.zeros(2), a * jnp.eye(2)),
}


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def series_of(base):
    one = base(1.0)
    law, flags = made_at_each_step(base, jnp.asarray(A), (True,))
    shape = tuple(np.broadcast_shapes(one.batch_shape, (2,)))
    return EachStep(law, flags, T, shape, tuple(one.event_shape), np.dtype(one.dtype))


@each({name: [base] for name, base in BASES.items()})
def test_each_step_has_the_distribution_with_its_own_parameters(bases):
    (base,) = bases
    law = series_of(base)
    draws = law.sample(jax.random.key(0), (4,))
    assert draws.shape == (4, T, 2, *law.event_shape) == (4, *law.batch_shape, *law.event_shape)
    found = law.log_prob(draws)
    assert np.all(law.support(draws[0])) and np.all(np.isfinite(found))
    for t, a in enumerate(A):
        np.testing.assert_allclose(found[:, t], base(a).log_prob(draws[:, t]), rtol=1e-13)
        np.testing.assert_allclose(law.mean[t], np.broadcast_to(base(a).mean, law.mean[t].shape), rtol=1e-13)
    np.testing.assert_array_equal(law.support(law.support.feasible_like(draws[0])), True)
    if law.is_discrete:
        return
    bijector = biject_to(law.support)
    x, back = bijector.inverse_and_log_det(draws[0])
    y, forth = bijector.forward_and_log_det(x)
    assert x.shape == bijector.inverse_shape(draws[0].shape)
    np.testing.assert_allclose(y, draws[0], rtol=1e-9)
    np.testing.assert_allclose(forth, -back, rtol=1e-9, atol=1e-9)


PAIRS = {
    "one family": (dist.Normal(0.0, 1.0), dist.Normal(2.0, 3.0)),
    "two families": (dist.Normal(0.0, 1.0), dist.StudentT(3.0, 1.0, 2.0)),
    "bounds that differ": (dist.Uniform(0.0, 1.0), dist.Uniform(-1.0, 3.0)),
    "edges in and out": (dist.HalfNormal(1.0), dist.LogNormal(0.0, 1.0)),
    "two kinds of sets": (dist.Normal(0.0, 1.0), dist.Gamma(2.0, 1.0)),
}


@each({name: list(pair) for name, pair in PAIRS.items()})
def test_either_distribution_equals_the_chosen_one(pair):
    for condition, taken in ((True, pair[0]), (False, pair[1])):
        law = Either(jnp.asarray(condition), *pair, (), (), np.dtype(float))
        draws = law.sample(jax.random.key(0), (5,))
        np.testing.assert_array_equal(draws, taken.sample(jax.random.key(0), (5,)))
        np.testing.assert_allclose(law.log_prob(draws), taken.log_prob(draws), rtol=1e-14)
        np.testing.assert_allclose((law.mean, law.variance), (taken.mean, taken.variance), rtol=1e-14)
        value = jnp.asarray([-0.5, 0.5, 2.0])
        np.testing.assert_array_equal(law.support(value), taken.support(value))
        assert np.all(law.support(law.support.feasible_like(value)))
        if isinstance(pair[1], dist.Gamma):
            continue
        found, wanted = biject_to(law.support), biject_to(taken.support)
        np.testing.assert_allclose(found.forward(value), wanted.forward(value), rtol=1e-14)


def test_sets_of_two_kinds_have_no_map_from_one_space():
    law = Either(jnp.asarray(True), *PAIRS["two kinds of sets"], (), (), np.dtype(float))
    with pytest.raises(DistributionError, match="has no map from one unconstrained space"):
        biject_to(law.support)


def test_the_unused_distribution_has_no_part_in_the_gradient():
    def total(scale, value):
        bad = dist.Normal(jnp.log(scale - 5.0), jnp.sqrt(scale - 5.0))
        return Either(jnp.asarray(True), dist.Normal(0.0, scale), bad, (), (), np.dtype(float)).log_prob(
            value
        )

    found = jax.jit(jax.grad(total, argnums=1))(2.0, 1.0)
    np.testing.assert_allclose(found, -0.25, rtol=1e-14)
