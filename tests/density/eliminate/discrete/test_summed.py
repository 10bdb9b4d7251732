"""Discrete unknowns are summed out exactly: against evaluating the model at each combination of values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brute_force import BruteForce
from discrete_models import CASES


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


IN_DEFAULT = ("values by entry, some observed", "a chain", "labels of groups")


@pytest.fixture(params=[c if c in IN_DEFAULT else pytest.param(c, marks=pytest.mark.slow) for c in CASES])
def case(request):
    model, supports = CASES[request.param]
    return model.log_density(), BruteForce(model, supports)


def test_value_and_gradient_are_those_of_all_combinations(case):
    density, brute = case
    position = jnp.linspace(-0.4, 0.7, density.dim)
    value, gradient = jax.jit(jax.value_and_grad(density))(position)
    expected, slope = brute.value_and_grad(position)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-12)


def test_the_parts_add_up_and_the_hessian_is_finite(case):
    density, _ = case
    position = jnp.linspace(-0.4, 0.7, density.dim)
    assert np.isfinite(jax.jit(jax.hessian(density))(position)).all()
    terms = jax.jit(density.site_terms)(position)
    np.testing.assert_allclose(sum(terms.values()), jax.jit(density)(position), rtol=1e-12)
