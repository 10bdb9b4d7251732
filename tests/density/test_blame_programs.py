"""Check that every kind of density can be blamed, and that the search ends."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord.density import LogDensity, blame, flat, sharded
from accord.density.blaming import origin
from accord.density.rows.blocks import mesh_of

ROWS = np.arange(40.0)


@ac.model
def rows(y, chunk=None):
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    with ac.plate("row", y.shape[0], chunk=chunk):
        ac.sample("y", dist.Normal(jnp.where(x > 0.0, jnp.sqrt(x), 0.0), 1.0), obs=y)


@ac.model
def many_terms(count):
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    for number in range(count):
        ac.factor(f"f{number}", jnp.where(x > 0.0, jnp.sqrt(x), 0.0) if number in (5, 17) else -(x**2))


@ac.model
def long_loop(length):
    x = ac.sample("x", dist.Normal(0.0, 1.0))

    def turn(total, number):
        return total + jnp.log(jax.lax.stop_gradient(x) + length - 1.5 - number), None

    ac.factor("f", jax.lax.scan(turn, x, jnp.arange(float(length)))[0])


def of_tree(tree):
    return -jnp.sum(tree["a"] ** 2) + jnp.sum(jnp.sqrt(tree["b"]))


DENSITIES = {
    "whole": lambda: LogDensity.from_model(rows(ROWS)),
    "in chunks": lambda: LogDensity.from_model(rows(ROWS, chunk=3)),
    "on devices": lambda: sharded(
        LogDensity.from_model(rows(ROWS)), mesh_of(jax.local_devices()[:1]), {"y": 0}
    ),
}


@pytest.mark.parametrize("kind", DENSITIES)
def test_a_density_that_is_summed_over_rows_is_blamed_as_a_whole(kind):
    found = blame(DENSITIES[kind](), np.array([-1.0]))
    assert found.cause == "where" and found.sites == ("x", "y")
    assert found.terms["y"] == pytest.approx(-0.5 * np.sum(ROWS**2) - 20 * np.log(2 * np.pi))


def test_a_function_is_blamed_by_the_leaves_of_its_tree():
    density = LogDensity.from_function(of_tree, {"a": 0.0, "b": np.ones(3)})
    found = blame(density, np.array([1.0, 1.0, 0.0, 2.0]))
    (derivative,) = found.bad_derivatives
    assert (derivative.site, derivative.indices) == ("b", ((1,),))
    assert found.operation is not None and "jnp.sqrt" in found.operation.line
    found = blame(density, np.array([1.0, 1.0, -2.0, 2.0]))
    assert found.cause == "undefined" and "the function returns nan" in str(found)


def test_two_terms_among_many_are_found():
    found = blame(LogDensity.from_model(many_terms(20)), np.array([-1.0]))
    assert found.bad_derivatives[0].through == ("f5", "f17")


def test_a_long_loop_is_cut_off_and_said_to_be(monkeypatch):
    density = LogDensity.from_model(long_loop(30))
    found = blame(density, np.zeros(1))
    assert found.operation is not None and found.operation.step == (29,)
    monkeypatch.setattr(origin, "MAX_TURNS", 10)
    found = blame(density, np.zeros(1))
    assert found.operation is None and "first 10 turns" in str(found) and found.sites == ("f",)


def test_a_program_that_is_too_long_is_not_searched_and_said_not_to_be(monkeypatch):
    monkeypatch.setattr(flat, "MAX_STEPS", 3)
    found = blame(LogDensity.from_model(rows(ROWS)), np.array([-1.0]))
    assert found.operation is None and "they were not looked at one by one" in str(found)
    assert found.bad_derivatives[0].through == ("y",)


def test_operations_done_one_by_one_find_the_same():
    """Evaluate the operations of a program with a million numbers one by one; it is not compiled as a whole."""
    few, many = (blame(LogDensity.from_model(rows(np.zeros(size))), np.array([-1.0])) for size in (40, 10**6))
    assert few.cause == many.cause == "where"
    # But for the log density, which is in the first line.
    assert str(many).splitlines()[1:] == str(few).splitlines()[1:]


def test_nothing_of_the_search_is_left_behind():
    density = LogDensity.from_model(rows(ROWS))
    with jax.checking_leaks():
        blame(density, np.array([-1.0]))
