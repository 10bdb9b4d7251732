"""Check what becomes of a model's arguments, and which errors come before anything runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers, infer
from accord.core.errors import DataError, ModelError, SiteError
from accord.density import LogDensity


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


@ac.model
def takes(value, other=None):
    """Take anything, and have one latent site."""
    ac.sample("x", dist.Normal(0.0, 1.0))


class Table:
    """Looks like a data frame."""

    columns = ("a",)

    def __array__(self, dtype=None, copy=None):
        return np.zeros(3)


class Series:
    """Looks like a column of one."""

    def __array__(self, dtype=None, copy=None):
        return np.zeros(3)


# argument: what is traced, by name and dtype
ARGUMENTS = {
    "floats": (np.zeros(3, np.float32), {"value": "float64"}),
    "ints": (np.zeros(3, np.int8), {"value": "int64"}),
    "bools": (np.zeros(3, bool), {"value": "bool"}),
    "half": (jnp.zeros(3, jnp.bfloat16), {"value": "float64"}),
    "series": (Series(), {"value": "float64"}),
    "list": ([1, 2], {"value": "int64"}),
    "rows": ([[1.0, 2.0], (3.0, 4.0)], {"value": "float64"}),
    "list of arrays": ([np.zeros(2), np.zeros(3)], {"value/0": "float64", "value/1": "float64"}),
    "dict": ({"a": np.zeros(2), "b": {"c": 1.5}}, {"value/a": "float64", "value/b/c": "float64"}),
    "float": (0.5, {"value": "float64"}),
    "numpy float": (np.float32(0.5), {"value": "float64"}),
    "numpy int": (np.int32(3), {}),
    "tuple of ints": ((3, 4), {}),
    "int": (3, {}),
    "bool": (True, {}),
    "string": ("a", {}),
    "strings": (["a", "b"], {}),
    "nothing": (None, {}),
    "empty list": ([], {}),
    "function": (np.sin, {}),
    "class": (np.ndarray, {}),
    "distribution": (dist.Normal(np.zeros(2), 1.0), {"value/loc": "float64", "value/scale": "float64"}),
}


@pytest.mark.parametrize(("argument", "traced"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_arrays_are_traced_and_the_rest_is_fixed(argument, traced):
    density = takes(argument).log_density()
    assert {name: str(array.dtype) for name, array in density.data.items()} == traced
    assert all(isinstance(array, np.ndarray) for array in density.data.values())


def test_the_data_of_a_density_is_a_copy():
    y = np.zeros(3)
    density = takes(y).log_density()
    y[0] = 1.0
    assert density.data["value"][0] == 0.0


def test_random_keys_are_traced_as_they_are():
    assert jax.dtypes.issubdtype(
        takes(jax.random.key(0)).log_density().data["value"].dtype, jax.dtypes.prng_key
    )


def test_names_that_meet_are_told_apart():
    @ac.model
    def model(condition):
        ac.sample("x", dist.Normal(0.0, 1.0))
        ac.sample("y", dist.Normal(0.0, 1.0))

    assert set(model({"x": 1.0}).condition({"x": 2.0}).log_density().data) == {"condition/x", "condition/x#2"}


BAD_DATA = {
    "words": (np.array(["a", "b"]), "'value'.*words .*'a', not numbers.*ac.levels"),
    "objects": (np.array([None, 1.0, "a"]), "'value'.*column of objects.*row 2.*'a'"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), "'value'.*dates .datetime64"),
    "ragged rows": ([[1.0], [1.0, 2.0]], "'value'.*different lengths"),
    "table": ({"t": Table()}, "'value/t'.*a table.*bind"),
    "too large": (np.array([2**63], np.uint64), "'value'.*do not fit int64"),
}


@pytest.mark.parametrize(("argument", "words"), BAD_DATA.values(), ids=BAD_DATA.keys())
def test_data_that_is_not_numbers_is_refused_by_name(argument, words):
    with pytest.raises(DataError, match=words):
        takes(argument).log_density()


def selects(y):
    kept = y[~jnp.isnan(y)]
    loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    with ac.plate("n", kept.shape[0]):
        ac.sample("y", dist.Normal(loc, 1.0), obs=kept)


def counts(y, g):
    with ac.plate("group", int(g.max()) + 1):
        loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    with ac.plate("n", y.shape[0]):
        ac.sample("y", dist.Normal(loc[g], 1.0), obs=y)


def sizes(y, g):
    weights = jnp.ones(g.max() + 1)
    loc = ac.sample("loc", dist.Normal(weights, 1.0))
    with ac.plate("n", y.shape[0]):
        ac.sample("y", dist.Normal(loc[g], 1.0), obs=y)


def branches(y, flag):
    loc = ac.sample("loc", dist.Normal(0.0, 1.0 if flag > 0 else 2.0))
    with ac.plate("n", y.shape[0]):
        ac.sample("y", dist.Normal(loc, 1.0), obs=y)


def fills(y, scale):
    scales = np.ones(3)
    scales[1] = scale
    loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    with ac.plate("n", 3):
        ac.sample("y", dist.Normal(loc, scales), obs=y)


def both(y, g, size):
    with ac.plate("group", size), ac.plate("kind", int(g.max())):
        ac.sample("loc", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(jnp.zeros(y.shape), 1.0), obs=y)


def reads(y, g):
    """Let Python read the numbers of `g`, and JAX compute with them."""
    with ac.plate("group", len(np.unique(g))):
        loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    with ac.plate("n", y.shape[0]):
        ac.sample("y", dist.Normal(loc[g], jnp.where(g > 0, 1.0, 2.0)), obs=y)


G = np.array([0, 1, 1])
CONSTANTS = {
    "selection": (selects, (np.array([1.0, np.nan, 2.0]),), {"y"}),
    "read by Python": (reads, (np.ones(3), G), {"g"}),
    "size of a plate": (counts, (np.ones(3), G), {"g"}),
    "shape": (sizes, (np.ones(3), G), {"g"}),
    "branch on a float": (branches, (np.ones(3), 0.5), {"flag"}),
    "an array of NumPy filled": (fills, (np.ones(3), 2.0), {"scale"}),
    "two of three": (both, (np.ones(3), G, np.array(3)), {"g", "size"}),
}


@pytest.mark.parametrize(("function", "arguments", "constants"), CONSTANTS.values(), ids=CONSTANTS.keys())
def test_arguments_whose_values_shape_the_trace_become_constants(function, arguments, constants):
    density = ac.model(function)(*arguments).log_density()
    assert set(density.constants) == constants and not constants & set(density.data)
    assert [(n.severity, n.code) for n in density.notices] == [("info", "constant_argument")] * len(constants)
    assert all(repr(name) in " ".join(n.message for n in density.notices) for name in constants)
    value, gradient = jax.jit(density.value_and_grad)(np.zeros(density.dim))
    assert np.isfinite(value) and np.all(np.isfinite(gradient))
    assert set(density.constrain(np.zeros(density.dim))) == {"loc"}
    np.testing.assert_array_equal(
        density.unconstrain(density.constrain(np.ones(density.dim))), np.ones(density.dim)
    )


def test_a_new_constant_is_traced_again():
    density = ac.model(counts)(np.ones(3), G).log_density()
    assert density.with_data({"g": np.array([0, 1, 2])}).dim == 3
    assert density.with_data({"y": np.zeros(3)}).dim == 2


def branch(model):
    return lambda: ac.model(model)(np.ones(3)).log_density()


def on_value(y):
    ac.sample("a", dist.Normal(0.0, 1.0))
    x = ac.sample("b", dist.Normal(0.0, 1.0))
    if x > 0:
        ac.sample("c", dist.Normal(0.0, 1.0))


def on_two(y):
    x = ac.sample("a", dist.Normal(0.0, 1.0)) + ac.sample("b", dist.Normal(0.0, 1.0))
    float(x)


def on_data_and_value(y):
    with ac.plate("n", int(y.max())):
        x = ac.sample("x", dist.Normal(0.0, 1.0))
    x[x > 0]


def discrete(y):
    ac.sample("k", dist.Poisson(3.0))


def nothing_latent(y):
    ac.sample("y", dist.Normal(jnp.zeros(3), 1.0), obs=y)


def improper(y):
    ac.sample("x", dist.ImproperUniform(dist.constraints.positive, (), ()))


def plate_named_as_site(y):
    with ac.plate("x", 3):
        ac.sample("x", dist.Normal(0.0, 1.0))


def plate_of_two_sizes(y):
    for name, size in (("x", 3), ("z", 4)):
        with ac.plate("n", size):
            ac.sample(name, dist.Normal(0.0, 1.0))


def dim_of_two_sizes(y):
    with ac.plate("z_dim_0", 3):
        ac.sample("x", dist.Normal(0.0, 1.0))
    ac.sample("z", dist.Normal(np.zeros(2), 1.0))


def nan_in_data(y):
    ac.sample("x", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(jnp.zeros(3), 1.0), obs=jnp.array([1.0, 2.0, 3.0]) * y)


MODEL_ERRORS = {
    "branch": (branch(on_value), ModelError, r"site 'b', at .*test_tracing.py:\d+ `if x > 0:`.*`jnp.where`"),
    "branch on two": (branch(on_two), ModelError, r"the latent sites \('a', 'b'\), at .*`float\(x\)`"),
    "branch after a constant": (branch(on_data_and_value), ModelError, r"site 'x', at .*`x\[x > 0\]`"),
    "discrete": (
        branch(discrete),
        SiteError,
        r"'k'.*Poisson has infinitely many values.*`handlers.collapse\(model, {'k': 100}\)`",
    ),
    "nothing latent": (branch(nothing_latent), ModelError, "'nothing_latent' has no latent site"),
    "improper": (branch(improper), ModelError, "'x'.*improper prior.*observes nothing"),
    "plate named as a site": (
        branch(plate_named_as_site),
        SiteError,
        "plate 'x' has the name of a site.*'x_plate'",
    ),
    "plate of two sizes": (
        branch(plate_of_two_sizes),
        SiteError,
        "'z'.*plate 'n' has size 4 here and 3 before",
    ),
    "dim of two sizes": (branch(dim_of_two_sizes), ModelError, "dim 'z_dim_0' has size 2 here and 3"),
}


@pytest.mark.parametrize(("call", "error", "words"), MODEL_ERRORS.values(), ids=MODEL_ERRORS.keys())
def test_a_model_that_cannot_be_sampled_says_why(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_flat_prior_on_a_bounded_set_needs_no_data():
    for support in (dist.constraints.interval(0.0, 1.0), dist.constraints.unit_interval):
        model = ac.model(lambda: ac.sample("x", dist.ImproperUniform(support, (3,), ())))  # noqa: B023
        assert model().log_density().dim == 3
    half = dist.constraints.interval(0.0, np.inf)
    with pytest.raises(ModelError, match="improper"):
        ac.model(lambda: ac.sample("x", dist.ImproperUniform(half, (), ()).to_event(0)))().log_density()


def test_a_flat_prior_with_data_or_a_factor_is_accepted():
    @ac.model
    def model(use_factor):
        x = ac.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
        if use_factor:
            ac.factor("f", -x * x)
        else:
            ac.sample("y", dist.Normal(x, 1.0), obs=0.0)

    assert model(True).log_density().dim == model(False).log_density().dim == 1


def test_an_exception_in_the_model_reaches_the_user():
    @ac.model
    def model():
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        model().log_density()

    @ac.model
    def adds():
        return "a" + 1

    with pytest.raises(TypeError, match="concatenate"):
        adds().log_density()


@ac.model
def observes(y, mask=True, transform=None, own_mask=None):
    loc = ac.sample("loc", dist.Normal(0.0, 1.0))
    target = dist.Normal(loc, 1.0) if own_mask is None else dist.Normal(loc, 1.0).mask(own_mask)
    with ac.plate("n", y.shape[0]), handlers.mask(mask=mask):
        ac.sample("y", target, obs=y if transform is None else transform(y))


NAN = np.array([1.0, np.nan, np.nan, 2.0])
NON_FINITE = {
    "nan": (lambda: observes(NAN), "site 'y': 2 of 4 observed values are NaN. .*mask.*drop"),
    "inf": (lambda: observes(np.array([1.0, np.inf])), "1 of 2 observed values are infinite"),
    "mixed": (
        lambda: observes(np.array([np.nan, np.inf])),
        r"2 of 2 observed values are NaN \(1\) or infinite",
    ),
    "condition": (lambda: observes(np.ones(4)).condition({"y": NAN}), "2 of 4"),
}


@pytest.mark.parametrize(("model", "words"), NON_FINITE.values(), ids=NON_FINITE.keys())
def test_observed_values_that_are_not_finite_are_counted_before_anything_runs(model, words):
    with pytest.raises(SiteError, match=words):
        model().log_density()


def test_new_data_that_is_not_finite_is_refused():
    with pytest.raises(SiteError, match="2 of 4"):
        observes(np.ones(4)).log_density().with_data({"y": NAN})


DERIVED = {
    "computed": (observes(np.array([1.0, -1.0, 2.0]), transform=jnp.log), 1),
    "partly masked": (observes(NAN, mask=np.array([True, True, False, True])), 1),
    "masked": (observes(NAN, mask=np.isfinite(NAN)), 0),
    "masked by the distribution": (observes(NAN, own_mask=np.isfinite(NAN)), 0),
    "partly masked by the distribution": (observes(NAN, own_mask=np.array([True, True, False, True])), 1),
}


@pytest.mark.parametrize(("model", "count"), DERIVED.values(), ids=DERIVED.keys())
def test_computed_and_masked_values_are_counted_by_a_program(model, count):
    density = model.log_density()
    counts = jax.jit(density.observed_nan_counts)(np.zeros(1))
    assert {name: (int(n), n.dtype) for name, n in counts.items()} == {"y": (count, np.dtype("int32"))}
    if count:
        with pytest.raises(SiteError, match=f"site 'y': {count} of .* NaN or infinite"):
            density.check_observed(counts)
    else:
        density.check_observed(counts)


def test_a_float32_array_in_a_float64_run_is_a_warning_that_names_it():
    (notice,) = takes(jnp.zeros(3, jnp.float32)).log_density().notices
    assert (notice.severity, notice.code) == ("warning", "float32_data") and "'value'" in notice.message
    assert takes(np.zeros(3, np.float32)).log_density().notices == ()
    assert takes(jnp.zeros(3)).log_density().notices == ()


def test_data_that_single_precision_cannot_hold_is_a_warning():
    x = 1e5 + np.arange(5.0) / 3
    (notice,) = LogDensity.from_model(takes(x), "float32").notices
    assert (notice.severity, notice.code) == (
        "warning",
        "data_exceeds_precision",
    ) and "'value'" in notice.message
    assert LogDensity.from_model(takes(x - 1e5, np.full(3, 0.1)), "float32").notices == ()


def test_integers_that_a_float32_run_cannot_hold_are_an_error():
    with pytest.raises(DataError, match=r"'value'.*int32"):
        LogDensity.from_model(takes(np.array([2**40])), "float32")


def test_nothing_is_compiled_while_a_model_is_traced():
    compiled = []

    def listen(event, duration, **options):
        if "backend_compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        with jax.check_tracer_leaks():
            observes(np.ones(7)).log_density()
            observes(np.ones(7)).sites()
            density = ac.model(reads)(np.ones(7), np.array([0, 1, 1, 2, 0, 1, 2])).log_density()
            jax.make_jaxpr(density.value_and_grad)(np.zeros(3))
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled == [] and set(density.constants) == {"g"}


def test_discrete_unknowns_of_a_model_that_reads_its_data_know_their_support():
    def model(y, g):
        len(np.unique(g))
        loc = ac.sample("loc", dist.Normal(0.0, 1.0))
        k = ac.sample("k", dist.DiscreteUniform(0, g.max()))
        with ac.plate("n", y.shape[0]):
            ac.sample("y", dist.Normal(jnp.where(k > 0, loc, -loc), 1.0), obs=y)

    with jax.numpy_dtype_promotion("standard"):  # whole numbers of two widths meet
        found = ac.model(model)(np.ones(3), G).log_density()
        assert found.layout.collapsed == ("k",) and np.isfinite(found(np.zeros(1)))


@ac.model
def grouped(y, groups):
    num_groups = int(groups.max()) + 1
    with ac.plate("group", num_groups):
        m = ac.sample("m", dist.Normal(0.0, 1.0))
    ac.sample("y", dist.Normal(m[groups], 1.0), obs=y)


def test_a_marked_argument_is_a_constant_without_a_notice():
    y, groups = np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1])
    marked, plain = (grouped(y, mark(groups)).log_density() for mark in (ac.static, lambda value: value))
    assert list(marked.data) == ["y"]
    assert list(marked.constants) == ["groups"]
    assert [notice.code for notice in marked.notices] == []
    assert [notice.code for notice in plain.notices] == ["constant_argument"]
    np.testing.assert_allclose(marked(np.zeros(2)), plain(np.zeros(2)))
    more = marked.with_data({"groups": np.array([0, 1, 2])})
    assert more.dim == 3
    assert [notice.code for notice in more.notices] == []


@ac.model
def counted(y):
    rates = ac.sample("rates", dist.Dirichlet(jnp.ones(int(np.max(y)) + 1)))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Categorical(rates), obs=y)


@ac.model
def measured(y, x):
    mu = ac.sample("mu", dist.Normal(0, 1).expand((int(np.nanmax(y)),)).to_event(1))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(mu[0] * x, 1.0), obs=y)


def test_observations_that_python_reads_are_checked_with_other_data_too():
    assert_close = np.testing.assert_allclose
    density = counted(np.array([0, 1, 2, 1])).log_density()
    assert list(density.constants) == ["y"] and not density.data
    again = density.with_data({})
    assert_close(again(np.zeros(2)), density(np.zeros(2)))
    assert density.with_data({"y": np.array([0, 3])}).dim == 3
    other = measured(np.array([1.0, 2.5]), np.ones(2)).log_density()
    assert list(other.data) == ["x"]
    moved = other.with_data({"x": np.array([1.0, 2.0])})
    expected = measured(np.array([1.0, 2.5]), np.array([1.0, 2.0])).log_density()
    assert_close(moved(np.ones(2)), expected(np.ones(2)))
    with pytest.raises(SiteError, match="NaN"):
        other.with_data({"y": np.array([1.0, np.nan, 2.0]), "x": np.ones(3)})


def test_a_model_that_reads_its_observations_is_sampled():
    draws = infer.sample(counted(np.array([0, 1, 2, 1])), draws=20, warmup=20, chains=1, quiet=True)
    assert draws["rates"].shape == (1, 20, 3)
    assert infer.predict(draws, quiet=True)["y"].shape == (1, 20, 4)


def test_a_marked_value_reaches_the_model_as_it_was_given():
    @ac.model
    def model(scale):
        assert isinstance(scale, float)
        ac.sample("m", dist.Normal(0.0, scale))

    density = model(ac.static(2.0)).log_density()
    assert density.data == {}
    assert float(density(np.zeros(1))) == pytest.approx(-np.log(2.0) - 0.5 * np.log(2 * np.pi))
