"""Hold that matrices are stored by columns where only vectors are multiplied by them, for the same gradients."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun
from laws import assert_close

import accord as ac
import accord.distributions as dist
from accord import LogDensity, infer
from accord.core.precision import scope
from accord.core.traced import equations
from accord.density.tall import LEAST_RATIO, ByColumns

RNG = np.random.default_rng(0)
ROWS, COLUMNS = 60, 3
X = RNG.normal(size=(ROWS, COLUMNS))
Y = X @ np.array([0.5, -1.0, 2.0]) + RNG.normal(size=ROWS)
Predictor = Callable[[Any, Any], Any]

BY_COLUMNS: dict[str, Predictor] = {
    "on the left": lambda x, b: x @ b,
    "on the right": lambda x, b: jnp.einsum("j,ij->i", b, x),
    "in a function that is called": jax.jit(lambda x, b: 2 * (x @ b)),
    "twice": lambda x, b: x @ b + jnp.tanh(x @ (b + 1)),
}
BY_ROWS: dict[str, Predictor] = {
    "not at all": lambda x, b: jnp.broadcast_to(b[0], x.shape[:1]),
    "less its mean": lambda x, b: (x - x.mean(0)) @ b,
    "and a column of it": lambda x, b: x[:, 0] * b[0] + x @ b,
    "by a matrix": lambda x, b: (x @ jnp.stack([b, b**2], 1)).sum(1),
    "of its exponentials": lambda x, b: jnp.exp(x) @ b,
    "in a loop": lambda x, b: jax.lax.scan(lambda eta, _: (eta + x @ b, None), jnp.zeros(ROWS), length=2)[0],
    "twice if it pays": lambda x, b: jax.checkpoint(lambda b: x @ b)(b),
}
MATRICES: dict[str, Any] = {
    "floats": X,
    "float32": X.astype("float32"),
    "whole numbers": (10 * X).astype(int),
    "small whole numbers": (10 * X).astype("int8"),
    "bools": X > 0,
}


@ac.model
def regression(x: Any, y: Any, predictor: Predictor) -> None:
    with ac.plate("column", x.shape[1]):
        b = ac.sample("b", dist.Normal(0, 1))
    with ac.plate("row", x.shape[0]):
        eta = ac.deterministic("eta", predictor(x, b))
        ac.sample("y", dist.StudentT(4, eta, 1.0), obs=y)


def traced(density: LogDensity) -> Any:
    def evaluate(data: Any, position: Any) -> Any:
        return density.with_data(data).value_and_grad(position)

    return jax.make_jaxpr(evaluate)(density.data, np.zeros(density.dim))


def found(density: LogDensity) -> set[str]:
    columns = ByColumns.of(traced(density), density.data)
    return {columns.names[number] for number in columns.data}


def check_gradient(density: LogDensity) -> None:
    closed, position = traced(density), np.linspace(-1, 1, density.dim)
    columns = ByColumns.of(closed, density.data)
    stored = columns.stored(density.data)
    assert {n: (v.shape, v.dtype) for n, v in stored.items()} == {
        n: (v.shape, v.dtype) for n, v in columns.shapes(density.data).items()
    }
    program = columns.in_gradient(closed)
    assert "transpose" not in {each.primitive.name for each in equations(program.jaxpr)}
    results = jaxpr_as_fun(program)(*jax.tree.leaves(stored), position)
    for result, expected in zip(results, density.value_and_grad(position), strict=True):
        assert_close(result, expected, rtol=1e-13)


@pytest.mark.parametrize("name", BY_COLUMNS)
def test_a_tall_matrix_that_multiplies_vectors_is_stored_by_columns(name: str) -> None:
    with scope("float64"):
        density = LogDensity.from_model(regression(X, Y, BY_COLUMNS[name]))
        assert found(density) == {"x"}
        check_gradient(density)


@pytest.mark.parametrize("name", BY_ROWS)
def test_a_matrix_that_is_used_otherwise_stays_as_it_is(name: str) -> None:
    with scope("float64"):
        assert not found(LogDensity.from_model(regression(X, Y, BY_ROWS[name])))


@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_of_any_numbers_is_stored_as_it_is_multiplied(name: str) -> None:
    with scope("float64"):
        density = LogDensity.from_model(regression(MATRICES[name], Y, BY_COLUMNS["on the left"]))
        assert found(density) == {"x"}
        columns = ByColumns.of(traced(density), density.data)
        assert columns.shapes(density.data)["x"].dtype == np.float64
        check_gradient(density)


@pytest.mark.parametrize(("rows", "is_tall"), [(LEAST_RATIO * 3, True), (LEAST_RATIO * 3 - 1, False)])
def test_a_matrix_is_tall_with_some_rows_for_each_column(rows: int, is_tall: bool) -> None:
    with scope("float64"):
        density = LogDensity.from_model(regression(X[:rows], Y[:rows], BY_COLUMNS["on the left"]))
        assert bool(found(density)) == is_tall


def test_a_matrix_that_a_function_closes_over_is_stored_by_columns_too() -> None:
    with scope("float64"):
        density = LogDensity.from_function(lambda b: -jnp.sum((Y - X @ b) ** 2), np.zeros(COLUMNS))
        closed = traced(density)
        columns = ByColumns.of(closed, density.data)
        program, position = columns.in_gradient(closed), np.arange(3.0)
        assert (COLUMNS, ROWS) in {np.shape(value) for value in program.consts}
        for result, expected in zip(
            jaxpr_as_fun(program)(position), density.value_and_grad(position), strict=True
        ):
            assert_close(result, expected, rtol=1e-13)


def test_other_programs_of_the_data_get_rows_where_they_need_them() -> None:
    """Sites are computed from the stored data: products, sums and single numbers of the matrix."""

    def sites(data: Any, b: Any) -> Any:
        x = data["x"]
        return {"eta": x @ b, "mean": x.mean(0), "first": x[0], "x": x, "product": x.T @ x}

    with scope("float64"):
        density = LogDensity.from_model(regression(X, Y, BY_COLUMNS["on the left"]))
        columns = ByColumns.of(traced(density), density.data)
        closed = columns.in_program(jax.make_jaxpr(sites)(density.data, np.zeros(COLUMNS)))
        results = jaxpr_as_fun(closed)(*jax.tree.leaves(columns.stored(density.data)), np.ones(COLUMNS))
        for result, expected in zip(
            results, jax.tree.leaves(sites(density.data, np.ones(COLUMNS))), strict=True
        ):
            assert_close(result, expected, rtol=1e-13)


OTHERS: dict[str, tuple[str, Callable[[Any, Any], Any], bool]] = {
    "floats in any way": ("floats", lambda x, b: x.sum(), True),
    "bools as such": ("bools", lambda x, b: x.any(0), False),
    "whole numbers that are converted": ("whole numbers", lambda x, b: x @ b, True),
    "whole numbers not at all": ("whole numbers", lambda x, b: b.sum(), True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_converted_for_the_gradient_stays_if_sites_need_it_as_it_was(name: str) -> None:
    kind, use, is_stored = OTHERS[name]
    with scope("float64"):
        density = LogDensity.from_model(regression(MATRICES[kind], Y, BY_COLUMNS["on the left"]))
        sites = jax.make_jaxpr(lambda data, b: use(data["x"], b))(density.data, np.zeros(COLUMNS))
        assert bool(ByColumns.of(traced(density), density.data, sites).data) == is_stored


@pytest.mark.parametrize("name", ["on the left", "and a column of it"])
def test_deterministic_sites_of_a_run_are_those_of_the_model(name: str) -> None:
    predictor = (BY_COLUMNS | BY_ROWS)[name]
    run = dict(draws=30, warmup=50, chains=2, progress=False, quiet=True)
    draws = infer.sample(regression(X, Y, predictor), **run)
    with scope("float64"):
        eta = np.array([[predictor(X, b) for b in chain] for chain in draws["b"]])
        assert_close(draws["eta"], eta, rtol=1e-12, atol=1e-12)
        density = LogDensity.from_model(regression(X, Y, predictor))
        expected = np.array([[density(b) for b in chain] for chain in draws["b"]])
        assert_close(draws.stats["lp"], expected, rtol=1e-12)
