"""Evaluate the rows of a plate a few at a time: the same log density, in less memory."""

import jax
import jax.numpy as jnp
import numpy as np
import parallel_cases
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import ModelError, OptionError, SiteError
from accord.density import LogDensity, sharded
from accord.density.rows.blocks import mesh_of

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ [1.0, -1.0]
RUN = dict(draws=10, warmup=10, chains=1, progress=False, quiet=True)


@ac.model
def line(x, y, chunk=None, weights=None):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def centred(x, y, chunk):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal((x - x.mean(0)) @ b, 1.0), obs=y)


@ac.model
def mixture(x, chunk):
    """A row has a hundred terms, which its gradient needs."""
    centres = ac.sample("centres", dist.Normal(0, 1).expand([100]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=chunk):
        ac.factor("x", jax.nn.logsumexp(-0.5 * (x[:, None] - jnp.tanh(centres)[None]) ** 2, axis=1))


@ac.model
def closed_over(y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", y.shape[0], chunk=2):
        ac.sample("y", dist.Normal(X @ b, 1.0), obs=y)


@ac.model
def nothing_along(count):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", count, chunk=2):
        ac.sample("y", dist.Normal(X @ b, 1.0), obs=Y)


@ac.model
def two_plates(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=2):
        ac.sample("x", dist.Normal(b, 1.0).to_event(1), obs=x)
    with ac.plate("other", y.shape[0], chunk=3):
        ac.sample("y", dist.Normal(b[0], 1.0), obs=y)


@ac.model
def other_rows(x, y, z):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0], chunk=2):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)
    with ac.plate("other", z.shape[0]):
        ac.sample("z", dist.Normal(b[0], 1.0), obs=z)


def density(model):
    return LogDensity.from_model(model)


def test_value_gradient_and_terms_are_those_of_all_rows_at_once():
    """With unknowns, a mask and factors by row, another plate inside, and rows that no chunk divides."""
    arrays = parallel_cases.data(37) | {"shift": np.array([0.1])}
    whole, parts = (density(parallel_cases.counts(**arrays, chunk=chunk)) for chunk in (None, 2))
    position = 0.3 * np.random.default_rng(5).normal(size=whole.dim)
    expected, found = (
        jax.jit(lambda at, one=one: (*one.value_and_grad(at), one.site_terms(at)))(position)
        for one in (whole, parts)
    )
    assert list(found[2]) == list(expected[2])
    for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def test_memory_falls_with_the_chunk():
    x = np.linspace(-3, 3, 16 * 256)
    sizes = []
    for chunk in (None, 64, 8):
        target = density(mixture(x, chunk))
        compiled = jax.jit(target.value_and_grad).lower(np.zeros(100)).compile()
        sizes.append(compiled.memory_analysis().temp_size_in_bytes)
    row = 100 * 8  # bytes
    assert sizes[0] > len(x) * row
    assert sizes[1] < sizes[0] / 8
    assert sizes[2] < sizes[1] / 2


def test_a_chunk_of_all_rows_changes_nothing():
    programs = [density(line(X, Y, chunk)).program for chunk in (None, 40, 39)]
    assert [type(each).__name__ for each in programs] == ["ModelProgram", "ModelProgram", "ChunkedProgram"]


def test_the_draws_are_those_of_sharded_data_and_near_those_of_all_rows():
    options = RUN | dict(draws=50)
    chunked = infer.sample(line(X, Y, 2), executor=infer.Threads(), **options)
    by_plate = infer.sample(line(X, Y, 2), executor=infer.Devices(shard="row"), **options)
    np.testing.assert_array_equal(chunked["b"], by_plate["b"])
    whole = infer.sample(line(X, Y), **options)
    np.testing.assert_allclose(chunked["b"][0, :5], whole["b"][0, :5], rtol=1e-6)


def test_new_data_of_another_length_is_cut_anew():
    new = {"x": X[:21], "y": Y[:21]}
    found = density(line(X, Y, 1)).with_data(new)(np.ones(2))
    np.testing.assert_allclose(found, density(line(**new))(np.ones(2)), rtol=1e-12)


def test_a_chunked_likelihood_is_checked_against_other_chunks():
    report = infer.check(line(X, Y, 2))
    assert report.ok and "parallel_complete" in [finding.code for finding in report.findings]
    (found,) = infer.check(centred(X, Y, 2)).errors
    assert (
        found.sites == ("y",)
        and "not that of other chunks in site 'y', which depends on 'x', 'y'" in found.message
    )


@pytest.mark.parametrize("chunk", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_rows_that_the_model_couples_are_found_before_anything_is_drawn(chunk):
    with pytest.raises(
        ModelError, match=r"rows of 'x', 'y' is not the log density of the model in other chunks"
    ):
        infer.sample(centred(X, Y, chunk), **RUN)


REFUSED = {
    "no number of rows": (lambda: line(X, Y, 0), OptionError, "chunk must be a whole number of at least 1"),
    "an array from outside": (
        lambda: closed_over(Y),
        ModelError,
        r"2 of the 40 rows of 'y'.*closes over is a constant",
    ),
    "nothing along the plate": (
        lambda: nothing_along(40),
        OptionError,
        "no argument that can be cut.*closes over",
    ),
    "two axes of its size": (
        lambda: line(X, Y, 2, np.ones((40, 40))),
        OptionError,
        "'weights'.*along several axes",
    ),
    "two plates": (lambda: two_plates(X, Y), SiteError, r"'other' has chunk=3, and the plate 'row' chunk=2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_evaluated_in_chunks_is_refused(name):
    model, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        infer.sample(model(), **RUN)


def test_an_axis_that_is_named_settles_which_of_two_is_cut():
    model = line(X, Y, 2, np.ones((40, 40)))
    shard = {"x": 0, "y": 0, "weights": 1}
    found = sharded(density(model), mesh_of(jax.devices()[:1]), shard).data
    assert {name: found[name].shape for name in shard} == {
        "x": (16, 2, 2, 2),
        "y": (16, 2, 2),
        "weights": (16, 2, 40, 2),
    }


def test_rows_shared_out_must_be_those_with_the_chunk():
    with pytest.raises(
        OptionError, match=r"plate 'row' has chunk=2, and the rows of 'z' are those of 'other'"
    ):
        infer.sample(other_rows(X, Y, Y[:30]), executor=infer.Devices(shard={"z": 0}), **RUN)
