"""Test solutions of differential equations against closed forms, and what is left where there is none."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled, each, no_leaks

import accord as ac
import accord.distributions as dist
from accord import ode
from accord.core.errors import AccordError
from accord.core.precision import scope

TIMES = np.array([0.0, 0.3, 0.3, 1.0, 2.5])


def growth(t, y, args):
    rate, capacity = args
    return rate * y * (1 - y / capacity)


def logistic(args, y0=0.1):
    rate, capacity = args
    return capacity / (1 + (capacity / y0 - 1) * jnp.exp(-rate * TIMES))


def two_rooms(t, y, args):
    """A dose is taken up at one rate and leaves at another."""
    absorbed, left = args
    return jnp.stack([-absorbed * y[0], absorbed * y[0] - left * y[1]])


def bateman(args):
    absorbed, left = args
    gut = 5 * jnp.exp(-absorbed * TIMES)
    blood = 5 * absorbed / (absorbed - left) * (jnp.exp(-left * TIMES) - jnp.exp(-absorbed * TIMES))
    return jnp.stack([gut, blood], axis=1)


SYSTEMS = {
    "decay": (lambda t, y, args: -args * y, 2.0, 1.3, lambda args: 2.0 * jnp.exp(-args * TIMES)),
    "growth": (growth, 0.1, (1.7, 3.0), logistic),
    "a dose": (two_rooms, np.array([5.0, 0.0]), (1.9, 0.4), bateman),
    "a tree": (
        lambda t, y, args: {"sine": args * y["cosine"], "cosine": -args * y["sine"]},
        {"sine": 0, "cosine": 1},
        1.5,
        lambda args: {"sine": jnp.sin(args * TIMES), "cosine": jnp.cos(args * TIMES)},
    ),
}


def test_a_solution_is_that_of_the_closed_form() -> None:
    slope, y0, args, exact = SYSTEMS["a dose"]
    with scope("float64"):
        states = compiled(lambda args: ode.solve(slope, y0, 0.0, TIMES, args))(args)
        assert_close(states, compiled(exact)(args), rtol=1e-5, atol=1e-6)


@pytest.mark.slow  # a gradient of a solver takes seconds to compile
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(("slope", "y0", "args", "exact"), SYSTEMS.values(), ids=SYSTEMS)
def test_solutions_and_their_gradients_are_those_of_the_closed_form(slope, y0, args, exact, method) -> None:
    def total(states):
        return sum(jnp.sum(jnp.sin(state)) for state in jax.tree.leaves(states))

    def solved(args):
        states = ode.solve(slope, y0, 0.0, TIMES, args, method=method)
        return total(states), states

    with scope("float64"):
        (_, states), slopes = compiled(jax.value_and_grad(solved, has_aux=True))(args)
        wanted = compiled(exact)(args)
        assert_close(states, wanted, rtol=1e-5, atol=1e-6)
        assert_close(slopes, compiled(jax.grad(lambda args: total(exact(args))))(args), rtol=1e-4, atol=1e-5)


@ac.model
def decay(times, y):
    rate = ac.sample("rate", dist.LogNormal(0.0, 1.0))
    level = ac.deterministic("level", ode.solve(lambda t, y, rate: -rate * y, 2, 0, times, rate))
    with ac.plate("time", len(times)):
        ac.sample("y", dist.Normal(level, 0.1), obs=y)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_solution_has_the_precision_of_the_run(precision) -> None:
    density = ac.LogDensity.from_model(decay(TIMES, TIMES), precision)
    assert {entry.dtype for entry in density.layout.sites} == {precision}


@pytest.mark.slow
def test_a_log_density_with_a_solution_in_it_is_that_of_the_closed_form() -> None:
    density = decay(TIMES, TIMES).log_density()

    def exact(z):
        rate = jnp.exp(z[0])
        prior = dist.LogNormal(0.0, 1.0).log_prob(rate) + z[0]
        return prior + dist.Normal(2 * jnp.exp(-rate * TIMES), 0.1).log_prob(TIMES).sum()

    with no_leaks(), scope("float64"):
        found = compiled(density.value_and_grad)(np.zeros(1))
        assert_close(found, compiled(jax.value_and_grad(exact))(np.zeros(1)), rtol=1e-5)


GIVEN_UP = {
    "too many steps": lambda y0, times: ode.solve(growth, y0, 0.0, times, (1.0, 3.0), max_steps=2),
    "an explosion": lambda y0, times: ode.solve(lambda t, y, _: y**2, 10 + y0, 0.0, times),
    "no number": lambda y0, times: ode.solve(lambda t, y, _: jnp.sqrt(y - 1), y0, 0.0, times),
    "times that decrease": lambda y0, times: ode.solve(growth, y0, 0.0, times[::-1], (1.0, 3.0)),
    "times before the first": lambda y0, times: ode.solve(growth, y0, 1.0, times, (1.0, 3.0)),
}


@each(GIVEN_UP, slow=["no number", "times before the first"])
def test_where_there_is_no_solution_all_states_are_nan_and_nothing_is_raised(solved) -> None:
    with scope("float64"):
        assert np.isnan(compiled(solved)(0.1, TIMES[1:])).all()


@pytest.mark.slow
def test_a_stiff_system_needs_few_implicit_steps() -> None:
    def stiff(t, y, args):
        return -1e5 * (y - jnp.cos(t))

    with scope("float64"):
        good = compiled(lambda y0: ode.solve(stiff, y0, 0.0, TIMES, method="implicit", max_steps=400))(0.0)
        assert_close(good[1:], jnp.cos(TIMES[1:]), rtol=1e-4)
        assert_finite(good)
        assert np.isnan(compiled(lambda y0: ode.solve(stiff, y0, 0.0, TIMES, max_steps=400))(0.0)).all()


def lone(t, y, args):
    return [-y[0], y[0]]


MISTAKES = {
    "times that decrease": (
        lambda: ode.solve(growth, 0.1, 0.0, TIMES[::-1], (1, 1)),
        ["times[1] is 1", "after 2.5"],
    ),
    "before the start": (
        lambda: ode.solve(growth, 0.1, 0.5, TIMES, (1, 1)),
        ["times[0] is 0", "0.5 (t0)", "y0"],
    ),
    "one time": (lambda: ode.solve(growth, 0.1, 0.0, 1.0, (1, 1)), ["shape (n,)", "()"]),
    "a list of slopes": (lambda: ode.solve(lone, np.ones(2), 0.0, TIMES), ["[(), ()]", "(2,)", "jnp.stack"]),
    "a method": (
        lambda: ode.solve(growth, 0.1, 0.0, TIMES, (1, 1), method="stiff"),
        ["'implicit'", "'stiff'"],
    ),
    "no steps": (
        lambda: ode.solve(growth, 0.1, 0.0, TIMES, (1, 1), max_steps=0),
        ["max_steps", "at least 1"],
    ),
    "a misspelt option": (
        lambda: ode.solve(growth, 0.1, 0.0, TIMES, maxsteps=9),
        ["Did you mean 'max_steps'"],
    ),
}


@pytest.mark.parametrize(("call", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_says_what_to_write(call, words) -> None:
    with scope("float64"), pytest.raises(AccordError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_without_diffrax_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "diffrax", None)
    with pytest.raises(AccordError, match=r"pip install \"accord\[ode\]\""):
        ode.solve(growth, 0.1, 0.0, TIMES, (1, 1))
