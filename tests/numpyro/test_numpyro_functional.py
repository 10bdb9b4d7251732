"""Run Hamiltonian Monte Carlo as functions of a state, in loops of JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError
from accord.numpyro.infer.hmc import hmc
from accord.numpyro.infer.util import initialize_model
from accord.numpyro.util import fori_collect


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, as in scripts."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _scale(y: Any) -> None:
    with door.plate("row", len(y)):
        door.sample("y", dist.Normal(door.sample("mu", dist.Normal(0.0, 3.0)), 1.0), obs=y)


def _potential(z: Any) -> Any:
    return 0.5 * jnp.sum((z["a"] / jnp.array([1.0, 10.0])) ** 2)


START = {"a": jnp.array([0.5, 3.0])}


@pytest.mark.slow
@pytest.mark.parametrize("algo", ["NUTS", "HMC"])
def test_draws_in_a_loop_of_jax_have_the_posterior(algo: str) -> None:
    """Each of two checks is off by more than 6 errors in 2 of 1e9 runs; draws are worth at least 300."""
    y = np.array([1.2, 0.4, 2.2, 1.6])

    def model() -> None:
        mu = door.sample("mu", dist.Normal(0.0, 3.0))
        with door.plate("row", len(y)):
            door.sample("y", dist.Normal(mu, 1.0), obs=y)

    info = initialize_model(jax.random.key(1), model)
    init_kernel, sample_kernel = hmc(info.potential_fn, algo=algo)
    state = init_kernel(info.param_info, 200, rng_key=jax.random.key(2))
    found = fori_collect(
        200,
        2200,
        sample_kernel,
        state,
        transform=lambda s: (info.postprocess_fn(s.z)["mu"], s.i),
        progbar=False,
    )
    mu, counts = map(np.asarray, found)
    precision = 1 / 9 + len(y)
    assert abs(mu.mean() - y.sum() / precision) < 6 * precision**-0.5 / 300**0.5
    assert abs(mu.var() * precision - 1) < 6 * (2 / 300) ** 0.5
    np.testing.assert_array_equal(counts, np.arange(201, 2201))


@pytest.mark.slow
def test_a_kernel_that_is_fixed_moves_as_it_is_told() -> None:
    init_kernel, sample_kernel = hmc(_potential)
    fixed = {"adapt_step_size": False, "adapt_mass_matrix": False, "step_size": 0.3}
    state = init_kernel(START, 5, inverse_mass_matrix=jnp.array([1.0, 100.0]), **fixed)
    assert float(state.adapt_state.step_size) == 0.3
    step = jax.jit(sample_kernel)
    for _ in range(5):  # of warm-up, in which it stays
        state = step(state)
    np.testing.assert_array_equal(state.z["a"], START["a"])
    after = step(state)
    assert int(after.i) == 6 and int(after.num_steps) >= 1 and not bool(after.diverging)
    assert not np.array_equal(after.z["a"], START["a"])
    np.testing.assert_allclose(after.potential_energy, _potential(after.z), rtol=1e-12)
    np.testing.assert_array_equal(step(state).z["a"], after.z["a"])


ERRORS = {
    "neither": (lambda: hmc(), OptionError, "one of `potential_fn`"),
    "kinetic": (lambda: hmc(_potential, kinetic_fn=abs), OptionError, "kinetic_fn is not offered"),
    "algo": (lambda: hmc(_potential, algo="nuts"), OptionError, 'algo must be "NUTS" or "HMC"'),
    "traced": (
        lambda: jax.jit(lambda z: hmc(_potential)[0](z, 10))(START),
        ModelError,
        "cannot be called within jit",
    ),
    "dense": (lambda: hmc(_potential)[0](START, 10, dense_mass=True), OptionError, "keeps a diagonal metric"),
    "half": (lambda: hmc(_potential)[0](START, 10, adapt_step_size=False), OptionError, "or fix both"),
    "shape": (
        lambda: hmc(_potential)[0](
            START, 0, adapt_step_size=False, adapt_mass_matrix=False, inverse_mass_matrix=jnp.ones(3)
        ),
        OptionError,
        r"must have shape \(2,\)",
    ),
    "no state": (lambda: hmc(_potential)[1](None), ModelError, "call `init_kernel` first"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_says_why(case: str) -> None:
    call, error, words = ERRORS[case]
    with pytest.raises(error, match=words):
        call()
