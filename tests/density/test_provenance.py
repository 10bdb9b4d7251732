"""Hold that a result is said to depend on just the arguments that it may depend on."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from accord.density.dependence.provenance import arguments_seen


def with_other_outputs(x, y):
    return jnp.sin(x), x * y


@jax.custom_jvp
def with_rule(x, y):
    return x, y


with_rule.defjvp(lambda primals, tangents: (with_rule(*primals), tangents))


@jax.custom_vjp
def with_backward_rule(x, y):
    return y, x


with_backward_rule.defvjp(lambda x, y: ((y, x), None), lambda _, g: (g[1], g[0]))


def through_memory(x):
    memory = jax.new_ref(jnp.zeros(()))
    memory[...] = x
    return memory[...]


def carried(x, y, z):
    """Two steps after the first, the first of what is carried has seen z."""

    def step(carry, each):
        a, b, c = carry
        return (b, c, c), a * each

    return lax.scan(step, (x, y, z), jnp.ones(4))


CASES = {
    "results of one call": (lambda x, y: jax.jit(with_other_outputs)(x, y), [{"x"}, {"x", "y"}]),
    "a constant": (lambda x, y: (jnp.ones(()), y), [set(), {"y"}]),
    "made again": (lambda x, y: jax.checkpoint(with_other_outputs)(x, y), [{"x"}, {"x", "y"}]),
    "a rule for derivatives": (lambda x, y: with_rule(x, y), [{"x", "y"}] * 2),
    "a rule for gradients": (lambda x, y: with_backward_rule(x, y), [{"x", "y"}] * 2),
    "a mutable array": (lambda x, y: (through_memory(x), y), [{"x", "y"}] * 2),
    "a mutable array in a call": (lambda x, y: (jax.jit(through_memory)(x), y), [{"x"}, {"y"}]),
    "what is carried": (
        lambda x, y, z: carried(x, y, z)[0],
        [{"x", "y", "z"}, {"y", "z"}, {"z"}],
    ),
    "what comes of each step": (lambda x, y, z: (carried(x, y, z)[1],), [{"x", "y", "z"}]),
    "series": (
        lambda xs, ys: lax.scan(lambda c, each: (c, (each[0], c + each[1])), 0.0, (xs, ys))[1],
        [{"xs"}, {"ys"}],
    ),
    "branches": (
        lambda which, x, y: lax.cond(which > 0, lambda x, y: (x, 1.0), lambda x, y: (-x, y), x, y),
        [{"which", "x"}, {"which", "y"}],
    ),
    "a loop of unknown length": (
        lambda x, y: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, 2 * c[1]), (x, y)),
        [{"x"}, {"x", "y"}],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_result_depends_on_what_it_is_computed_from(case):
    function, expected = CASES[case]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    shapes = {name: jax.ShapeDtypeStruct((4,) if name.endswith("s") else (), "float64") for name in names}

    def terms(_, given):
        results = function(*(given[name] for name in names))
        return {str(number): jnp.asarray(each) for number, each in enumerate(results)}

    seen = arguments_seen(terms, {}, shapes)
    assert [set(seen[str(number)]) for number in range(len(expected))] == expected
