"""Discrete models taken at random have the sums, gradients and probabilities of all combinations of values.

200 models, two of them in the default tests. Exact: no test here is statistical.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_discrete import Random

from accord.density.eliminate.discrete.summed import SummedProgram


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def check(seed):
    taken, a = Random.of(seed), 0.7
    density = taken.model().log_density()
    program = density.program.stage(SummedProgram)

    @jax.jit
    def both(position):
        probabilities = program.probabilities_at({"a": position[0]}, density.data)
        return jax.value_and_grad(density)(position), probabilities

    (value, gradient), probabilities = both(jnp.array([a]))
    expected = taken.log_density(a + 1e-30j)
    np.testing.assert_allclose(value, expected.real, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient[0], expected.imag / 1e-30, rtol=1e-10, atol=1e-10)
    each = taken.log_densities(a).real
    weights = np.exp(each - each.max())
    weights /= weights.sum()
    for name, places in taken.combinations().items():
        for place in range(probabilities[name].shape[-1]):
            share = np.tensordot(weights, places == place, 1)
            np.testing.assert_allclose(probabilities[name][..., place], share, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_sums_and_probabilities_are_those_of_all_combinations(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(18))
def test_those_of_many_models_are_too(part):
    for seed in range(2 + 11 * part, 13 + 11 * part):
        check(seed)
