"""Hold that chains begin where they are asked to, whoever runs them, and that what cannot be a start is refused."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import keys
from accord.core.errors import DataError, InitializationError, OptionError, SiteError, StorageError
from accord.core.precision import scope
from accord.core.series import InMemory
from accord.density import LogDensity
from accord.density.simulate import prior_position
from accord.mcmc.group import Group, NotBegun
from accord.mcmc.start.choose import start_of

RUN = dict(draws=8, warmup=12, chains=4, seed=5, progress=False, quiet=True)
Y = np.array([0.3, -0.2, 0.9])


@ac.model
def nested(y):
    """The support of one unknown ends at another one."""
    top = ac.sample("top", dist.HalfNormal(3.0))
    part = ac.sample("part", dist.Uniform(0, top))
    both = ac.deterministic("both", top + part)
    with ac.plate("row", y.shape[0]):
        m = ac.sample("m", dist.Normal(both, 1.0))
        ac.sample("y", dist.Normal(m, 1.0), obs=y)


WHOLE = {"top": 2.0, "part": 0.5, "m": np.array([1.0, 2.0, 3.0])}


@pytest.fixture(scope="module")
def density():
    return LogDensity.from_model(nested(Y))


@pytest.fixture(scope="module")
def earlier(density):
    return infer.sample(density, **{**RUN, "chains": [0, 2]})


def points(density, init, chains=(0, 1, 2, 3), seed=5):
    with scope(density.program.precision):
        return start_of(init).points(density, seed, chains)


def values_at(density, found, chain, attempt=0):
    """Sites at a place where a chain may begin."""
    with scope("float64"):
        return density.constrain(found.position(5, chain, attempt, density.dim))


# Where chains begin


def test_values_are_where_a_chain_begins_and_its_only_place(density):
    found = points(density, WHOLE)
    assert {found.num_tries(chain) for chain in range(4)} == {1}
    at = values_at(density, found, 3)
    for name, value in WHOLE.items():
        np.testing.assert_allclose(at[name], value, rtol=1e-12)


def test_sites_without_a_value_begin_as_by_default_though_supports_depend_on_them(density):
    """`part` is at its value wherever `top`, the end of its support, is drawn."""
    given, uniform = points(density, {"part": 0.05}), points(density, None)
    assert given.num_tries(0) == 100
    for chain in (0, 1):
        for attempt in (0, 99):
            at, default = (values_at(density, each, chain, attempt) for each in (given, uniform))
            np.testing.assert_allclose(at["part"], 0.05, rtol=1e-9)
            np.testing.assert_allclose(at["top"], default["top"], rtol=1e-12)
            np.testing.assert_allclose(at["m"], default["m"], rtol=1e-12)


def test_places_at_which_a_value_is_outside_of_a_drawn_support_are_left_out(density):
    found = points(density, {"part": 1.0})
    assert 10 < found.num_tries(0) < 100
    tops = [float(values_at(density, found, 0, attempt)["top"]) for attempt in range(found.num_tries(0))]
    assert min(tops) > 1.0


def test_the_density_of_a_function_begins_at_values_of_its_arrays():
    target = LogDensity.from_function(
        lambda x: -jnp.sum(x["a"] ** 2) - x["b"] ** 2, {"a": np.zeros(2), "b": 0.0}
    )
    found = points(target, {"a": [1.0, 2.0]})
    np.testing.assert_array_equal(found.position(5, 0, 0, 3)[:2], [1.0, 2.0])
    assert found.num_tries(0) == 100


def test_a_list_holds_the_values_of_each_chain_by_its_number(density):
    found = points(density, [{**WHOLE, "top": 1.0 + chain} for chain in range(4)], chains=[3, 1])
    assert [float(values_at(density, found, chain)["top"]) for chain in (3, 1)] == pytest.approx([4.0, 2.0])


def test_an_earlier_run_is_gone_on_with_from_its_last_draws(density, earlier):
    """Chain 2 has its own; chains 1 and 3 of which there are none take the two in turn."""
    found = points(density, earlier)
    for chain, row in ((0, 0), (1, 1), (2, 1), (3, 1)):
        at = values_at(density, found, chain)
        for name in ("top", "part", "m"):
            np.testing.assert_allclose(at[name], earlier[name][row, -1], rtol=1e-9)


def test_an_earlier_run_of_another_model_gives_the_sites_they_share(earlier):
    @ac.model
    def other(y):
        top = ac.sample("top", dist.HalfNormal(3.0))
        new = ac.sample("new", dist.Normal(0, 1))
        ac.sample("y", dist.Normal(top * new, 1.0), obs=y)

    density = LogDensity.from_model(other(0.5))
    found = points(density, earlier)
    starts = [values_at(density, found, 2, attempt) for attempt in (0, 1)]
    assert [float(start["top"]) for start in starts] == pytest.approx([earlier["top"][1, -1]] * 2)
    assert starts[0]["new"] != starts[1]["new"]


def test_draws_from_the_prior_are_those_of_their_chain_and_try(density):
    found = points(density, infer.from_prior())
    words = keys.words(keys.chain_key(5, 3), keys.USE_START, 8)[7]
    with scope("float64"):
        key = jax.random.wrap_key_data(jnp.asarray(words), impl="threefry2x32")
        expected = jax.jit(lambda key: prior_position(density, key))(key)
    np.testing.assert_allclose(found.position(5, 3, 7, density.dim), expected, rtol=1e-12)
    assert found.num_tries(3) == 100


def test_medians_are_of_draws_from_the_prior(density):
    """Of one draw they are the draw."""
    one, prior = points(density, infer.from_median(1)), points(density, infer.from_prior())
    np.testing.assert_allclose(one.rows[2], prior.rows[2][:10], rtol=1e-12)
    many = points(density, infer.from_median(15))
    assert np.std(many.rows[0][:, 0]) < np.std(prior.rows[0][:, 0])


def test_data_that_no_prior_needs_is_left_where_it_is(tmp_path, monkeypatch):
    @ac.model
    def regression(covariates, y, spread):
        slope = ac.sample("slope", dist.Normal(jnp.zeros(covariates.shape[1]), spread))
        with ac.plate("row", covariates.shape[0]):
            ac.sample("y", dist.Normal(covariates @ slope, 1.0), obs=y)

    np.save(tmp_path / "covariates.npy", np.ones((3, 2)))
    density = LogDensity.from_model(regression(infer.rows(tmp_path / "covariates.npy"), Y, 1e-3))
    monkeypatch.setattr("accord.density.rows.row_files.FileRows.read", lambda *_: pytest.fail("it was read"))
    assert np.abs(points(density, infer.from_prior()).rows[0]).max() < 1e-2  # the spread is needed, and there
    assert points(density, {"slope": np.ones(2)}).position(5, 0, 0, 2).tolist() == [1.0, 1.0]


def test_a_radius_bounds_the_box(density):
    found = points(density, infer.from_uniform(0.25))
    starts = np.array([found.position(5, 0, attempt, density.dim) for attempt in range(100)])
    assert 0.2 < np.abs(starts).max() <= 0.25
    assert not np.any(points(density, infer.from_uniform(0)).position(5, 0, 0, density.dim))


# One answer


STARTS = {
    "from_uniform": lambda earlier: infer.from_uniform(1.0),
    "from_prior": lambda earlier: infer.from_prior(),
    "from_median": lambda earlier: infer.from_median(),
    "values of all sites": lambda earlier: WHOLE,
    "values of a site": lambda earlier: {"part": 0.05},
    "values by chain": lambda earlier: [WHOLE, {}, {"top": 3.0}, WHOLE],
    "an earlier run": lambda earlier: earlier,
}


def assert_same(found, expected, rows=slice(None)):
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], array[rows], err_msg=f"{kind} {name}")


@pytest.mark.parametrize("start", STARTS)
def test_a_chain_begins_where_it_would_alone_and_whoever_runs_it(density, earlier, start):
    init = STARTS[start](earlier)
    together = infer.sample(density, init=init, executor=infer.Threads(2), **RUN)
    alone = infer.sample(density, init=init, executor=infer.Serial(), **{**RUN, "chains": [2]})
    assert_same(alone, together, [2])
    uniform = infer.sample(density, **RUN)
    assert not np.array_equal(uniform["top"], together["top"])


@pytest.mark.parametrize("start", ["from_prior", "values by chain"])
def test_lanes_begin_where_they_would_alone(density, earlier, start):
    init = STARTS[start](earlier)
    together = infer.sample(density, init=init, lanes=4, **RUN)
    assert_same(infer.sample(density, init=init, lanes=4, **{**RUN, "chains": [2]}), together, [2])


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("start", STARTS)
def test_processes_begin_where_threads_do(earlier, start, precision):
    options = {**RUN, "precision": precision, "init": STARTS[start](earlier)}
    expected = infer.sample(nested(Y), executor=infer.Serial(), **options)
    assert_same(infer.sample(nested(Y), executor=infer.Processes(2), **options), expected)
    assert_same(infer.sample(nested(Y), executor=infer.Devices(), **options), expected)


@pytest.mark.parametrize("start", STARTS)
def test_a_run_in_which_nothing_was_drawn_is_taken_up_from_the_same_places(density, earlier, start, tmp_path):
    """Of such a run the store holds what it was created with."""
    store = infer.RunFolder(tmp_path / "whole")
    whole = infer.sample(density, init=STARTS[start](earlier), store=store, **RUN)
    empty = infer.RunFolder(tmp_path / "empty").create(whole.manifest)
    kept = store.load().records.get("init")
    if kept is not None:
        empty.record("init", kept)
    empty.record("timings", {})  # else the folder would go with the last who closes it
    empty.close()
    assert_same(infer.resume(tmp_path / "empty", density, progress=False, quiet=True), whole)


def test_another_model_is_refused_for_what_it_is_and_not_for_its_starting_points(density, tmp_path):
    infer.sample(density, init=WHOLE, store=infer.RunFolder(tmp_path / "run"), **RUN)
    with pytest.raises(StorageError, match="model: "):
        infer.resume(tmp_path / "run", nowhere(0.5), quiet=True)


def test_a_run_whose_starting_points_were_not_stored_says_so(density, tmp_path):
    store = infer.RunFolder(tmp_path / "whole")
    infer.sample(density, init=WHOLE, store=store, **RUN)
    empty = infer.RunFolder(tmp_path / "empty").create(store.load().manifest)
    empty.record("timings", {})
    empty.close()
    with pytest.raises(StorageError, match="before its starting points were stored"):
        infer.resume(tmp_path / "empty", density, quiet=True)


@contextmanager
def counting():
    """Count backend compilations of any kind, in any thread."""
    names = []

    def listen(name, seconds, **details):
        if name == "/jax/core/compile/backend_compile_duration":
            names.append(details.get("fun_name", ""))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


@pytest.mark.parametrize("start", STARTS)
def test_no_start_compiles_more_than_one_small_program(density, earlier, start):
    init = STARTS[start](earlier)
    infer.sample(density, **RUN)  # what draws is compiled now
    with counting() as compiled:
        infer.sample(density, init=init, **RUN)
    most = {"from_uniform": 0, "values by chain": 3}.get(start, 1)
    assert len(compiled) <= most, compiled


# What cannot be a start


REFUSED = {
    "no start": (3, OptionError, ["from_prior()", "3"]),
    "a start that was not called": (infer.from_prior, OptionError, ["`infer.from_prior()`"]),
    "an empty list": ([], OptionError, ["a list of them", "[]"]),
    "a list of something else": ([1.0], DataError, ["chain 0", "mapping", "1.0"]),
    "a misspelt site": ({"tpo": 1.0}, DataError, ["'tpo'", "'top'", "latent"]),
    "a deterministic site": ({"both": 1.0}, DataError, ["'both'", "deterministic", "'part'"]),
    "an observed site": ({"y": Y}, DataError, ["'y'", "observed"]),
    "a wrong shape": ({"m": 1.0}, DataError, ["'m'", "shape ()", "(3,)"]),
    "no numbers": ({"top": "high"}, DataError, ["'top'", "'high'"]),
    "not a number": ({"top": np.nan}, DataError, ["'top'", "nan", "leave the site out"]),
    "outside of the support": (
        {"top": -1.5},
        DataError,
        ["'top'", "-1.5", "support", "HalfNormal", "at least 0"],
    ),
    "on the edge of the support": ({"top": 0.0}, DataError, ["'top'", "0.0", "edge"]),
    "outside of a support that depends on a value": (
        {**WHOLE, "part": 2.5},
        DataError,
        ["'part'", "2.5", "support"],
    ),
    "of one chain": ([WHOLE, {"top": -1.5}, {}, {}], DataError, ["chain 1", "'top'", "-1.5"]),
    "too short a list": ([WHOLE, WHOLE], DataError, ["2 chains", "chain 2"]),
}


@pytest.mark.parametrize(("init", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_start_is_refused_before_a_run_is_begun(density, tmp_path, init, error, words):
    with pytest.raises(error) as caught:
        infer.sample(density, init=init, store=infer.RunFolder(tmp_path / "run"), **RUN)
    assert all(word in str(caught.value) for word in words), caught.value
    assert not (tmp_path / "run").exists()


def test_a_misspelt_option_is_refused():
    with pytest.raises(OptionError, match="Did you mean 'radius'"):
        infer.from_uniform(radus=1.0)


@pytest.mark.parametrize("radius", [-1, np.inf, np.nan, "wide", True])
def test_a_box_without_a_width_is_refused(radius):
    with pytest.raises(OptionError, match="from_uniform: radius"):
        infer.from_uniform(radius)


def test_a_run_without_draws_is_no_start(density, earlier):
    empty = replace(earlier, stats=InMemory({name: array[:, :0] for name, array in earlier.stats.items()}))
    with pytest.raises(OptionError, match="no draw to begin at"):
        infer.sample(density, init=empty, **RUN)


def test_a_prior_without_draws_is_refused_by_the_name_of_its_site():
    @ac.model
    def flat(y):
        slope = ac.sample("slope", dist.ImproperUniform(dist.constraints.real, (), ()))
        ac.sample("y", dist.Normal(slope, 1.0), obs=y)

    for init in (infer.from_prior(), infer.from_median()):
        with pytest.raises(SiteError, match=r"'slope'.*from_values"):
            infer.sample(flat(0.5), init=init, **RUN)


# No finite start


@ac.model
def nowhere(y):
    m = ac.sample("m", dist.Normal(0, 1))
    ac.sample("y", dist.Normal(m, jnp.where(m < 5.0, jnp.nan, 1.0)), obs=y)


EXECUTORS = {
    "serial": dict(executor=infer.Serial()),
    "threads": dict(executor=infer.Threads(2)),
    "lanes": dict(lanes=4),
    "devices": dict(executor=infer.Devices()),
    "processes": dict(executor=infer.Processes(1)),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) if name == "processes" else name for name in EXECUTORS]


@pytest.mark.parametrize("executor", SLOW)
def test_every_executor_refuses_a_model_without_a_finite_start(executor):
    """With a start, the same program draws."""
    options = {**RUN, **EXECUTORS[executor], "draws": 2, "warmup": 0}
    with pytest.raises(InitializationError, match=r"chain 0: no starting point.* in 100 tries") as caught:
        infer.sample(nowhere(0.5), **options)
    assert "'y'" in str(caught.value)
    with pytest.raises(InitializationError, match="only starting point, with the values given by `init=`"):
        infer.sample(nowhere(0.5), init={"m": -1.0}, **options)
    assert infer.sample(nowhere(0.5), init={"m": 9.0}, **options).complete


def test_a_group_goes_on_without_one_of_its_chains():
    lanes = tuple(SimpleNamespace(number=number) for number in (3, 5, 3, 5))  # two repeat others
    begun = Group(lanes, num_kept=2, budget=1)
    for units in (begun, NotBegun((3, 5))):
        assert units.without(3).numbers == (5,)
    assert [chain.number for chain in begun.without(3).chains] == [5] * 4


@pytest.mark.parametrize("executor", ["threads", "lanes"])
def test_a_bad_value_ends_the_chain_whose_value_it_is(executor):
    options = {**RUN, **EXECUTORS[executor], "draws": 2, "warmup": 0}
    good = {"m": 9.0}
    draws = infer.sample(nowhere(0.5), init=[good, {"m": 1.0}, good, good], **options)
    assert draws.chains == (0, 2, 3)
    (notice,) = [each for each in draws.notices if each.code == "chain_failed"]
    assert notice.severity == "error" and "init=" in notice.message and "chain 1" in notice.message
    expected = infer.sample(nowhere(0.5), init=good, **{**options, "chains": [0, 2, 3]})
    np.testing.assert_array_equal(draws["m"], expected["m"])
