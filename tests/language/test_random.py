"""Check random keys, and plates that take some of their entries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, OptionError, SiteError

X = np.arange(20.0).reshape(10, 2)


def sites_of(target, *args, key=0):
    return handlers.trace(handlers.seed(target, key)).get_trace(*args)


@ac.model
def minibatch(x, size=4):
    """Rows of which some are taken."""
    loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(x), subsample_size=size) as index:
        rows = ac.deterministic("rows", ac.subsample(x, event_dim=1))
        ac.deterministic("index", index)
        ac.sample("y", dist.Normal(loc, 1.0).expand((2,)).to_event(1), obs=rows)
    with ac.plate("row", len(x), subsample_size=size) as again:
        ac.factor("f", jnp.zeros(np.shape(again)))
    return index, again


def test_a_plate_takes_some_rows_without_replacement_and_weighs_them():
    index, again = handlers.seed(minibatch(X), 0)()
    assert len(set(index.tolist())) == 4
    np.testing.assert_array_equal(index, again)
    sites = sites_of(minibatch(X))
    np.testing.assert_array_equal(sites["rows"].value, X[index])
    assert sites["y"].scale == sites["f"].scale == 2.5 and sites["loc"].scale is None
    assert sites_of(minibatch(X), key=1)["index"].value.tolist() != index.tolist()


def test_all_rows_are_no_subsample():
    for size in (None, 10):
        density = minibatch(X, size).log_density()
        assert density.layout["rows"].shape == (10, 2)


def test_rows_of_several_plates_are_taken_along_their_dims():
    def model():
        with ac.plate("a", 3, dim=-2, subsample_size=2) as a, ac.plate("b", 5, subsample_size=4) as b:
            whole = jnp.arange(15.0).reshape(3, 5)
            column = ac.subsample(whole[:, :1])
            return a, b, ac.subsample(whole), column, whole

    a, b, part, column, whole = handlers.seed(model, 0)()
    np.testing.assert_array_equal(part, whole[a][:, b])
    np.testing.assert_array_equal(column, whole[a][:, :1])


def test_keys_depend_on_the_seed_and_the_name():
    def model():
        return ac.prng_key("noise"), ac.prng_key(), ac.prng_key()

    def bits(keys):
        return [tuple(jax.random.key_data(key).tolist()) for key in keys]

    found = bits(handlers.seed(model, 0)())
    assert len({*found, *bits(handlers.seed(model, 1)())}) == 6
    assert list(sites_of(model)) == ["noise", "prng_key_1", "prng_key_2"]
    scoped = sites_of(handlers.scope(model, prefix="a"))
    assert list(scoped) == ["a/noise", "a/prng_key_1", "a/prng_key_2"]


def test_a_stack_of_plates_has_the_dims_of_an_array():
    def model():
        with ac.plate_stack("axis", (2, 3), rightmost_dim=-2):
            ac.sample("x", dist.Normal(0.0, 1.0))

    site = sites_of(model)["x"]
    assert site.value.shape == (2, 3, 1)
    assert [(frame.name, frame.dim) for frame in site.plates] == [("axis_1", -3), ("axis_0", -2)]


def _with_key():
    ac.sample("x", dist.Normal(0.0, 1.0))
    return ac.prng_key()


def _rows_of_another_length():
    with ac.plate("row", 5, subsample_size=2):
        ac.subsample(np.zeros(4))


def _under_no_seed():
    with ac.plate("row", 5, subsample_size=2):
        pass


MISTAKES = {
    "subsample in a density": (
        lambda: handlers.seed(minibatch(X), 0).log_density(),
        SiteError,
        "plate 'row'.*some of its entries at random.*Leave subsample_size out",
    ),
    "key in a density": (
        lambda: handlers.seed(ac.model(_with_key)(), 0).log_density(),
        SiteError,
        "'prng_key_0'.*no random numbers.*`ac.sample`",
    ),
    "no seed": (
        lambda: handlers.trace(_under_no_seed).get_trace(),
        SiteError,
        "plate 'row'.*`handlers.seed",
    ),
    "rows of another length": (
        lambda: handlers.seed(_rows_of_another_length, 0)(),
        SiteError,
        r"shape \(4,\).*'row' is over 5 entries",
    ),
    "too many": (lambda: ac.plate("row", 3, subsample_size=4), OptionError, "more than the size 3"),
    "none": (lambda: ac.plate("row", 3, subsample_size=0), OptionError, "at least 1"),
    "outside": (lambda: ac.subsample(X), ModelError, "outside of any model"),
    "a key's name": (lambda: handlers.seed(lambda: ac.prng_key(3), 0)(), SiteError, "must be a string"),
}


@pytest.mark.parametrize(("call", "error", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_says_what_to_write(call, error, words):
    with pytest.raises(error, match=words):
        call()
