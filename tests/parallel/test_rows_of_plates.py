"""Find what has rows from the name of a plate, and tell a plate over the rows from one of their size by chance."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError, SiteError
from accord.density import LogDensity, cut_arguments, sharded
from accord.density.rows.blocks import mesh_of

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ [1.0, -1.0]
GROUPS = np.random.default_rng(1).integers(0, 40, 40)
RUN = dict(draws=10, warmup=10, chains=1, progress=False, quiet=True)


@ac.model
def line(x, y, weights=None):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def grouped(x, y, groups, num_groups):
    """As many groups as rows, by chance."""
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("group", num_groups):
        level = ac.sample("level", dist.HalfNormal(1.0))
        ac.factor("penalty", -(level**2))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b + level[groups], 1.0), obs=y)


@ac.model
def misplaced(x, y, num_groups):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("group", num_groups):
        ac.factor("penalty", -jnp.sum(x**2) * b[0] ** 2 * jnp.ones(40))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def pairs(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0], dim=-1), ac.plate("other", y.shape[0], dim=-2):
        ac.factor("distance", -((x @ b - y[:, None]) ** 2))


@ac.model
def closed_over():
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", 40):
        ac.sample("y", dist.Normal(X @ b, 1.0), obs=Y)


def cut(model, shard):
    density = LogDensity.from_model(model)
    return density, sharded(density, mesh_of(jax.devices()[:1]), dict(cut_arguments(density, shard)))


def test_the_arguments_along_a_plate_are_those_with_an_axis_of_its_size():
    density = LogDensity.from_model(line(X, Y, weights=np.ones((3, 40))))
    assert cut_arguments(density, "row") == (("weights", 1), ("x", 0), ("y", 0))


REFUSED = {
    "two axes of that size": (
        line(X, Y, np.ones((40, 40))),
        "row",
        r"'weights' of shape \(40, 40\).*\"weights\": 0, \.\.\.",
    ),
    "no such plate": (line(X, Y), "rows", r"no plate 'rows'. Did you mean 'row'\?"),
    "no argument along it": (
        closed_over(),
        "row",
        "closes over is a constant of its program.*pass the first as",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plate_that_does_not_tell_what_is_cut_is_refused(name):
    model, plate, message = REFUSED[name]
    with pytest.raises(OptionError, match=message):
        infer.sample(model, executor=infer.Devices(shard=plate), **RUN)


@pytest.mark.parametrize("shard", ["row", (("groups", 0), ("x", 0), ("y", 0))], ids=["plate", "arguments"])
def test_a_plate_of_the_same_size_by_chance_is_counted_once(shard):
    whole, parts = cut(grouped(X, Y, GROUPS, 40), shard)
    position = np.random.default_rng(2).normal(size=whole.dim)
    for left, right in zip(*(jax.jit(each.value_and_grad)(position) for each in (whole, parts)), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)


def test_rows_are_named_by_a_mapping_or_a_plate():
    with pytest.raises(OptionError, match="or the name of a plate, got"):
        infer.Devices(shard=["x"])


def test_a_plate_of_the_same_size_by_chance_may_not_see_rows():
    with pytest.raises(
        SiteError, match=r"'penalty' depends on 'x'.*its plate 'group' has the size 40 of all rows"
    ):
        cut(misplaced(X, Y, 40), "row")


def test_a_site_for_each_pair_of_rows_is_refused():
    with pytest.raises(SiteError, match=r"'distance'.*in two plates over the rows, 'other', 'row'"):
        cut(pairs(X, Y), "row")


def test_a_run_by_the_name_of_a_plate_is_the_run_by_its_arguments():
    runs = [
        infer.sample(line(X, Y), executor=infer.Devices(shard=shard), **RUN)
        for shard in ("row", {"x": 0, "y": 0})
    ]
    np.testing.assert_array_equal(runs[0]["b"], runs[1]["b"])
    assert infer.check(line(X, Y), executor=infer.Devices(shard="row")).ok
