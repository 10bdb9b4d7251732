"""Declare networks in programs, fitted and with priors; compare densities with NumPyro's where weights are unknowns."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.numpyro import as_model, handlers, optim
from accord.numpyro.contrib import module as modules
from accord.numpyro.infer import SVI, Trace_ELBO

X = np.random.default_rng(0).normal(size=(20, 2))
Y = X[:, 0] - 0.5 * X[:, 1]


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, as in scripts."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def _linen() -> Any:
    linen = pytest.importorskip("flax.linen")
    return linen.Dense(1)


def _nnx() -> Any:
    nnx = pytest.importorskip("flax.nnx")
    return nnx.Linear(2, 1, rngs=nnx.Rngs(0))


def _equinox() -> Any:
    return eqx.nn.Linear(2, 1, key=jax.random.key(0))


def _network(kind: str) -> Any:
    if kind == "flax":
        return modules.flax_module("net", _linen(), input_shape=(2,))
    if kind == "nnx":
        return modules.nnx_module("net", _nnx())
    return jax.vmap(modules.eqx_module("net", _equinox()))


@pytest.mark.parametrize("kind", ["flax", "nnx", "eqx"])
def test_networks_are_fitted(kind: str) -> None:
    def model(x: Any, y: Any) -> None:
        door.sample("y", dist.Normal(_network(kind)(x)[:, 0], 0.1), obs=y)

    fit = SVI(model, lambda x, y: None, optim.Adam(0.05), Trace_ELBO())
    found = fit.run(jax.random.key(0), 150, jnp.asarray(X), jnp.asarray(Y), progress_bar=False)
    assert float(found.losses[-1]) < 0.1 * float(found.losses[0])
    assert "net$params" in found.params


@pytest.mark.parametrize("kind", ["flax", "nnx", "eqx"])
def test_weights_may_be_unknowns(kind: str) -> None:
    normal = dist.Normal(0.0, 1.0)

    def model(x: Any, y: Any) -> None:
        if kind == "flax":
            net = modules.random_flax_module("net", _linen(), normal, input_shape=(2,))
        elif kind == "nnx":
            net = modules.random_nnx_module("net", _nnx(), normal)
        else:
            net = jax.vmap(modules.random_eqx_module("net", _equinox(), lambda name, shape: normal))
        door.sample("y", dist.Normal(net(x)[:, 0], 0.1), obs=y)

    density = ac.LogDensity.from_model(as_model(model, X, Y))
    assert density.dim == 3
    kernel = next(e for e in density.layout.unknowns if e.stop - e.start == 2)
    weights = np.zeros(3)
    weights[kernel.start : kernel.stop] = [1.0, -0.5]
    expected = -0.5 * 1.25 - 1.5 * np.log(2 * np.pi) - 20 * (np.log(0.1) + 0.5 * np.log(2 * np.pi))
    assert float(density(jnp.asarray(weights))) == pytest.approx(expected, rel=1e-6)


def test_what_a_module_keeps_goes_from_step_to_step() -> None:
    linen = pytest.importorskip("flax.linen")

    def model(x: Any, y: Any) -> None:
        norm = modules.flax_module(
            "norm", linen.BatchNorm(use_running_average=False), x, mutable=["batch_stats"]
        )
        door.sample("y", dist.Normal(norm(x)[:, 0], 1.0), obs=y)

    fit = SVI(model, lambda x, y: None, optim.Adam(0.05), Trace_ELBO())
    found = fit.run(jax.random.key(0), 30, jnp.asarray(X) + 3.0, jnp.asarray(Y), progress_bar=False)
    mean = found.state.mutable_state["norm$state"]["batch_stats"]["mean"]
    assert (np.asarray(mean) > 0.5).all()


def test_a_prior_by_path_leaves_the_others_to_be_fitted() -> None:
    def model(x: Any) -> None:
        net = modules.random_flax_module("net", _linen(), {"bias": dist.Normal(0.0, 1.0)}, input_shape=(2,))
        door.deterministic("out", net(x))

    sites = handlers.trace(handlers.seed(model, 0)).get_trace(jnp.asarray(X))
    assert [name for name, site in sites.items() if site["type"] == "sample"] == ["net/bias"]
