"""Sum discrete unknowns out row by row, where the rows of a plate are evaluated in chunks or on several devices."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import SiteError
from accord.density import LogDensity

RNG = np.random.default_rng(0)
Y = RNG.normal(size=37)
SIGMA = np.exp(0.3 * RNG.normal(size=37))
SERIES = RNG.normal(size=(37, 5))
RUN: dict[str, Any] = dict(draws=20, warmup=20, chains=1, seed=0, progress=False, quiet=True)


@ac.model
def labels(y, sigma, chunk=None):
    """A label of each row beside an unknown of each row, of which a mask hides some and all are weighted."""
    share = ac.sample("share", dist.Dirichlet(np.ones(3)))
    mean = ac.sample("mean", dist.Normal(0, 2).expand((3,)).to_event(1))
    with ac.plate("row", y.shape[0], chunk=chunk):
        width = ac.sample("width", dist.Gamma(3.0, 3.0))
        with handlers.scale(scale=0.5):
            z = ac.sample("z", dist.Categorical(share))
            with handlers.mask(mask=sigma > 0.8):
                ac.sample("y", dist.Normal(mean[z], sigma * width), obs=y)


@ac.model
def numbers(y, sigma, chunk=None):
    """Counts whose sum ends at a chosen value, so that their probabilities do not sum to one."""
    rate = ac.sample("rate", dist.Gamma(2.0, 0.5))
    with ac.plate("row", y.shape[0], chunk=chunk):
        n = ac.sample("n", dist.Poisson(rate))
        ac.sample("y", dist.Normal(n.astype(float), sigma), obs=y)


@ac.model
def series(y, chunk=None):
    """A chain of states in each row, and a label on which all of its steps depend."""
    stay = ac.sample("stay", dist.Beta(np.full(2, 8.0), 2.0).to_event(1))
    mean = ac.sample("mean", dist.Normal(0, 3).expand((2,)).to_event(1))
    to_one = jnp.stack([1 - stay[0], stay[1], 0.5])
    with ac.plate("row", y.shape[0], chunk=chunk):
        kind = ac.sample("kind", dist.Bernoulli(0.3)).astype(float)

        def step(before, seen):
            z = ac.sample("z", dist.Bernoulli(to_one[before])).astype(int)
            ac.sample("y", dist.Normal(mean[z] + kind, 1.0), obs=seen)
            return z, None

        ac.scan(step, jnp.full(y.shape[0], 2), y.T)


@ac.model
def beside(y, sigma, chunk=None):
    """A label that no row depends on, and one of each row."""
    mean = ac.sample("mean", dist.Normal(0, 1))
    first = ac.sample("first", dist.Bernoulli(0.3))
    ac.sample("seen", dist.Normal(mean + first.astype(float), 1.0), obs=0.4)
    with ac.plate("row", y.shape[0], chunk=chunk):
        z = ac.sample("z", dist.Bernoulli(0.2))
        ac.sample("y", dist.Normal(mean + 2.0 * z.astype(float), sigma), obs=y)


MODELS: dict[str, Callable[..., ac.Model]] = {
    "labels": lambda chunk=None: labels(Y, SIGMA, chunk),
    "counts up to a value": lambda chunk=None: handlers.collapse(numbers(Y, SIGMA, chunk), {"n": 4}),
    "series": lambda chunk=None: series(SERIES, chunk),
    "a label outside": lambda chunk=None: beside(Y, SIGMA, chunk),
}


def values(density: LogDensity, position: np.ndarray) -> Any:
    """Log density, gradient and parts; `tests/promises/test_p6_complete_likelihood.py` has second derivatives."""
    return jax.jit(lambda at: (*density.value_and_grad(at), density.program.parts(at, density.data)))(
        position
    )


@pytest.mark.parametrize("chunk", [1, pytest.param(2, marks=pytest.mark.slow)])
@each(MODELS, slow=["series"])
def test_the_sum_over_chunks_is_that_over_all_rows(make, chunk):
    """37 rows are no multiple of a chunk: copies of the last one add nothing."""
    whole, parts = (LogDensity.from_model(make(each)) for each in (None, chunk))
    assert type(parts.program).__name__ == "ChunkedProgram"
    position = 0.3 * np.random.default_rng(5).normal(size=whole.dim)
    expected, found = (values(density, position) for density in (whole, parts))
    for left, right in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11)


@pytest.mark.slow
def test_draws_have_labels_of_all_rows_and_are_those_of_shared_rows():
    chunked = infer.sample(labels(Y, SIGMA, 2), executor=infer.Threads(), **RUN)
    by_plate = infer.sample(labels(Y, SIGMA, 2), executor=infer.Devices(shard="row"), **RUN)
    for name in ("z", "mean", "width"):
        np.testing.assert_array_equal(chunked[name], by_plate[name])
    whole = infer.sample(labels(Y, SIGMA), **RUN)
    np.testing.assert_allclose(chunked["mean"][0, :3], whole["mean"][0, :3], rtol=1e-6)
    assert chunked["z"].shape == (1, 20, 37)


def test_memory_falls_with_the_chunk():
    y = np.linspace(-3, 3, 16 * 256)

    @ac.model
    def classes(y, chunk):
        mean = ac.sample("mean", dist.Normal(0, 1).expand((50,)).to_event(1))
        with ac.plate("row", y.shape[0], chunk=chunk):
            z = ac.sample("z", dist.Categorical(np.full(50, 0.02)))
            ac.sample("y", dist.Normal(mean[z], 1.0), obs=y)

    sizes = []
    for chunk in (None, 16):
        target = LogDensity.from_model(classes(y, chunk))
        compiled = jax.jit(target.value_and_grad).lower(np.zeros(50)).compile()
        sizes.append(compiled.memory_analysis().temp_size_in_bytes)
    assert sizes[1] < sizes[0] / 4


@ac.model
def one_label(y, chunk=None):
    mean = ac.sample("mean", dist.Normal(0, 1))
    z = ac.sample("z", dist.Bernoulli(0.3))
    with ac.plate("row", y.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal(mean + z.astype(float), 1.0), obs=y)


@ac.model
def groups(y, group, chunk=None):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("group", 3):
        z = ac.sample("z", dist.Bernoulli(0.3))
    with ac.plate("row", y.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal(mean + z[group].astype(float), 1.0), obs=y)


@ac.model
def turned(y, other, chunk=None):
    mean = ac.sample("mean", dist.Normal(0, 1))
    with ac.plate("row", y.shape[0], chunk=chunk):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(mean + z[other].astype(float), 1.0), obs=y)


REFUSED = {
    "a label of all rows": (
        lambda: one_label(Y, 2),
        r"'z' cannot be summed out where the plate 'row' has chunk=2: site 'y' depends on it across rows",
    ),
    "labels of groups": (
        lambda: groups(Y, np.arange(37) % 3, 2),
        r"'z' cannot be summed out where.*site 'y' depends",
    ),
    "labels of other rows": (
        lambda: turned(Y, np.arange(37)[::-1].copy(), 2),
        r"'z' cannot be summed out where the plate 'row' has chunk=2: site 'y' takes entries of it by an index",
    ),
}


@each(REFUSED)
def test_labels_that_tie_rows_to_each_other_are_refused(case):
    model, message = case
    with pytest.raises(SiteError, match=message):
        infer.sample(model(), **RUN)
