"""Hold that a model is simulated as it is written: every site from its distribution, whatever data it was given."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, SiteError
from accord.core.precision import scope
from accord.density import LogDensity
from accord.density.simulate import prior_position, simulate

X, Y, COUNTS = np.linspace(0, 1, 4), np.array([9.0, 8.0, 7.0, 6.0]), np.array([1, 0, 1])
KEY = 3


@ac.model
def everything(x, y=None, counts=None):
    scale = ac.sample("scale", dist.HalfNormal(2.0))
    weights = ac.sample("weights", dist.Uniform(jnp.zeros(3), 1.0))
    bound = ac.sample("bound", dist.Uniform(0, scale))
    with ac.plate("row", x.shape[0]):
        mean = ac.deterministic("mean", bound + x)
        with handlers.mask(mask=np.array([True, False, True, True])):
            ac.sample("y", dist.Normal(mean, scale), obs=y)
    ac.sample("counts", dist.Bernoulli(weights), obs=counts)


@ac.model
def flat(y):
    m = ac.sample("m", dist.Normal(0, 1))
    slope = ac.sample("slope", dist.ImproperUniform(dist.constraints.real, (), ()))
    ac.sample("y", dist.Normal(m + slope, 1.0), obs=y)


@ac.model
def weighed(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.factor("likelihood", -0.5 * (y - m) ** 2)


@ac.model
def chunked(x, y):
    m = ac.sample("m", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0], chunk=2):
        ac.sample("y", dist.Normal(m + x, 1.0), obs=y)


class Unsampled(dist.AbstractDistribution):
    """A distribution that only has a density."""

    @property
    def support(self):
        return dist.constraints.real

    def log_prob(self, value):
        return -0.5 * jnp.asarray(value) ** 2


@ac.model
def unsampled(y):
    m = ac.sample("m", Unsampled())
    ac.sample("y", dist.Normal(m, 1.0), obs=y)


def drawing(model, precision="float64", way=simulate):
    """A density, and a compiled program that draws from it for a key's number."""
    density = LogDensity.from_model(model, precision)
    draw = jax.jit(lambda key: way(density, key))

    def of_key(number):
        with scope(precision):
            return draw(jax.random.key(number))

    return density, of_key


@pytest.fixture(scope="module")
def whole():
    return drawing(everything(X, y=Y, counts=COUNTS))


def test_each_site_has_its_shape_and_dtype(whole):
    for density, draw in (whole, drawing(everything(X, y=Y, counts=COUNTS), "float32")):
        found = draw(KEY)
        assert {name: (value.shape, str(value.dtype)) for name, value in found.items()} == {
            entry.name: (entry.shape, entry.dtype) for entry in density.layout.sites
        }
        assert 0 <= found["bound"] <= found["scale"]


def test_a_draw_is_that_of_a_seed_whether_or_not_there_is_data(whole):
    """A site's draw depends on key and name alone, so a model without data draws the same."""

    @jax.jit
    def seeded(key):
        sites = handlers.trace(handlers.seed(everything(X), key)).get_trace()
        return {name: site.value for name, site in sites.items()}

    with scope("float64"):
        expected = seeded(jax.random.key(KEY))
    found = whole[1](KEY)
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)


def test_what_is_observed_follows_what_was_drawn_and_not_the_data(whole):
    many = [whole[1](number) for number in range(5)]
    for found in many:
        np.testing.assert_allclose(found["mean"], found["bound"] + X)
    every = np.array([found["y"] for found in many])
    assert len(np.unique(every)) == 20 and not np.any(np.isin(every, Y))  # a masked entry is drawn as well


def test_conditioned_sites_are_drawn_and_those_set_by_do_are_not():
    found = drawing(everything(X, counts=COUNTS).condition({"y": Y}).do({"scale": 0.25}))[1](KEY)
    assert not np.any(np.isin(found["y"], Y)) and found["bound"] <= 0.25 and "scale" not in found


def test_a_prior_position_is_that_of_the_draw(whole):
    density, found = whole[0], whole[1](KEY)
    position = drawing(everything(X, y=Y, counts=COUNTS), way=prior_position)[1](KEY)
    with scope("float64"):
        values = jax.jit(density.constrain)(position)
    for entry in density.layout.entries:
        np.testing.assert_allclose(values[entry.name], found[entry.name], rtol=1e-10, err_msg=entry.name)


@pytest.mark.parametrize("model", [chunked(X, Y), weighed(1.0)], ids=["a plate in chunks", "a factor"])
def test_a_prior_position_needs_no_more_than_the_priors(model):
    density = LogDensity.from_model(model)
    key = jax.random.key(KEY)
    with scope("float64"):
        position = jax.jit(jax.vmap(lambda key: prior_position(density, key)))(key[None])
    expected = dist.Normal(0, 1).sample(jax.random.fold_in(key, zlib.crc32(b"m")))
    np.testing.assert_allclose(position, [[expected]], rtol=1e-12)


REFUSED = {
    "an improper prior": (flat(1.0), SiteError, ["'slope'", "ImproperUniform", "from_values"]),
    "a distribution without draws": (unsampled(1.0), SiteError, ["'m'", "Unsampled", "`sample`"]),
}


@pytest.mark.parametrize("way", [simulate, prior_position])
@pytest.mark.parametrize(("model", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_draws_is_refused_by_the_name_of_the_site(model, error, words, way):
    with pytest.raises(error) as caught, scope("float64"):
        way(LogDensity.from_model(model), jax.random.key(0))
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_factor_cannot_be_simulated():
    with pytest.raises(SiteError, match=r"'likelihood' .*cannot be simulated.*ac\.sample"), scope("float64"):
        simulate(LogDensity.from_model(weighed(1.0)), jax.random.key(0))


def test_the_density_of_a_function_has_no_prior():
    density = LogDensity.from_function(lambda x: -(x**2), np.zeros(()))
    with pytest.raises(ModelError, match=r"no prior to draw from.*from_uniform"), scope("float64"):
        prior_position(density, jax.random.key(0))
