"""Test densities of PyMC's models, and runs of them."""

import os

import jax
import numpy as np
import pytest
from laws import each

from accord import infer
from accord.core.errors import ModelError, OptionError

pytestmark = [
    pytest.mark.pymc,
    *(
        pytest.mark.filterwarnings(f"ignore::{kind}")
        for kind in ("FutureWarning", "UserWarning", "DeprecationWarning")
    ),
]
pm = pytest.importorskip("pymc")
models = pytest.importorskip("pymc_models")

from accord.interop import pymc as door  # noqa: E402 - PyMC first, as its users do

RUN = dict(draws=50, warmup=100, chains=2, quiet=True)


@each(models.MODELS)
def test_the_log_density_and_its_gradient_are_pymcs(model):
    density = door.target(model)
    theirs, slopes = model.compile_logp(), model.compile_dlogp()
    for number in range(2):
        q = np.random.default_rng(number).normal(size=density.dim) * 0.5
        point = {
            model.rvs_to_values[each].name: q[entry.start : entry.stop].reshape(entry.unconstrained_shape)
            for each, entry in zip(model.free_RVs, density.layout.entries, strict=True)
        }
        value, slope = density.value_and_grad(q)
        np.testing.assert_allclose(value, theirs(point), rtol=1e-10)
        np.testing.assert_allclose(slope, slopes(point), rtol=1e-7, atol=1e-8)


@each(models.MODELS)
def test_values_and_positions_are_inverses(model):
    density = door.target(model)
    q = np.random.default_rng(3).normal(size=density.dim) * 0.5
    values = density.constrain(q)
    given = {entry.name: values[entry.name] for entry in density.layout.entries}
    np.testing.assert_allclose(density.unconstrain(given), q, atol=1e-10)


def test_draws_have_pymcs_names_dims_coords_and_groups():
    draws = door.sample(models.hierarchical(), **RUN)
    assert list(draws) == ["mu", "tau", "z", "theta"] and (draws["tau"] > 0).all()
    np.testing.assert_allclose(draws["theta"], draws["mu"][..., None] + draws["tau"][..., None] * draws["z"])
    tree = draws.to_arviz()
    assert tree["posterior"]["theta"].dims == ("chain", "draw", "school")
    assert list(tree["posterior"]["school"].values) == models.SCHOOLS
    np.testing.assert_array_equal(tree["observed_data"]["y"], models.Y)
    np.testing.assert_array_equal(tree["constant_data"]["sigma"], models.SIGMA)
    assert tree["constant_data"]["sigma"].dims == ("school",)


def test_predictions_of_pymc_take_these_draws():
    model = models.hierarchical()
    tree = door.sample(model, **RUN).to_arviz()
    with model:
        predicted = pm.sample_posterior_predictive(tree, progressbar=False, random_seed=1)
    assert predicted["posterior_predictive"]["y"].shape == (2, 50, 8)


def test_workers_draw_the_same():
    model = models.hierarchical()
    reference = door.sample(model, executor=infer.Serial(), **RUN)
    for executor in (infer.Threads(2), infer.Processes(2)):
        np.testing.assert_equal(dict(door.sample(model, executor=executor, **RUN)), dict(reference))


def test_data_are_those_of_the_time_of_target():
    model = models.with_data()
    density = door.target(model)
    before = density(np.zeros(2) + 0.1)
    with model:
        pm.set_data({"x": np.zeros(80)})
    assert density(np.zeros(2) + 0.1) == before
    assert door.target(model)(np.zeros(2) + 0.1) != before


def test_the_settings_of_the_process_stay_as_they_were():
    flags, is_wide = os.environ.get("XLA_FLAGS"), jax.config.jax_enable_x64
    door.target(models.censored())
    assert os.environ.get("XLA_FLAGS") == flags and jax.config.jax_enable_x64 == is_wide
    assert jax.device_count() == 1


def test_a_model_may_be_that_of_the_context():
    with models.censored():
        assert door.target().dim == 2


def discrete():
    with pm.Model() as model:
        k = pm.Poisson("k", 3)
        pm.Normal("y", k, 1, observed=2.0)
    return model


def nothing():
    with pm.Model() as model:
        pm.Normal("y", 0, 1, observed=2.0)
    return model


def simulated():
    with pm.Model() as model:
        a = pm.Normal("a")
        pm.Simulator("s", lambda rng, a, size: rng.normal(a, size=size), a, observed=np.zeros(3))
    return model


ERRORS = {
    "discrete": (discrete, ModelError, "the free variable 'k' is discrete"),
    "minibatch": (models.minibatch, ModelError, "pm.Minibatch.*all the data"),
    "nothing": (nothing, ModelError, "no free variable"),
    "simulator": (simulated, ModelError, "draws random numbers|cannot convert"),
    "no model": (lambda: 3, OptionError, "pymc.Model or a bambi.Model, got 3"),
}


@each(ERRORS)
def test_what_cannot_be_sampled_is_refused_by_name(error):
    model, kind, words = error
    with pytest.raises(kind, match=words):
        door.target(model())


def test_single_precision_and_pymcs_words_are_refused_with_ours():
    model = models.censored()
    with pytest.raises(OptionError, match="float64, and this is float32"):
        door.sample(model, precision="float32", **RUN)
    with pytest.raises(OptionError, match="`tune` is `warmup`"):
        door.sample(model, tune=100)
    with pytest.raises(OptionError, match="no_such_option"):
        door.sample(model, no_such_option=1)


def test_a_bambi_model_is_taken_as_it_is():
    bambi = pytest.importorskip("bambi")
    pandas = pytest.importorskip("pandas")
    x = np.linspace(-1, 1, 30)
    model = bambi.Model("y ~ x", pandas.DataFrame({"x": x, "y": 1 + 2 * x}))
    draws = door.sample(model, **RUN)
    assert {"Intercept", "x", "sigma"} <= {*draws}
    assert abs(draws["x"].mean() - 2) < 0.1  # without noise
