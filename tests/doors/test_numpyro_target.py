"""Test densities of models that stay in NumPyro, by NumPyro's own potential."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

from accord import infer
from accord.core.errors import ModelError
from accord.interop import numpyro as door

numpyro = pytest.importorskip("numpyro")
dist = pytest.importorskip("numpyro.distributions")
util = pytest.importorskip("numpyro.infer.util")

RUN = dict(draws=20, warmup=20, chains=2, quiet=True)
Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools(sigma, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
    upper = numpyro.sample("upper", dist.Uniform(0.0, 1.0 + tau))  # a support that depends on another site
    with numpyro.plate("school", len(sigma)):
        z = numpyro.sample("z", dist.Normal(0.0, 1.0))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)
    numpyro.sample("share", dist.Dirichlet(jnp.ones(3) + upper * 0))
    numpyro.factor("more", -upper)


def target(**kwargs):
    return door.target(schools, SIGMA, y=Y, **kwargs)


def test_the_log_density_and_its_gradient_are_numpyros():
    density = target()
    for number in range(3):
        q = np.random.default_rng(number).normal(size=density.dim)
        pieces = {
            entry.name: jnp.asarray(q[entry.start : entry.stop]).reshape(entry.unconstrained_shape)
            for entry in density.layout.entries
        }
        potential, slopes = jax.value_and_grad(
            lambda z: util.potential_energy(schools, (SIGMA,), {"y": Y}, z)
        )(pieces)
        value, slope = density.value_and_grad(q)
        np.testing.assert_allclose(value, -potential, rtol=1e-14)
        own = np.concatenate([np.ravel(slopes[entry.name]) for entry in density.layout.entries])
        np.testing.assert_allclose(slope, -own, rtol=1e-12)


def test_draws_have_its_sites_deterministics_plates_and_data():
    draws = infer.sample(target(), **RUN)
    assert list(draws) == ["mu", "tau", "upper", "z", "share", "theta"]
    assert (draws["upper"] < 1 + draws["tau"]).all() and np.allclose(draws["share"].sum(-1), 1)
    np.testing.assert_allclose(draws["theta"], draws["mu"][..., None] + draws["tau"][..., None] * draws["z"])
    tree = draws.to_arviz()
    assert tree["posterior"]["z"].dims == ("chain", "draw", "school")
    np.testing.assert_array_equal(tree["observed_data"]["y"], Y)
    assert tree["observed_data"]["y"].dims == ("school",)


def test_values_and_positions_are_inverses():
    density = target()
    q = np.linspace(-1, 1, density.dim)
    values = density.constrain(q)
    given = {entry.name: values[entry.name] for entry in density.layout.entries}
    np.testing.assert_allclose(density.unconstrain(given), q, atol=1e-14)
    infer.sample(density, init=infer.from_values({"tau": 2.0}), **RUN)


def test_a_process_of_single_precision_samples_in_double():
    """Its arrays are float32 there, and its potential must not be traced so."""
    reference = infer.sample(target(), **RUN)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    try:
        found = infer.sample(door.target(schools, jnp.asarray(SIGMA), y=jnp.asarray(Y)), **RUN)
        assert not jax.config.jax_enable_x64
    finally:
        jax.config.update("jax_enable_x64", before)
    np.testing.assert_equal(dict(found), dict(reference))  # these data are the same in both
    assert infer.sample(target(), precision="float32", **RUN)["mu"].dtype == np.float32


@pytest.mark.slow
def test_workers_draw_the_same():
    found = infer.sample(target(), executor=infer.Processes(2), **RUN)
    np.testing.assert_equal(dict(found), dict(infer.sample(target(), **RUN)))


def discrete():
    numpyro.sample("k", dist.Bernoulli(0.5))
    numpyro.sample("x", dist.Normal())


def cut():
    with numpyro.plate("row", 10, subsample_size=5):
        numpyro.sample("x", dist.Normal())


def parametric():
    numpyro.sample("x", dist.Normal(numpyro.param("loc", 0.0), 1.0))


def known():
    numpyro.sample("x", dist.Normal(), obs=0.0)


ERRORS = {
    "a discrete site": (discrete, "'k' of the model 'discrete' is discrete"),
    "a part of a plate": (cut, "'row'.*subsample_size"),
    "a parameter": (parametric, "'loc' of the model 'parametric' is a param site.*numpyro.sample"),
    "nothing unknown": (known, "'known' has no latent site"),
}


@each(ERRORS)
def test_what_numpyros_potential_cannot_do_is_refused_by_name(error):
    model, words = error
    with pytest.raises(ModelError, match=words):
        door.target(model)


def test_handlers_around_a_model_are_kept():
    within = numpyro.handlers.condition(schools, {"mu": 1.0})
    density = door.target(within, SIGMA, y=Y)
    assert "mu" not in {entry.name for entry in density.layout.entries}
    assert density.program.name == "schools"
