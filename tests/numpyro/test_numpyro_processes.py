"""Compare Gaussian processes by sines with NumPyro's, and draw the graph of a program."""

import importlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord.numpyro as door
import accord.numpyro.distributions as dist
from accord.core.errors import OptionError
from accord.numpyro import handlers

X = np.linspace(-1.0, 1.2, 7)
PLANE = np.stack([X, X[::-1] ** 2], axis=1)


@pytest.fixture(autouse=True)
def as_users_have_it():
    """64 bits, and JAX's own rules of promotion, which NumPyro needs."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


CASES: dict[str, Any] = {
    "squared exponential": lambda lib: lib.hsgp_squared_exponential(X, 1.3, 0.4, 2.0, 6),
    "centred": lambda lib: lib.hsgp_squared_exponential(X, 1.3, 0.4, 2.0, 6, non_centered=False),
    "a column": lambda lib: lib.hsgp_squared_exponential(X[:, None], 1.3, 0.4, 2.0, 6),
    "Matern": lambda lib: lib.hsgp_matern(X, 1.5, 1.3, 0.4, 2.0, 6),
    "plane": lambda lib: lib.hsgp_squared_exponential(PLANE, 1.3, jnp.array([0.4, 0.7]), [2.0, 2.5], [3, 4]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_process_is_that_of_numpyro(name: str) -> None:
    numpyro = pytest.importorskip("numpyro")
    theirs = importlib.import_module("numpyro.contrib.hsgp.approximation")
    own = importlib.import_module("accord.numpyro.contrib.hsgp.approximation")
    values = {"beta": np.random.default_rng(0).normal(size=12 if name == "plane" else 6)}
    with handlers.seed(rng_seed=0), handlers.substitute(data=values):
        found = CASES[name](own)
    with numpyro.handlers.seed(rng_seed=0), numpyro.handlers.substitute(data=values):
        expected = CASES[name](theirs)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_mixture_of_one_lengthscale_is_the_squared_exponential() -> None:
    own = importlib.import_module("accord.numpyro.contrib.hsgp.approximation")
    with handlers.seed(rng_seed=0):
        found = own.hsgp_rational_quadratic(X, 1.3, 0.4, 1e6, 2.0, 6)
    with handlers.seed(rng_seed=0):
        np.testing.assert_allclose(found, CASES["squared exponential"](own), rtol=1e-4)


def test_another_order_says_which_there_are() -> None:
    own = importlib.import_module("accord.numpyro.contrib.hsgp.approximation")
    with pytest.raises(OptionError, match=r"nu must be 0.5, 1.5 or 2.5, got 2.0"):
        own.hsgp_matern(X, 2.0, 1.0, 1.0, 2.0, 6)


def test_the_graph_of_a_program_is_saved(tmp_path: Path) -> None:
    def model(y: Any) -> None:
        mu = door.sample("mu", dist.Normal(0.0, 1.0))
        with door.plate("row", len(y)):
            door.sample("y", dist.Normal(mu, 1.0), obs=y)

    graph = door.render_model(model, (X,), filename=tmp_path / "model.svg")
    assert (tmp_path / "model.svg").read_text().startswith("<svg")
    assert ("mu", "y") in graph.edges
