"""Hold that a traced function computes nothing twice, and that results stay the same."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from laws import each

from accord.core.traced import equations
from accord.programs.repeats import without_repeats

X, N = np.linspace(0.1, 0.9, 3), np.int32(4)


def rounds(n: Any, x: Any, by: float = 0.5) -> Any:
    return jax.lax.fori_loop(0, n, lambda _, y: jnp.sin(y) + by, x)


def equal_loops(n: Any, x: Any) -> Any:
    return rounds(n, x) * jnp.exp(rounds(n, x))


def what_follows_from_equal_loops(n: Any, x: Any) -> Any:
    return rounds(n, rounds(n, x)) - 2.0 * rounds(n, rounds(n, x))


def loops_in_a_loop(n: Any, x: Any) -> Any:
    return jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, equal_loops(n, c[1])), (0, x))[1]


def results_that_are_equal(n: Any, x: Any) -> Any:
    return jnp.stack([rounds(n, x), rounds(n, x)])


def loops_of_other_numbers(n: Any, x: Any) -> Any:
    return rounds(n, x) + rounds(n, 2.0 * x)


def loops_of_other_steps(n: Any, x: Any) -> Any:
    return rounds(n, x) + rounds(n, x, 0.25)


LOOPS = {
    "equal loops": (equal_loops, 1),
    "what follows from equal loops": (what_follows_from_equal_loops, 2),
    "loops in a loop": (loops_in_a_loop, 2),
    "results that are equal": (results_that_are_equal, 1),
    "loops of other numbers": (loops_of_other_numbers, 2),
    "loops of other steps": (loops_of_other_steps, 2),
}


@each(LOOPS)
def test_equal_loops_are_left_once_and_results_stay_the_same(case: tuple[Any, int]) -> None:
    function, num_loops = case
    closed = jax.make_jaxpr(function)(N, X)
    smaller = without_repeats(closed)
    assert sum(each.primitive.name == "while" for each in equations(smaller.jaxpr)) == num_loops
    (found,) = jax.jit(jaxpr_as_fun(smaller))(N, X)
    assert np.array_equal(found, jax.jit(function)(N, X))


def test_a_result_that_the_first_left_out_is_computed_again() -> None:
    def function(x: Any) -> Any:
        first, _ = jax.lax.scan(lambda s, _: (s * 0.5, jnp.sin(s)), x, None, length=3)
        _, second = jax.lax.scan(lambda s, _: (s * 0.5, jnp.sin(s)), x, None, length=3)
        return first + second.sum(0)

    found = jax.jit(jaxpr_as_fun(without_repeats(jax.make_jaxpr(function)(X))))(X)
    assert np.array_equal(found[0], jax.jit(function)(X))
