"""Test solutions of differential equations against closed forms, and what is left where there is none."""

import sys
from contextlib import nullcontext
from typing import Any

import diffrax
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
from accord.core.traced import key_of
from accord.ode import sensitivities

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


def after(numbers):
    """What is left of some amount at times after a start, of which all may move, and one number is closed over."""
    rate, amount, start, shift, unused = numbers
    times = TIMES + 1 + shift
    states = ode.solve(lambda t, y, args: -rate * args * y, amount, start, times, 1.0 + 0 * unused)
    return jnp.sum(jnp.sin(states)), jnp.sum(jnp.sin(amount * jnp.exp(-rate * (times - start))))


@pytest.mark.slow
@pytest.mark.parametrize("max_numbers", [0, 32], ids=["back", "beside"])
def test_derivatives_by_all_that_a_solution_depends_on_are_those_of_the_closed_form(
    monkeypatch, max_numbers
) -> None:
    monkeypatch.setattr(sensitivities, "MAX_NUMBERS", max_numbers)
    numbers = np.array([0.7, 2.0, 0.3, 0.1, 1.0])
    # Going back, diffrax's checkpoints keep tracers alive until the garbage collector has been there.
    with scope("float64"), no_leaks() if max_numbers else nullcontext():
        found, wanted = (compiled(jax.grad(lambda x, i=i: after(x)[i]))(numbers) for i in (0, 1))
        assert_close(found, wanted, rtol=1e-5)


def test_what_begins_later_has_moved_less() -> None:
    def left(start: Any) -> Any:
        return ode.solve(lambda t, y, args: -0.7 * y, 2.0, start, TIMES + 1)

    with scope("float64"):
        states, slopes = compiled(lambda start: jax.jvp(left, (start,), (1.0,)))(0.3)
    assert_close(states, 2.0 * np.exp(-0.7 * (TIMES + 0.7)), rtol=1e-5)
    assert_close(slopes, 1.4 * np.exp(-0.7 * (TIMES + 0.7)), rtol=1e-5)


@pytest.mark.slow
def test_curvature_by_few_numbers_is_that_of_the_closed_form() -> None:
    numbers = np.array([0.7, 2.0, 0.3, 0.1, 1.0])
    with scope("float64"):
        found, wanted = (compiled(jax.hessian(lambda x, i=i: after(x)[i]))(numbers) for i in (0, 1))
        assert_close(found, wanted, rtol=1e-4, atol=1e-6)


def test_steps_do_not_depend_on_whether_derivatives_are_wanted() -> None:
    """So that a log density is the same number with its gradient and without."""
    numbers = np.array([0.7, 2.0, 0.3, 0.1, 1.0])
    with scope("float64"):
        alone = compiled(lambda x: after(x)[0])(numbers)
        beside, _ = compiled(lambda x: jax.jvp(lambda x: after(x)[0], (x,), (x,)))(numbers)
        assert_close(alone, beside, rtol=1e-14)


def test_a_model_is_known_again_by_what_its_equation_computes() -> None:
    with scope("float64"):
        first, again = (key_of(jax.make_jaxpr(lambda x: after(x)[0])(np.ones(5))) for _ in range(2))
        assert first == again


def with_rule(factor):
    """A rate that is what is given, and whose derivative is said to be `factor`."""
    rate = jax.custom_jvp(lambda x: x * 1.0)
    rate.defjvp(lambda given, moves: (rate(*given), factor * moves[0]))
    return rate


def decayed(rate, times=TIMES, y0=2.0):
    return jnp.sum(ode.solve(lambda t, y, _: -rate * y, y0, 0.0, times))


def d_decayed(rate):
    return -np.sum(2 * TIMES * np.exp(-rate * TIMES))


SCALARS = {
    "a number of Python": (1.3, 0.7),
    "one of float32": (np.float32(1.3), np.float32(0.7)),
    "one of each": (np.float32(1.3), 0.7),
}


@each(SCALARS, slow=["one of float32", "one of each"])
def test_numbers_of_any_kind_may_be_differentiated(numbers) -> None:
    """Outside of a program, where JAX hands numbers over as they are."""
    one, other = numbers
    with scope("float64"):
        found = jax.grad(lambda rate: decayed(rate * jnp.asarray(other)))(one)
        np.testing.assert_allclose(found, other * d_decayed(one * other), rtol=1e-5)


@pytest.mark.slow
def test_times_that_are_equal_have_derivatives_of_their_own() -> None:
    times = np.array([0.0, 0.5, 0.5, 2.0])
    with scope("float64"):
        found = compiled(jax.grad(lambda times: decayed(1.3, times)))(times)
        assert_close(found, -1.3 * 2 * np.exp(-1.3 * times), rtol=1e-5)


@pytest.mark.slow
def test_derivatives_are_right_where_states_do_not_move() -> None:
    """Errors of the states are nothing there, whatever the step."""

    def at_rest(x):
        return ode.solve(lambda t, y, x: x[0] - x[1] * y, x[0] / x[1], 0.0, np.array([100.0]), x)[0]

    def empty(x):
        return ode.solve(
            lambda t, y, x: jnp.stack([-0.1 * y[0], x * y[0] - 50 * y[1]]),
            np.array([1.0, 0.0]),
            0.0,
            np.array([20.0]),
            x,
        )[0, 1]

    with scope("float64"):
        assert_close(compiled(jax.grad(at_rest))(np.array([6.0, 3.0])), [1 / 3, -2 / 3], rtol=1e-4)
        assert_close(compiled(jax.grad(empty))(0.0), np.exp(-2.0) / 49.9, rtol=1e-3)


@pytest.mark.slow
def test_states_that_are_known_do_not_count_as_unknown_numbers() -> None:
    def total(rate):
        return jnp.sum(ode.solve(lambda t, y, rate: -rate * y, np.ones(40), 0.0, TIMES, rate))

    with scope("float64"):
        _, moved = compiled(lambda x: jax.jvp(total, (x,), (1.0,)))(1.3)
        assert_close(moved, 20 * d_decayed(1.3), rtol=1e-5)


def test_arguments_may_hold_what_is_no_array() -> None:
    def slope(t, y, args):
        assert args["kind"] == "decay"
        return args["of"](-args["rate"] * y)

    with scope("float64"):
        found = ode.solve(slope, 2.0, 0.0, TIMES, {"of": jnp.tanh, "kind": "decay", "rate": 1.3})
        assert_finite(found)


@pytest.mark.slow
def test_a_slope_with_a_rule_for_going_back_alone_has_that_gradient() -> None:
    double = jax.custom_vjp(lambda x: 2 * x)
    double.defvjp(lambda x: (2 * x, None), lambda _, pulled: (2 * pulled,))

    def total(rate):
        return jnp.sum(ode.solve(lambda t, y, rate: -double(rate) * y, 2.0, 0.0, TIMES, rate))

    with scope("float64"):
        assert_close(compiled(jax.grad(total))(0.4), -np.sum(4 * TIMES * np.exp(-0.8 * TIMES)), rtol=1e-5)


def test_equations_that_differ_in_a_rule_for_derivatives_alone_are_told_apart() -> None:
    def total(args, rate):
        return jnp.sum(ode.solve(lambda t, y, args: -rate(args) * y, 2.0, 0.0, TIMES, args))

    with scope("float64"):
        one, three = (
            compiled(lambda x, f=f: jax.jvp(lambda x: total(x, with_rule(f)), (x,), (x,)))(1.3)[1]
            for f in (1, 3)
        )
        assert_close(three, 3 * one, rtol=1e-6)


def test_an_equation_that_is_written_again_is_not_traced_again() -> None:
    traced = []

    class Counted(diffrax.Tsit5):
        """Its steps are functions of Python, which are called as often as diffrax traces them."""

        def step(self, *state):
            traced.append(state)
            return super().step(*state)

    def written(rate):
        return ode.solve(lambda t, y, rate: -rate * y + 0.125, 2.0, 0.0, TIMES, rate, method=Counted())

    with scope("float64"):
        # Functions of their own: JAX keeps what it has traced of one.
        jax.eval_shape(lambda rate: written(rate), 1.3)
        count = len(traced)
        jax.eval_shape(lambda rate: written(rate), 0.4)
    assert count and len(traced) == count


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
        ["times[1] is 1", "below the preceding 2.5"],
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
