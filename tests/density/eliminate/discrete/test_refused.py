"""What cannot be summed out exactly is an error that names the sites and the remedy, when the log density is made."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.core.errors import ModelError, SiteError
from accord.density.eliminate.discrete import table

X = np.array([0.3, 1.0, -0.2, 1.5])


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def labelled(of_labels, observe=lambda a, z: None):
    """A model of an unknown, labels in a plate, and an observation of what is made of them."""

    @ac.model
    def model(x):
        a = ac.sample("a", dist.Normal(0.0, 1.0))
        with ac.plate("n", 4):
            z = ac.sample("z", dist.Categorical(np.array([0.5, 0.3, 0.2])))
            ac.sample("x", dist.Normal(a * of_labels(z), 1.0), obs=x)
        observe(a, z)

    return model(X)


def of_sum(a, z):
    ac.sample("y", dist.Normal(a * z.sum(), 1.0), obs=0.3)


@ac.model
def crossed(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    with ac.plate("row", 2, dim=-2):
        r = ac.sample("r", dist.Bernoulli(0.3))
    with ac.plate("column", 2, dim=-1):
        c = ac.sample("c", dist.Bernoulli(0.4))
    with ac.plate("row", 2, dim=-2), ac.plate("column", 2, dim=-1):
        ac.sample("x", dist.Normal(a * r * c, 1.0), obs=x)


@ac.model
def carried(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))

    def step(total, seen):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("x", dist.Normal(a * (total + z), 1.0), obs=seen)
        return total + z, None

    ac.scan(step, jnp.zeros(()), x)


@ac.model
def count(x):
    a = ac.sample("a", dist.Gamma(2.0, 1.0))
    k = ac.sample("k", dist.Poisson(a))
    ac.sample("x", dist.Normal(k, 1.0), obs=x)


@ac.model
def trials_of_a_rate(x):
    a = ac.sample("a", dist.Gamma(2.0, 1.0))
    k = ac.sample("k", dist.DiscreteUniform(0, jnp.floor(a).astype(jnp.int32)))
    ac.sample("x", dist.Normal(k, 1.0), obs=x)


@ac.model
def only_discrete(x):
    z = ac.sample("z", dist.Bernoulli(0.3))
    ac.sample("x", dist.Normal(z, 1.0), obs=x)


@ac.model
def scaled_apart(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    z = ac.sample("z", dist.Bernoulli(0.3))
    with handlers.scale(scale=3.0):
        ac.sample("x", dist.Normal(a * z, 1.0), obs=x)


@ac.model
def weighted_chains(x, weights):
    a = ac.sample("a", dist.Normal(0.0, 1.0))

    def step(z, row):
        z = ac.sample("z", dist.Bernoulli(0.2 + 0.5 * z))
        ac.sample("x", dist.Normal(a * z, 1.0), obs=row)
        return z, None

    with ac.plate("chain", len(weights)), handlers.scale(scale=weights):
        ac.scan(step, jnp.zeros(len(weights), jnp.int32), x)


@ac.model
def normal_too(x):
    s = ac.sample("s", dist.HalfNormal(1.0))
    a = ac.sample("a", dist.Normal(0.0, s))
    z = ac.sample("z", dist.Bernoulli(0.3))
    ac.sample("x", dist.Normal(a + z, 1.0), obs=x)


@ac.model
def chunked(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    z = ac.sample("z", dist.Bernoulli(0.3))
    with ac.plate("n", len(x), chunk=2):
        ac.sample("x", dist.Normal(a * z, 1.0), obs=x)


@ac.model
def two_labels(x):
    a = ac.sample("a", dist.Normal(0.0, 1.0))
    z = ac.sample("z", dist.Bernoulli(0.3))
    w = ac.sample("w", dist.Bernoulli(0.3))
    ac.sample("x", dist.Normal(a * z + w, 1.0), obs=x)


REFUSED = {
    "a cumulative sum": (labelled(jnp.cumsum), SiteError, "'z' cannot be summed out.*'x'.*several entries"),
    "a difference of neighbours": (
        labelled(lambda z: z - jnp.roll(z, 1)),
        SiteError,
        "'z' cannot be summed out.*'x'.*several entries",
    ),
    "two entries by indices": (
        labelled(lambda z: z[np.array([0, 1, 2, 3])] - z[np.array([1, 0, 0, 2])]),
        SiteError,
        "'z' cannot be summed out.*'x'.*several entries",
    ),
    "a sum of all": (
        labelled(lambda z: z, of_sum),
        SiteError,
        "'z' cannot be summed out.*'y'.*several entries",
    ),
    "crossed plates": (
        crossed(X.reshape(2, 2)),
        SiteError,
        "'r'.*'c'.*cannot be summed out: 'x' ties each entry",
    ),
    "a value carried on": (
        carried(np.tile(X, 3)),
        SiteError,
        "'z' cannot be summed out.*carried on from step",
    ),
    "a count without end": (count(1.0), SiteError, "'k'.*infinitely many values.*collapse.*'k': 100"),
    "a support of an unknown": (trials_of_a_rate(1.0), SiteError, "'k' cannot be summed out.*depends on 'a'"),
    "nothing else unknown": (only_discrete(1.0), ModelError, "all unknowns.*discrete.*'z'"),
    "scales": (scaled_apart(1.0), SiteError, "'z', 'x'.*scaled differently"),
    "chains with weights": (
        weighted_chains(np.zeros((3, 2)), np.array([1.0, 0.5])),
        SiteError,
        "'z'.*are scaled by an array",
    ),
    "a normal site integrated out too": (
        handlers.collapse(normal_too(1.0), ["a"]),
        SiteError,
        "'z'.*discrete.*'a'.*handlers.collapse",
    ),
    "a label of rows in chunks": (
        chunked(X),
        SiteError,
        "'z' cannot be summed out.*'n' has chunk=2.*'x' depends on it across rows",
    ),
    "one of two named": (
        handlers.collapse(two_labels(1.0), ["z"]),
        SiteError,
        "'w'.*names others alone.*'z'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_summed_out_is_said(case):
    model, kind, words = REFUSED[case]
    with pytest.raises(kind, match=rf"(?s){words}"):
        model.log_density()


def test_a_table_that_is_too_large_is_said(monkeypatch):
    monkeypatch.setattr(table, "MAX_ENTRIES", 10)
    with pytest.raises(SiteError, match=r"summing out 'z' needs.*3 for each of 4 entries, and 10 numbers"):
        labelled(lambda z: z).log_density()


def test_a_count_is_summed_up_to_where_the_user_says():
    @ac.model
    def truncated(x):
        a = ac.sample("a", dist.Gamma(2.0, 1.0))
        k = ac.sample("k", dist.Poisson(a).truncate(high=30))
        ac.sample("x", dist.Normal(k, 1.0), obs=x)

    found = jax.jit(truncated(1.0).log_density())(jnp.zeros(1))  # a = 1
    counts = np.arange(31)
    prior = np.exp(-1.0) / np.cumprod(np.maximum(counts, 1.0))
    expected = np.log((prior / prior.sum() * np.exp(-0.5 * (counts - 1.0) ** 2)).sum()) - 0.5 * np.log(
        2 * np.pi
    )
    np.testing.assert_allclose(found, expected + np.log(np.exp(-1.0)), rtol=1e-9)
