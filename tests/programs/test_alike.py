"""Hold that operations which a model repeats for each of its sites are computed together, and give what they gave."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import accord as ac
import accord.distributions as dist
from accord import LogDensity, infer
from accord.core.precision import scope
from accord.density.recorded import recorded
from accord.programs.alike import gradient_of_merged, merged
from accord.programs.alike.bundles import bundled, unbundled
from accord.programs.compiler import compile_lowered

Y = np.random.default_rng(0).standard_normal(200)


@ac.model
def independent(num: int) -> None:
    for i in range(num):
        ac.sample(f"x{i}", dist.Normal(0, 1))


@ac.model
def hierarchy(num: int, y: Any, error: Any) -> None:
    mean = ac.sample("mean", dist.Normal(0, 5))
    scale = ac.sample("scale", dist.HalfCauchy(5))
    for i in range(num):
        effect = ac.sample(f"effect{i}", dist.Normal(mean, scale))
        ac.sample(f"y{i}", dist.Normal(effect, error[i]), obs=y[i])


@ac.model
def chain(num: int, y: Any) -> None:
    x = 0.0
    for i in range(num):
        x = ac.sample(f"x{i}", dist.Normal(0.9 * x, 1 + 0.1 * i))
        # Of a density without a derivative rule of its own: with one, gradients are merged only as a whole.
        rate = ac.sample(f"rate{i}", dist.LogNormal(0.1 * i, 0.5))
        three = ac.sample(f"three{i}", dist.Normal(jnp.zeros(3), rate).to_event(1))
        ac.sample(f"y{i}", dist.Normal(three.sum() + x, 1.0), obs=y[i])


@ac.model
def carried(num: int, y: Any) -> None:
    """Every step begins where the last one ended, so that no two of them are alike."""
    state = jnp.zeros(())
    for i in range(num):
        noise = ac.sample(f"noise{i}", dist.Normal(0, 1))
        state = ac.deterministic(f"state{i}", jnp.tanh(state) + noise)
        ac.sample(f"y{i}", dist.Normal(state, 1.0), obs=y[i])


@ac.model
def entries(num: int, y: Any) -> None:
    with ac.plate("row", num):
        x = ac.sample("x", dist.Normal(0, 1))
    for i in range(num):
        ac.sample(f"y{i}", dist.Normal(x[num - 1 - i], 1), obs=y[i])


MODELS: dict[str, Callable[[int], ac.Model]] = {
    "independent": lambda num: independent(num),
    "hierarchy": lambda num: hierarchy(num, Y[:num], np.exp(Y[:num])),
    "chain": lambda num: chain(num // 2, Y[: num // 2]),
    "carried": lambda num: carried(num, Y[:num]),
    "entries": lambda num: entries(num, Y[:num]),
}
FEW = 18  # sites, so that sums are long
MANY = 60  # sites, so that a position is split


def traced(model: ac.Model, *, of_sites: bool = False) -> tuple[Any, list[Any]]:
    """The gradient of a model, or what a draw holds, with its arguments."""
    density = LogDensity.from_model(model)
    position = np.random.default_rng(1).standard_normal(density.dim)

    def evaluate(data: Any, position: Any) -> Any:
        return density.with_data(data).value_and_grad(position)

    def record(data: Any, position: Any) -> Any:
        values, parts = recorded(density.with_data(data), position, jnp.zeros(()))
        return bundled(values)[0], parts

    with scope("float64"):
        closed = jax.make_jaxpr(record if of_sites else evaluate)(density.data, position)
    return closed, jax.tree.leaves((density.data, position))


def results(closed: Any, arguments: list[Any]) -> list[Any]:
    return compile_lowered(jax.jit(jaxpr_as_fun(closed)).lower(*arguments))(*arguments)


def assert_same(closed: Any, others: list[Any], arguments: list[Any]) -> None:
    expected = results(closed, arguments)
    for other in others:
        for one, found in zip(expected, results(other, arguments), strict=True):
            np.testing.assert_allclose(found, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_a_merged_gradient_is_the_gradient(name: str) -> None:
    """Merged as a whole, or before it is taken."""
    closed, arguments = traced(MODELS[name](FEW))
    density = LogDensity.from_model(MODELS[name](FEW))

    def value(data: Any, position: Any) -> Any:
        return density.with_data(data)(position)

    with scope("float64"):
        before, whole = gradient_of_merged(value, density.data, arguments[-1]), merged(closed, 1)
        assert before is not None
        assert max(len(each.jaxpr.eqns) for each in (before, whole)) < len(closed.jaxpr.eqns)
        assert_same(closed, [before, whole], arguments)


@pytest.mark.parametrize("name", ["independent", "chain"])
def test_merged_sites_are_the_sites(name: str) -> None:
    closed, arguments = traced(MODELS[name](FEW), of_sites=True)
    with scope("float64"):
        assert_same(closed, [merged(closed, 1)], arguments)


@pytest.mark.parametrize("name", ["independent", "hierarchy"])
def test_sites_that_are_alike_cost_no_operation_each(name: str) -> None:
    """XLA took 10 ms to compile those of one site."""
    counts = []
    for num in (MANY, MANY + 10):
        closed, _ = traced(MODELS[name](num))
        with scope("float64"):
            counts.append(len(merged(closed, 1).jaxpr.eqns))
    assert counts[0] == counts[1] < 400


def test_derivative_rules_of_a_log_density_are_kept() -> None:
    """One in it would be lost, so JAX takes the gradient as usual."""

    @jax.custom_jvp
    def tripled(x: Any) -> Any:
        return x

    tripled.defjvp(lambda primals, tangents: (primals[0], 3 * tangents[0]))
    assert gradient_of_merged(lambda data, x: tripled(x[0]) + data, 1.0, np.zeros(2)) is None
    assert gradient_of_merged(lambda data, x: x[0] + data, 1.0, np.zeros(2)) is not None


def test_short_programs_stay_as_they_are() -> None:
    """So that models have the bits that they had."""
    closed, _ = traced(independent(20))
    assert merged(closed) is closed


def test_programs_with_effects_stay_as_they_are() -> None:
    def speaks(x: Any) -> Any:
        jax.debug.print("{}", x[0])
        return sum((x[i] * x[i] for i in range(20)), start=x[0])

    closed = jax.make_jaxpr(speaks)(np.zeros(20))
    assert merged(closed, 1) is closed


def test_sites_of_a_long_model_are_recorded_each_under_its_name() -> None:
    draws = infer.sample(hierarchy(70, Y[:70], np.ones(70)), draws=5, warmup=5, chains=1, quiet=True)
    names = ["mean", "scale", *(f"effect{i}" for i in range(70))]
    assert list(draws.sites) == names
    density = hierarchy(70, Y[:70], np.ones(70)).log_density()
    last = {name: draws[name][0, -1] for name in names}
    assert float(density(density.unconstrain(last))) == pytest.approx(draws.stats["lp"][0, -1], rel=1e-10)


def test_bundles_are_taken_apart_again() -> None:
    values = {f"a{i}": np.full(2, i) for i in range(40)} | {f"b{i}": np.float32(i) for i in range(40)}
    stacks, bundles = bundled(values)
    assert len(stacks) == 2
    rows = {f"site/{name}": np.asarray(stack)[None] for name, stack in stacks.items()} | {
        "stat/lp": np.ones(1)
    }
    found = unbundled(rows, bundles, "site/")
    assert set(found) == {"stat/lp", *(f"site/{name}" for name in values)}
    for name, value in values.items():
        np.testing.assert_array_equal(found[f"site/{name}"][0], value)


def calls_of(function: Callable[[], Any]) -> int:
    """The number of calls of functions in accord while `function` runs."""
    count = 0
    here = str(Path(ac.__file__).parent)

    def note(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(here)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_calls_of_python_grow_at_most_with_the_number_of_sites() -> None:
    """From the model to the programs that are given to XLA."""

    def prepare(num: int) -> None:
        closed, _ = traced(MODELS["hierarchy"](num))
        with scope("float64"):
            merged(closed, 1)

    prepare(5)  # imports, and what is kept
    few, many = calls_of(lambda: prepare(100)), calls_of(lambda: prepare(200))
    assert many < 2.05 * few
