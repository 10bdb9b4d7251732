"""Refuse what cannot be summed over rows, by the name of the site or argument, before anything is drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import DataError, ModelError, OptionError, SiteError
from accord.density import LogDensity, sharded, sharded_sum
from accord.density.rows.blocks import mesh_of

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ [1.0, -1.0]
ALL = {"x": 0, "y": 0}
RUN = dict(draws=10, warmup=10, chains=1, progress=False, quiet=True)


@ac.model
def line(x, y, groups=None, scale=1.0):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, scale), obs=y)


@ac.model
def centred(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal((x - x.mean(0)) @ b, 1.0), obs=y)


@ac.model
def outside(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)
    ac.factor("penalty", -jnp.sum(x**2) * b[0] ** 2)


@ac.model
def no_plate(x, y):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def unplated_unknowns(x, y):
    z = ac.sample("z", dist.Normal(jnp.zeros(x.shape[0]), 1.0))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x[:, 0] + z, 1.0), obs=y)


@ac.model
def fixed_size(x, y, count):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", count):
        ac.sample("y", dist.Normal(x @ b, 1.0), obs=y)


@ac.model
def offset(x, y, known):
    b = ac.sample("b", dist.Normal(0, 1).expand([2]).to_event(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(x @ b + known, 1.0), obs=y)


REFUSED = {
    "an offset left out": (offset(X, Y, Y), ALL, ModelError, "3 of the 40 rows of 'x', 'y'.*named in shard"),
    "an unknown name": (line(X, Y), {"X": 0, "y": 0}, OptionError, "no data 'X'.*There are: scale, x, y"),
    "no such axis": (
        line(X, Y),
        {"x": 2, "y": 0},
        OptionError,
        r"'x' has shape \(40, 2\), so that it has no axis 2",
    ),
    "different numbers of rows": (line(X, Y), {"x": 1, "y": 0}, OptionError, "'x' 2, 'y' 40"),
    "an argument left out": (
        line(X, Y),
        {"x": 0},
        ModelError,
        r"3 of the 40 rows of 'x'.*'y'.*named in shard",
    ),
    "nothing to share out": (line(X, Y), {}, OptionError, "name at least one argument"),
    "a factor in no plate": (outside(X, Y), ALL, SiteError, "'penalty' depends on 'x'.*in no plate"),
    "no plate at all": (no_plate(X, Y), ALL, ModelError, "no site is in a plate over the rows"),
    "unknowns in no plate": (unplated_unknowns(X, Y), ALL, (ModelError, SiteError), "'z'"),
    "a size from elsewhere": (fixed_size(X, Y, 40), ALL, ModelError, "sizes must be taken from them"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_summed_is_refused_by_name(name):
    model, shard, error, message = REFUSED[name]
    density = LogDensity.from_model(model)
    with pytest.raises(error, match=message):
        sharded(density, mesh_of(jax.devices()[:1]), shard)


def test_rows_that_the_model_couples_are_found_before_anything_is_drawn():
    with pytest.raises(
        ModelError, match=r"rows of 'x', 'y' is not the log density of the whole model.*x\.mean\(\)"
    ):
        infer.sample(centred(X, Y), executor=infer.Devices(shard=ALL), **RUN)


def test_devices_without_anything_to_share_out_are_refused():
    with pytest.raises(OptionError, match="needs to know what to share out"):
        infer.Devices(data=2)


def test_a_run_over_devices_is_resumed_by_threads_with_the_same_bits(tmp_path):
    options = {**RUN, "executor": infer.Devices(shard=ALL), "chains": 2}
    whole = infer.sample(line(X, Y), **options | {"draws": 20})
    infer.sample(line(X, Y), store=infer.RunFolder(tmp_path / "run"), **options)
    found = infer.resume(tmp_path / "run", line(X, Y), progress=False, quiet=True).extend(10)
    np.testing.assert_array_equal(found["b"], whole["b"])


def test_a_function_of_a_row_that_is_not_one_number_is_refused():
    with pytest.raises(DataError, match=r"one number, shape \(\).*returned shape \(2,\)"):
        sharded_sum(lambda row, p: row * p, X, 1.0)


def test_arrays_of_other_lengths_are_refused():
    with pytest.raises(DataError, match="rows along their first axis"):
        sharded_sum(lambda row, p: p, (X, Y[:3]), 1.0)


def test_data_that_depends_on_a_parameter_is_refused():
    with pytest.raises(ModelError, match="depends on what is differentiated by"):
        jax.grad(lambda p: sharded_sum(lambda row, p: row[0] * p, jnp.asarray(X) * p, p))(1.0)


def test_a_third_derivative_is_refused():
    def total(p):
        return sharded_sum(lambda row, p: row * p**4, np.ones(3), p)

    assert jax.grad(jax.grad(total))(1.0) == 36
    with pytest.raises(ModelError, match="third derivative"):
        jax.grad(jax.grad(jax.grad(total)))(1.0)


def test_no_rows_add_nothing():
    assert sharded_sum(lambda row, p: row * p, np.zeros(0), 1.0) == 0
