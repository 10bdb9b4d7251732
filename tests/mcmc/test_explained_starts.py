"""Check what is said of a chain that found no starting point."""

import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import InitializationError, SiteError
from accord.density import Blame, LogDensity
from accord.mcmc.start.explained import explain_start
from accord.mcmc.start.search import StartFailedError


@ac.model
def roots(y):
    for number in range(10):
        ac.sample(f"other{number}", dist.Normal(0.0, 1.0))
    with ac.plate("n", 4):
        x = ac.sample("x", dist.Normal(0.0, 1.0))
    root = jnp.where(x > 5.0, jnp.sqrt(x - 5.0), 0.0)
    ac.sample("y", dist.Normal(jnp.sum(root), 1.0), obs=y)


@ac.model
def missing(y):
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    with ac.plate("n", y.shape[0]), handlers.mask(mask=y < 2.0):
        ac.sample("y", dist.Normal(x, 1.0), obs=y * jnp.where(y > 1.0, 1.0, jnp.nan))


def explained(model, position):
    failure = StartFailedError(2, np.asarray(position, float), 100, "uniform within 2 of zero")
    return explain_start(LogDensity.from_model(model), failure)


def test_the_error_lists_values_derivative_operation_and_remedy():
    error = explained(roots(1.0), np.linspace(-1, 1, 14))
    assert isinstance(error, InitializationError) and isinstance(error.blame, Blame)
    text = str(error)
    assert text.startswith("chain 2: no starting point with a finite log density and gradient in 100 tries")
    lines = text.splitlines()
    assert "'x' = " in lines[1] and "log density" in lines[1]  # the one to blame first
    for words in (
        "the derivative by site 'x' at index 0, 1, 2 and 1 more is not finite, through the term of 'y'",
        "jnp.sqrt(x - 5.0)",
        f"{__file__}:",
        "What to do: ",
        "and 3 more latent sites",
    ):
        assert words in text
    assert len(lines) <= 25 and max(map(len, lines)) < 400


def test_the_error_keeps_its_fields_when_it_travels():
    error = explained(roots(1.0), np.zeros(14))
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, InitializationError)
    assert (str(copy), copy.sites, str(copy.blame)) == (str(error), error.sites, str(error.blame))
    assert copy.sites["x"] == pytest.approx(-2 * np.log(2 * np.pi))


def test_computed_observations_that_are_not_finite_are_an_error_of_their_site():
    with pytest.raises(SiteError, match="site 'y': 1 of 3 observed values"):
        explained(missing(np.array([0.5, 1.5, 3.0])), [0.0])
