"""Discrete sites are drawn from their distribution given all else, and their probabilities are exact.

Against the density at each combination of values. Draws are 4,000 of each model, at positions that differ in their
last digits: frequencies of single entries, some 30 for each of 7 models, are within 6 standard deviations (false alarm
4e-7).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brute_force import BruteForce
from discrete_models import CASES

from accord.density.eliminate.discrete.summed import SummedProgram

NUM_DRAWS = 4000


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(
    params=[
        "values by entry, some observed",
        pytest.param("a plate", marks=pytest.mark.slow),
        pytest.param("a chain of second order", marks=pytest.mark.slow),
        pytest.param("two chains in plates", marks=pytest.mark.slow),
        pytest.param("labels of groups", marks=pytest.mark.slow),
        pytest.param("another order", marks=pytest.mark.slow),
        pytest.param("states observed after their scan", marks=pytest.mark.slow),
    ]
)
def case(request):
    model, supports = CASES[request.param]
    density = model.log_density()
    return density, density.program.stage(SummedProgram), BruteForce(model, supports)


def test_draws_have_the_probabilities(case):
    density, program, brute = case
    position = jnp.linspace(-0.4, 0.7, density.dim)
    each = jax.jit(brute.log_densities)(position)
    positions = position + 1e-12 * jnp.arange(NUM_DRAWS)[:, None]

    def draw(at):
        values, (log_prior, log_jacobian), _ = program.recorded(at, density.data)
        return {name: values[name] for name in program.plan.names}, log_prior + log_jacobian

    drawn, _ = jax.jit(lambda positions: jax.lax.map(draw, positions))(positions)
    weights = np.exp(each - jax.scipy.special.logsumexp(each))
    for name, values in brute.values.items():
        for value in np.unique(values):
            expected = np.tensordot(weights, values == value, 1)
            found = (np.asarray(drawn[name]) == value).mean(0)
            error = np.sqrt(expected * (1 - expected) / NUM_DRAWS)
            assert (np.abs(found - expected) <= 6 * error + 1e-12).all(), (name, value)


def test_probabilities_and_the_most_probable_values_are_those_of_all_combinations(case):
    density, program, brute = case
    position = jnp.linspace(-0.4, 0.7, density.dim)
    values = jax.jit(density.constrain)(position)
    others = {name: each for name, each in values.items() if name not in program.plan.names}
    each = jax.jit(brute.log_densities)(position)
    weights = np.exp(each - jax.scipy.special.logsumexp(each))
    found = jax.jit(program.probabilities_at)(others, density.data)
    best = jax.jit(program.most_probable_at)(others, density.data)
    for name, every in brute.values.items():
        np.testing.assert_array_equal(best[name], every[int(np.argmax(each))])
        low = density.layout[name].low
        for place in range(found[name].shape[-1]):
            # With bounds by entry, places are counted from the bound of each entry.
            value = place + (low if low is not None else np.array([1, 3]))
            expected = np.tensordot(weights, every == value, 1)
            np.testing.assert_allclose(found[name][..., place], expected, rtol=1e-9, atol=1e-12)
