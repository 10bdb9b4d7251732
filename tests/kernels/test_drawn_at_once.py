"""Draw discrete sites at once where tables say how: which ones, beside others, and in kernels that hold others."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equal_draws import equal
from scipy import stats
from test_discrete_gibbs import factorial_chain, ring, tree, uniform_count

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.position import Position
from accord.core.precision import scope
from accord.density import LogDensity
from accord.kernels import AbstractKernel
from accord.mcmc.placed import placed

OPTIONS: dict[str, Any] = dict(draws=200, warmup=100, chains=2, seed=4, progress=False, quiet=True)
Y = np.array([0.2, 1.9, 3.1, 0.7])


@ac.model
def labels(y: Any, size: int = 3) -> None:
    """Labels in a plate, beside a mean."""
    mu = ac.sample("mu", dist.Normal(0, 1))
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Categorical(np.full(size, 1 / size)))
        ac.sample("y", dist.Normal(mu + z, 1.0), obs=y)


@ac.model
def beside_a_count(y: Any) -> None:
    n = ac.sample("n", dist.Poisson(3.0))
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(1.5 * z + 0.5 * n, 1.0), obs=y)


@ac.model
def beside_many(y: Any) -> None:
    many = sum(ac.sample(f"k{i}", dist.Bernoulli(0.5)) for i in range(8))
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(1.0 * z + many, 1.0), obs=y)


@ac.model
def crossed(y: Any) -> None:
    with ac.plate("row", y.shape[0], dim=-2):
        z = ac.sample("z", dist.Bernoulli(0.4))
    with ac.plate("column", y.shape[1], dim=-1):
        w = ac.sample("w", dist.Bernoulli(0.4))
        with ac.plate("row", y.shape[0], dim=-2):
            ac.sample("y", dist.Normal(z - 1.0 * w, 1.0), obs=y)


@ac.model
def steps(y: Any) -> None:
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Bernoulli(0.3))
        ac.sample("y", dist.Normal(jnp.cumsum(z), 1.0), obs=y)


@ac.model
def tied() -> None:
    """Three sites of ten values, whose table is of a thousand."""
    many = dist.Categorical(np.full(10, 0.1))
    total = sum(ac.sample(name, many) for name in "abc")
    ac.sample("y", dist.Normal(total, 1.0), obs=7.0)


@ac.model
def called(y: Any) -> None:
    """A likelihood by a library, which is called for one assignment at a time."""
    with ac.plate("row", len(y)):
        z = ac.sample("z", dist.Bernoulli(0.3))
    like = jax.ShapeDtypeStruct((), jnp.result_type(float))
    ac.factor("f", jax.pure_callback(lambda z: np.asarray(-0.5 * np.sum((y - z) ** 2)), like, z))


SETS: dict[str, tuple[Any, AbstractKernel, list[tuple[str, ...]]]] = {
    "labels": (labels(Y), infer.Gibbs({"z": infer.DiscreteGibbs(), ...: infer.NUTS()}), [("z",)]),
    "a tree": (tree(Y[:3]), infer.DiscreteGibbs(), [("c", "z")]),
    "two chains": (
        factorial_chain(np.array([1, 0, 1])), infer.DiscreteGibbs(), [("w0", "x0", "w1", "x1", "w2", "x2")]
    ),
    "many sites": (factorial_chain(np.ones(5, int)), infer.DiscreteGibbs(), []),
    "labels beside many sites": (beside_many(Y), infer.DiscreteGibbs(), [("z",)]),
    "labels beside a count": (beside_a_count(Y), infer.DiscreteGibbs(), [("z",)]),
    "rows and columns": (crossed(np.zeros((6, 7))), infer.DiscreteGibbs(), [("z",), ("w",)]),
    "rows and columns in blocks": (
        crossed(np.zeros((6, 7))),
        infer.Mixture({
            infer.Gibbs({"z": infer.DiscreteGibbs(), "w": infer.DiscreteGibbs()}): 0.5, infer.DiscreteGibbs(): 0.5
        }),
        [("z",), ("w",), ("z",), ("w",)],
    ),
    "repeated": (tree(Y[:3]), infer.Repeat(infer.DiscreteGibbs(), 2), [("c", "z")]),
    "one entry": (uniform_count(4.0), infer.DiscreteGibbs(), []),
    "a ring, in one event": (ring(), infer.DiscreteGibbs(), []),
    "a cumulative sum": (steps(Y), infer.DiscreteGibbs(), []),
    "a table that is larger": (tied(), infer.DiscreteGibbs(), []),
    "a call of Python": (called(Y), infer.DiscreteGibbs(), []),
    "replicas": (tree(Y[:3]), infer.Tempered(infer.DiscreteGibbs(), temperatures=2), []),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_sites_are_drawn_at_once_where_that_is_less_work(name: str) -> None:
    model, sampler, sets = SETS[name]
    found = placed(sampler, LogDensity.from_model(model, whole_if_discrete=sampler.whole_if_discrete))
    assert [each.names for each in found.formulas] == sets


def exact_beside_a_count() -> dict[str, Any]:
    total, means = 0.0, np.zeros(1 + len(Y))
    for n, z in itertools.product(range(60), itertools.product([0, 1], repeat=len(Y))):
        log_density = stats.poisson.logpmf(n, 3.0) + stats.bernoulli.logpmf(z, 0.3).sum()
        weight = np.exp(log_density + stats.norm.logpdf(Y, 1.5 * np.array(z) + 0.5 * n, 1.0).sum())
        total, means = total + weight, means + weight * np.array([n, *z])
    return {"n": means[0] / total, "z": means[1:] / total}


def exact_crossed(y: np.ndarray) -> dict[str, Any]:
    total, (rows, columns) = 0.0, y.shape
    means = np.zeros(rows + columns)
    for each in itertools.product([0, 1], repeat=rows + columns):
        z, w = np.array(each[:rows]), np.array(each[rows:])
        log_density = stats.bernoulli.logpmf(each, 0.4).sum()
        weight = np.exp(log_density + stats.norm.logpdf(y, z[:, None] - 1.0 * w, 1.0).sum())
        total, means = total + weight, means + weight * np.array(each)
    return {"z": means[:rows, None] / total, "w": means[rows:] / total}


CELLS = np.array([[0.3, 1.5, -1.0], [-0.6, 0.2, 0.9], [1.1, -0.4, 0.0]])
KNOWN: dict[str, tuple[Any, AbstractKernel, Any]] = {
    "beside a count": (beside_a_count(Y), infer.DiscreteGibbs(), exact_beside_a_count()),
    "plain": (beside_a_count(Y), infer.DiscreteGibbs(is_metropolised=False), exact_beside_a_count()),
    "rows and columns": (crossed(CELLS), infer.DiscreteGibbs(), exact_crossed(CELLS)),
    "a mixture": (
        crossed(CELLS),
        infer.Mixture({
            infer.Repeat(infer.DiscreteGibbs(), 2): 0.5,
            infer.Gibbs({"w": infer.DiscreteGibbs(), "z": infer.DiscreteGibbs()}): 0.5,
        }),
        exact_crossed(CELLS),
    ),
    "replicas": (crossed(CELLS), infer.Tempered(infer.DiscreteGibbs(), temperatures=3), exact_crossed(CELLS)),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [each if each == "beside a count" else pytest.param(each, marks=pytest.mark.slow) for each in KNOWN],
)
def test_means_are_those_of_all_values(name: str) -> None:
    """Means are within six of their errors at a fixed seed: 28 of them, a false alarm of 2e-9 each."""
    model, sampler, exact = KNOWN[name]
    draws = infer.sample(model, sampler, **(OPTIONS | dict(draws=4000, chains=4)))
    for site, mean in exact.items():
        error = np.reshape(draws.summary(site)["mcse_mean"], np.shape(mean))
        assert np.all(error < 0.1)
        assert np.all(np.abs(draws[site].mean((0, 1)) - mean) < 6 * error), site


def test_a_thousand_labels_take_one_evaluation() -> None:
    from accord.storage import Memory

    store = Memory()
    y = np.random.default_rng(3).normal(1.0, 1.5, 1000)
    sampler = infer.Gibbs({"z": infer.DiscreteGibbs(), "mu": infer.RandomWalk()})
    draws = infer.sample(labels(y), sampler, store=store, **(OPTIONS | dict(draws=50, warmup=50)))
    rate = draws.stats["z.acceptance_rate"]
    moved = np.mean(draws["z"][:, 1:] != draws["z"][:, :-1], axis=2)
    np.testing.assert_allclose(rate[:, 1:], moved, atol=1e-12)
    assert 0.3 < rate.mean() < 0.9


RUN = (labels(Y), infer.Gibbs({"z": infer.DiscreteGibbs(), ...: infer.NUTS()}))


def test_a_run_is_the_same_in_threads_and_when_it_is_resumed_and_extended(tmp_path: Any) -> None:
    model, sampler = RUN
    whole = infer.sample(model, sampler, executor=infer.Serial(), **OPTIONS)
    equal(infer.sample(model, sampler, executor=infer.Threads(2), **OPTIONS), whole)
    infer.sample(model, sampler, store=infer.RunFolder(tmp_path / "run"), **(OPTIONS | dict(draws=70)))
    equal(infer.resume(tmp_path / "run", model, quiet=True).extend(130), whole)


@pytest.mark.slow
def test_a_run_is_the_same_in_processes() -> None:
    model, sampler = RUN
    whole = infer.sample(model, sampler, executor=infer.Serial(), **OPTIONS)
    equal(infer.sample(model, sampler, executor=infer.Processes(2), **OPTIONS), whole)


@pytest.mark.slow
def test_chains_in_lanes_draw_the_same_each_by_itself() -> None:
    model, sampler = beside_a_count(Y), infer.DiscreteGibbs()
    both = infer.sample(model, sampler, lanes=2, **(OPTIONS | dict(chains=2)))
    alone = infer.sample(model, sampler, lanes=2, **(OPTIONS | dict(chains=[1])))
    for name in ("n", "z"):
        np.testing.assert_array_equal(both[name][1], alone[name][0])


@ac.model
def grouped(item: Any, y: Any) -> None:
    with ac.plate("group", 4):
        z = ac.sample("z", dist.Bernoulli(0.4))
    with ac.plate("row", len(y)):
        ac.sample("y", dist.Normal(9.0 * z[item], 0.3), obs=y)


def test_other_data_have_tables_of_their_own() -> None:
    """An index that takes other entries makes other tables, though the plan of the first data is known."""
    y = np.array([0.0, 9.0, 0.0, 9.0])
    density = LogDensity.from_model(grouped(np.arange(4), y), whole_if_discrete=...)
    for item, z in ((np.arange(4), [0, 1, 0, 1]), (np.array([1, 0, 3, 2]), [1, 0, 1, 0])):
        other = density.with_data({"item": item})
        (tables,) = placed(infer.DiscreteGibbs(), other).formulas
        at = Position(jnp.zeros(0), jnp.zeros(4, jnp.int32))
        with scope("float64"):
            drawn = tables.redraw.drawn(other, at, jnp.array([1, 2], jnp.uint32), is_metropolised=False)
        np.testing.assert_array_equal(drawn.whole, z)


def test_data_that_are_observed_find_the_plan_of_others() -> None:
    density = LogDensity.from_model(labels(Y), whole_if_discrete=["z"])
    sampler = RUN[1]
    first, second = (placed(sampler, density.with_data({"y": y})).formulas[0] for y in (Y, -Y))
    assert first.redraw is second.redraw
