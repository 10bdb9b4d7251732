"""Tell which programs are worth another way of compiling."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.traced import equations
from accord.mcmc import compiled
from accord.programs.compiler import is_large_gradient, is_large_step, num_numbers, num_updated

MANY = 2**14


def by_group(rows):
    group = np.arange(rows) % 7
    return lambda x: jnp.sum(x[group] ** 2)


GRADIENTS = {
    "rows by group": (by_group(1000), 7, 1000),
    "rows of one sum": (lambda x: jnp.sum(x**2), MANY, 0),
    "in a loop": (lambda x: jax.lax.fori_loop(0, 3, lambda _, s: s + by_group(100)(x), 0.0), 7, 100),
    "in two sums": (lambda x: by_group(100)(x) + by_group(50)(x**2), 7, 150),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_numbers_that_gradients_add_up_by_group_are_counted(name):
    function, size, expected = GRADIENTS[name]
    traced = jax.make_jaxpr(jax.grad(function))(np.zeros(size))
    assert sum(map(num_updated, equations(traced.jaxpr))) == expected


def of_rows(rows, function=jnp.exp):
    """The gradient of a sum over rows, which computes the more numbers the more rows there are."""
    x = np.linspace(0, 1, rows)
    return jax.make_jaxpr(jax.value_and_grad(lambda p: jnp.sum(function(p[0] + p[1] * x))))(np.zeros(2))


def test_numbers_are_counted_once_for_each_operation():
    @jax.jit
    def doubled(x):
        return x + x

    closed = jax.make_jaxpr(lambda x: doubled(x) * 3.0)(np.zeros(5))
    assert num_numbers(equations(closed.jaxpr)) == 10


@pytest.mark.parametrize(
    ("function", "size", "expected"),
    [(jnp.tanh, 2**18, True), (jnp.tanh, 2**17, False), (jnp.square, 2**18, False)],
)
def test_steps_with_many_elementary_functions_are_large(function, size, expected):
    closed = jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, 9, lambda _, x: function(x), x))(np.zeros(size))
    assert is_large_step(closed, 2**11) == expected


def grouped(rows):
    return jax.make_jaxpr(jax.grad(by_group(rows)))(np.zeros(7))


OF_ROWS = {
    "many rows": (of_rows(2**15), 1, True),
    "few rows, which are one piece of code": (of_rows(2**10), 1, False),
    "several lanes": (of_rows(2**15), 4, False),
    "rows by group": (grouped(2**10), 1, True),
    "few rows by group": (grouped(2**10 - 1), 1, False),
    "many rows by group for several lanes": (grouped(MANY), 4, True),
    "rows by group for several lanes": (grouped(MANY - 1), 4, False),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_gradients_of_many_numbers_are_compiled_for_speed(name):
    gradient, lanes, expected = OF_ROWS[name]
    assert is_large_gradient(gradient, lanes) == expected


@pytest.mark.parametrize(("rows", "expected"), [(2**10, True), (1000, False)])
def test_a_run_compiles_the_program_that_draws_accordingly(rows, expected, monkeypatch):
    @ac.model
    def groups(group, y):
        with ac.plate("group", 7):
            mean = ac.sample("mean", dist.Normal(0, 1))
        with ac.plate("row", len(y)):
            ac.sample("y", dist.Normal(mean[group], 1), obs=y)

    asked, real = [], compiled.compile_lowered

    def compile_lowered(lowered, *, is_large=False):
        asked.append(is_large)
        return real(lowered, is_large=is_large)

    monkeypatch.setattr(compiled, "compile_lowered", compile_lowered)
    group = np.arange(rows) % 7
    draws = infer.sample(groups(group, group / 7), draws=20, warmup=50, chains=1, progress=False, quiet=True)
    assert sorted(asked) == sorted([expected, False])  # the other program turns positions into sites
    np.testing.assert_allclose(draws["mean"].mean((0, 1)), np.arange(7) / 7, atol=0.5)
