"""Check parameters without a prior, and how they get one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import AccordError, ModelError, OptionError, SiteError
from accord.distributions import constraints

Y = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@ac.model
def normal(y):
    """Location and scale without priors."""
    loc = ac.param("loc", 0.0)
    scale = ac.param("scale", 1.0, constraint=constraints.positive)
    with ac.plate("row", 3):
        return ac.sample("y", dist.Normal(loc, scale), obs=y)


@ac.model
def with_priors(y):
    loc = ac.sample("loc", dist.Normal(0.0, 5.0))
    scale = ac.sample("scale", dist.HalfNormal(1.0))
    with ac.plate("row", 3):
        ac.sample("y", dist.Normal(loc, scale), obs=y)


PRIORS = {"loc": dist.Normal(0.0, 5.0), "scale": dist.HalfNormal(1.0)}
VALUES = {"loc": 0.3, "scale": 0.7}


def value_of(model):
    density = model.log_density()
    return density.value_and_grad(density.unconstrain(VALUES))


def test_a_parameter_is_latent_with_a_flat_density():
    found, _ = value_of(normal(Y))
    np.testing.assert_allclose(found, dist.Normal(0.3, 0.7).log_prob(Y).sum() + np.log(0.7), rtol=1e-14)


def test_lifted_parameters_are_sample_sites():
    found, gradient = value_of(handlers.lift(normal(Y), PRIORS))
    wanted, other = value_of(with_priors(Y))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_allclose(gradient, other, rtol=1e-14)


def test_the_innermost_prior_counts_and_some_may_stay_without():
    twice = handlers.lift(handlers.lift(normal(Y), PRIORS), dist.HalfNormal(9.0))
    assert value_of(twice)[0] == value_of(handlers.lift(normal(Y), PRIORS))[0]
    some = handlers.lift(normal(Y), {"loc": PRIORS["loc"]}).log_density().layout
    assert [some[name].distribution for name in PRIORS] == ["Normal", "ImproperUniform"]


def test_drawing_takes_the_first_value_and_a_prior_where_there_is_one():
    sites = handlers.trace(handlers.seed(normal(Y), 0)).get_trace()
    assert (sites["loc"].value, sites["scale"].value) == (0.0, 1.0)
    sites = handlers.trace(handlers.seed(handlers.lift(normal(Y), PRIORS), 0)).get_trace()
    assert sites["loc"].value != 0.0
    sites = handlers.trace(handlers.lift(handlers.seed(normal(Y), 0), PRIORS)).get_trace()
    assert sites["loc"].value != 0.0


def test_a_parameter_is_repeated_over_plates_and_keeps_the_shape_of_its_constraint():
    def model():
        with ac.plate("group", 2):
            ac.param("weights", [0.2, 0.3, 0.5], constraint=constraints.simplex)
        ac.param("free", np.zeros((2, 3)))

    sites = handlers.trace(handlers.seed(model, 0)).get_trace()
    np.testing.assert_array_equal(sites["weights"].value, [[0.2, 0.3, 0.5]] * 2)
    lifted = handlers.trace(handlers.seed(handlers.lift(model, dist.Dirichlet(jnp.ones(3))), 0)).get_trace()
    np.testing.assert_allclose(lifted["free"].value.sum(-1), [1.0, 1.0])


MISTAKES = {
    "outside of the constraint": (
        lambda: ac.param("scale", -1.0, constraint=constraints.positive),
        SiteError,
        "param 'scale'.*-1.0.*must be above 0",
    ),
    "too few axes": (
        lambda: ac.param("p", 0.5, constraint=constraints.simplex),
        SiteError,
        r"1 axes, but init has shape \(\)",
    ),
    "no constraint": (lambda: ac.param("p", 0.5, constraint=1), SiteError, "constraint must be one of"),
    "no name": (lambda: ac.param(0.5, 1.0), SiteError, "a string that is not empty"),
    "words": (lambda: ac.param("p", "1"), AccordError, "'p'.*not numbers"),
    "no data": (lambda: ac.model(lambda: ac.param("p", 0.0))().log_density(), ModelError, "improper prior"),
    "an unknown name": (
        lambda: handlers.lift(normal(Y), {"lok": PRIORS["loc"]}).log_density(),
        SiteError,
        "no parameter 'lok'. Did you mean 'loc'.*'loc', 'scale'",
    ),
    "a number for a prior": (lambda: handlers.lift(normal(Y), 1.0), OptionError, "must be a distribution"),
    "a prior of another shape": (
        lambda: handlers.lift(normal(Y), dist.Normal(np.zeros(2), 1.0)).log_density(),
        SiteError,
        r"prior of 'loc'.*batch \(2,\).*shape \(\)",
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()
