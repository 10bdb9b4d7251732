"""Check sites of which some entries are observed and the others are inferred."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.distributions.wrappers.entries import Entries

Y = np.array([0.5, np.nan, 2.0, np.nan])
SEEN = ~np.isnan(Y)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@ac.model
def partly(y, mask, scale=1.0):
    """Observations of a mean, some of them missing, that are used further on."""
    mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(y)):
        value = ac.sample("y", dist.Normal(mean, scale), obs=y, obs_mask=mask)
        ac.sample("z", dist.Normal(value, 1.0), obs=jnp.arange(4.0))
    return value


@ac.model
def by_hand(y, scale):
    """The same, with the missing entries as a latent vector."""
    mean = ac.sample("mean", dist.Normal(0.0, 1.0))
    missing = ac.sample("missing", dist.Normal(mean, scale).expand((2,)))
    value = jnp.array([y[0], missing[0], y[2], missing[1]])
    ac.factor("seen", dist.Normal(mean, scale).log_prob(y[SEEN]))
    ac.factor("z", dist.Normal(value, 1.0).log_prob(jnp.arange(4.0)))


def at(density, **values):
    return density.value_and_grad(density.unconstrain(values))


def test_missing_entries_are_latent_and_have_no_other_place():
    density = partly(Y, SEEN).log_density()
    rows = {row.name: (row.kind, row.shape, row.dims) for row in density.layout.sites}
    assert rows["y_unobserved"] == ("latent", (2,), ("y_missing",))
    assert rows["y"][0] == "observed"
    assert density.layout.coords["y_missing"].tolist() == [1, 3]
    missing = np.array([0.3, -2.0])
    found, gradient = at(density, mean=0.7, y_unobserved=missing)
    wanted, other = at(by_hand(Y, 1.0).log_density(), mean=0.7, missing=missing)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_allclose(gradient, other, rtol=1e-14)


def test_what_stands_at_missing_entries_has_no_influence():
    values = {"mean": 0.7, "y_unobserved": np.array([0.3, -2.0])}
    filled = np.where(SEEN, Y, 1e300)
    for y in (filled, np.where(SEEN, Y, np.inf)):
        np.testing.assert_array_equal(
            at(partly(y, SEEN).log_density(), **values)[1], at(partly(Y, SEEN).log_density(), **values)[1]
        )


def test_with_nothing_missing_the_site_is_as_any_other():
    y, everything = np.arange(4.0), np.ones(4, bool)
    density, plain = partly(y, everything).log_density(), partly(y, None).log_density()
    assert density.layout == plain.layout
    assert at(density, mean=0.2)[0] == at(plain, mean=0.2)[0]


def test_a_mask_alone_is_a_constant_and_new_data_keep_the_program():
    density = partly(Y, SEEN).log_density()
    assert list(density.constants) == ["mask"]
    assert [notice.code for notice in density.notices] == ["constant_argument"]
    assert density.with_data({"y": Y + 1.0}).program is density.program


def test_a_mask_computed_from_data_makes_the_data_a_constant():
    @ac.model
    def model(y):
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(mean, 1.0), obs=y, obs_mask=~jnp.isnan(y))

    assert model(Y).log_density().layout["y_unobserved"].shape == (2,)
    assert list(model(Y).log_density().constants) == ["y"]


def test_the_draws_are_those_of_the_posterior_predictive_law():
    @ac.model
    def model(y):
        mean = ac.sample("mean", dist.Normal(0.0, 1.0))
        with ac.plate("row", 3):
            ac.sample("y", dist.Normal(mean, 0.5), obs=y, obs_mask=np.array([True, False, False]))

    draws = infer.sample(
        model(np.array([1.0, np.nan, np.nan])), draws=2000, warmup=300, chains=2, progress=False, quiet=True
    )
    # The mean is Normal(0.8, sqrt(0.2)), so a new value is Normal(0.8, sqrt(0.45)). The tolerance is 5.3 standard
    # errors at 2000 effective draws: the false-alarm rate of the four comparisons is 1e-6.
    assert draws["y_unobserved"].shape == (2, 2000, 2)
    np.testing.assert_allclose(draws["y_unobserved"].mean((0, 1)), 0.8, atol=0.08)
    np.testing.assert_allclose(draws["y_unobserved"].var((0, 1)), 0.45, atol=0.08)


def test_bounds_of_missing_entries_are_their_own():
    high = np.array([1.0, 2.0, 3.0, 4.0])

    @ac.model
    def model(y):
        high_of = ac.deterministic("high", jnp.asarray(high))
        with ac.plate("row", 4):
            ac.sample("y", dist.Uniform(0.0, high_of), obs=y, obs_mask=SEEN)

    density = model(Y).log_density()
    value = density.constrain(jnp.full(2, 50.0))["y_unobserved"]
    np.testing.assert_allclose(value, [2.0, 4.0])
    pairs = dist.Uniform(np.zeros((4, 2)), np.ones((4, 2)) * high[:, None]).to_event(1)

    @ac.model
    def vectors(y):
        with ac.plate("row", 4):
            ac.sample("y", pairs, obs=y, obs_mask=SEEN)

    density = vectors(np.where(SEEN[:, None], 0.5, np.full((4, 2), np.nan))).log_density()
    np.testing.assert_allclose(density.constrain(jnp.full(4, 50.0))["y_unobserved"], [[2, 2], [4, 4]])


def test_plates_masks_and_scales_reach_missing_entries_in_their_places():
    mask = np.array([[True, False, True], [False, True, False]])
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def model():
        with (
            ac.plate("row", 2, dim=-2),
            ac.plate("column", 3),
            handlers.scale(scale=weights),
            handlers.mask(mask=weights < 6.0),
        ):
            ac.sample("y", dist.Normal(0.0, 1.0), obs=np.zeros((2, 3)), obs_mask=mask)

    sites = handlers.trace(handlers.seed(handlers.scope(model, prefix="a"), 0)).get_trace()
    site = sites["a/y_unobserved"]
    assert site.plates[0].coords == ("0,1", "1,0", "1,2") and site.plates[0].name == "a/y_missing"
    assert site.scale.tolist() == [2.0, 4.0, 6.0] and site.mask.tolist() == [True, True, False]
    value = sites["a/y"].value
    np.testing.assert_array_equal(np.asarray(value)[~mask], site.value)
    np.testing.assert_array_equal(sites["a/y"].mask, mask & (weights < 6.0))


def test_a_condition_observes_the_whole_site():
    sites = handlers.trace(handlers.seed(partly(Y, SEEN) | {"y": np.arange(4.0)}, 0)).get_trace()
    assert sites["y"].mask is None
    sites = handlers.trace(partly(Y, SEEN) | {"y_unobserved": np.ones(2), "mean": 0.0}).get_trace()
    np.testing.assert_array_equal(sites["y"].value, [0.5, 1.0, 2.0, 1.0])


def test_discrete_missing_values_can_be_drawn_and_not_inferred():
    def model(y):
        rate = ac.sample("rate", dist.Gamma(2.0, 1.0))
        with ac.plate("row", 4):
            return ac.sample("y", dist.Poisson(rate), obs=y, obs_mask=SEEN)

    counts = np.array([1, 0, 3, 0])
    value = handlers.seed(model, 0)(counts)
    assert value.shape == (4,) and value[2] == 3
    with pytest.raises(
        SiteError, match=r"site 'y_unobserved'.*Poisson has infinitely many values.*handlers.mask"
    ):
        ac.model(model)(counts).log_density()


BASES = {
    "one for each": lambda a: dist.Beta(a * np.array([1.0, 2.0, 3.0, 4.0]), 2.0),
    "vectors": lambda a: dist.MultivariateNormal(a * np.ones((4, 2)), np.eye(2)),
    "a mixture": lambda a: dist.Mixture(
        dist.Categorical(np.ones(2) / 2), [dist.Normal(a, 1.0), dist.Normal(3.0, a)]
    ),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())
def test_the_law_of_some_entries_is_that_of_the_batch(base):
    index = np.array([1, 3])
    whole = base(1.5).expand((4,)).sample(jax.random.key(0), (5,))

    def some(a):
        return Entries(base(a), (4,), index).log_prob(whole[:, index])

    def every(a):
        return base(a).log_prob(whole)[:, index]

    def with_derivative(function):
        return jax.jit(lambda a: (function(a), jax.jacfwd(function)(a)))(1.5)

    for found, wanted in zip(with_derivative(some), with_derivative(every), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    part = Entries(base(1.5), (4,), index)
    assert part.sample(jax.random.key(0), (5,)).shape == whole[:, index].shape
    assert np.all(part.support(part.sample(jax.random.key(0))))


MISTAKES = {
    "numbers": (Y, SEEN.astype(float), "obs_mask must be an array of True and False, got dtype float64"),
    "another shape": (Y, SEEN[:, None], r"obs_mask has shape \(4, 1\), but the batch shape is \(4,\)"),
    "data of another shape": (Y[:, None], SEEN, r"value has shape \(4, 1\)"),
}


@pytest.mark.parametrize(("y", "mask", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(y, mask, words):
    with pytest.raises(SiteError, match=words):
        partly(y, mask).log_density()
