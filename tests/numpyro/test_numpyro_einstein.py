"""Compare kernels of Stein's method with NumPyro's, and fits with exact posteriors."""

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import ModelError, OptionError
from accord.numpyro.contrib import einstein
from accord.numpyro.infer.autoguide import AutoNormal
from accord.numpyro.optim import Adagrad, Adam

DATA = np.array([1.0, 1, 1, 0, 1, 0, 1, 1, 0, 0])
PARTICLES = jax.random.normal(jax.random.key(0), (5, 4))
INFO = {"a_auto_loc": (0, 2), "a_auto_scale": (2, 4)}


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _coin(data: Any) -> None:
    f = door.sample("f", dist.Beta(10.0, 10.0))
    with door.plate("row", 10):
        door.sample("y", dist.Bernoulli(f), obs=data)


KERNELS: dict[str, Any] = {
    "rbf": lambda lib: lib.RBFKernel(),
    "rbf by coordinate": lambda lib: lib.RBFKernel("vector"),
    "rbf matrix": lambda lib: lib.RBFKernel("matrix", "vector_diag"),
    "imq": lambda lib: lib.IMQKernel(const=0.7, expon=-0.3),
    "imq by coordinate": lambda lib: lib.IMQKernel("vector"),
    "linear": lambda lib: lib.LinearKernel(),
    "mixture": lambda lib: lib.MixtureKernel([0.3, 0.7], [lib.RBFKernel(), lib.LinearKernel()]),
    "graphical": lambda lib: lib.GraphicalKernel(local_kernel_fns={"a_auto_loc": lib.IMQKernel()}),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_that_of_numpyro(name: str) -> None:
    pytest.importorskip("numpyro")
    theirs = importlib.import_module("numpyro.contrib.einstein")
    own, other = KERNELS[name](einstein), KERNELS[name](theirs)
    assert own.mode == other.mode
    key, (x, y) = jax.random.key(1), PARTICLES[:2]
    found = own.compute(key, PARTICLES, INFO, None)(x, y)
    np.testing.assert_allclose(found, other.compute(key, PARTICLES, INFO, None)(x, y), rtol=1e-6)


def test_the_slope_of_a_matrix_is_its_divergence() -> None:
    by_number, by_matrix = einstein.RBFKernel(), einstein.RBFKernel("matrix")
    x, y = PARTICLES[:2]
    slopes = [each.slope(each.compute(None, PARTICLES, INFO, None), x, y) for each in (by_number, by_matrix)]
    np.testing.assert_allclose(*slopes, rtol=1e-6)


@pytest.mark.slow
def test_points_have_the_posterior_with_its_jacobian() -> None:
    """The posterior is Beta(16, 14). Nothing is drawn but where points begin."""
    svgd = einstein.SVGD(_coin, Adagrad(0.3), einstein.IMQKernel(), num_stein_particles=20)
    points = svgd.run(jax.random.key(0), 400, DATA, progress_bar=False).params["f_auto_loc"]
    assert points.shape == (20,)
    assert abs(float(points.mean()) - 16 / 30) < 0.01
    assert abs(float(points.std()) / (16 * 14 / 900 / 31) ** 0.5 - 1) < 0.15


@pytest.mark.slow
def test_a_mixture_of_guides_predicts() -> None:
    """Of 4000 draws, a mean is off by more than 0.02, 13 errors, by a false alarm in 1e-30 of runs."""
    guide = AutoNormal(_coin)
    stein = einstein.SteinVI(_coin, guide, Adam(0.05), einstein.RBFKernel(), num_stein_particles=3)
    result = stein.run(jax.random.key(0), 400, DATA)
    assert result.params["f_auto_loc"].shape == (3,) and result.losses.shape == (400,)
    ahead = einstein.MixtureGuidePredictive(
        _coin, guide, result.params, stein.guide_sites or (), num_samples=4000, return_sites=["f", "y"]
    )(jax.random.key(2), None)
    assert ahead["y"].shape == (4000, 10) and set(np.unique(ahead["mixture_assignments"])) == {0, 1, 2}
    assert abs(float(ahead["f"].mean()) - 16 / 30) < 0.02
    annealed = einstein.ASVGD(_coin, Adagrad(0.3), einstein.RBFKernel(), num_stein_particles=5)
    assert np.isfinite(annealed.run(jax.random.key(0), 50, DATA, progress_bar=False).losses).all()


def _labels() -> None:
    door.sample("z", dist.Bernoulli(0.3))


ERRORS = {
    "kernel": (lambda: einstein.SVGD(_coin, Adam(0.1), None), OptionError, "kernel_fn must be a kernel"),
    "mode": (lambda: einstein.IMQKernel("matrix"), OptionError, "mode must be 'norm' or 'vector'"),
    "weights": (lambda: einstein.MixtureKernel([1.0], [einstein.RBFKernel()]), OptionError, "two at least"),
    "cycles": (
        lambda: einstein.ASVGD(_coin, Adam(0.1), einstein.RBFKernel(), num_cycles=0),
        OptionError,
        "num_cycles must be at least 1",
    ),
    "sites": (
        lambda: einstein.MixtureGuidePredictive(_coin, _coin, {"a": jnp.ones(2)}, ["b"], num_samples=2),
        OptionError,
        "is in guide_sites",
    ),
    "features": (
        lambda: einstein.RandomFeatureKernel().compute(None, PARTICLES, INFO, None),
        ModelError,
        "no features were drawn",
    ),
    "discrete": (
        lambda: einstein.SteinVI(
            _labels, lambda: door.sample("z", dist.Bernoulli(0.5)), Adam(0.1), einstein.RBFKernel()
        ).init(jax.random.key(0)),
        ModelError,
        "site 'z' is discrete",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_fitted_says_why(case: str) -> None:
    call, error, words = ERRORS[case]
    with pytest.raises(error, match=words):
        call()
