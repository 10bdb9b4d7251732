"""Hold that programs have the same key only where they compute the same."""

import contextlib
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_batching import custom_vmap
from jax.extend.core import Primitive

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.traced import key_of

ARRAYS_IN_PROGRAMS = "jax_use_simplified_jaxpr_constants"


@contextlib.contextmanager
def arrays_in_programs() -> Iterator[None]:
    """Have JAX write an array that a function closes over into the program, as releases without this setting do."""
    if not hasattr(jax.config, ARRAYS_IN_PROGRAMS):
        yield
        return
    before = getattr(jax.config, ARRAYS_IN_PROGRAMS)
    jax.config.update(ARRAYS_IN_PROGRAMS, True)
    try:
        yield
    finally:
        jax.config.update(ARRAYS_IN_PROGRAMS, before)


def key(function: Callable[[jax.Array], jax.Array]) -> Hashable:
    return key_of(jax.make_jaxpr(function)(jnp.ones(3)))


def weighted(weights: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    return lambda x: jnp.sum(weights * x)


def weighted_in_a_loop(weights: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    def sum_of(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda i, total: total + jnp.asarray(weights)[i] * x[i], 0.0)

    return sum_of


def with_constant_result(weights: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    return lambda x: jax.lax.cond(x[0] > 0, lambda: jnp.asarray(weights), lambda: x)


@pytest.mark.parametrize("function", [weighted, weighted_in_a_loop, with_constant_result])
def test_arrays_that_stand_in_a_program_are_part_of_its_key(function):
    with arrays_in_programs():
        first, again, other = (key(function(np.array([0.0, 1.0, last]))) for last in (2.0, 2.0, 3.0))
    assert first == again
    assert first != other


def jitted(weights: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    return lambda x: jax.jit(lambda y: jnp.sum(weights * y))(x)


def jitted_with_random_numbers(weights: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    random = jax.random.key(int(weights[-1]))
    return lambda x: jax.jit(lambda y: y + jax.random.normal(random, (3,)))(x)


@pytest.mark.parametrize("function", [jitted, jitted_with_random_numbers])
def test_arrays_that_a_jitted_function_closes_over_are_part_of_the_key(function):
    first, again, other = (key(function(np.array([0.0, 1.0, last]))) for last in (2.0, 2.0, 3.0))
    assert first == again
    assert first != other


@jax.jit
def lowest_and_rest(x):
    low, high = x.min(), x.max()
    return low, high, x - low


@jax.jit
def highest_and_rest(x):
    low, high = x.min(), x.max()
    return low, high, x - high


highest_and_rest.__name__ = highest_and_rest.__wrapped__.__name__ = "lowest_and_rest"


def test_a_result_is_known_by_what_it_is_computed_from_where_others_are_not_used():
    """JAX prints `_` for the lowest and the highest, so that the text is the same."""
    assert key(lambda x: lowest_and_rest(x)[2]) != key(lambda x: highest_and_rest(x)[2])


CHANGES = {
    "the order of arguments": (lambda x: x[0] - x[1], lambda x: x[1] - x[0]),
    "a number": (lambda x: x * 2.0, lambda x: x * 2.5),
    "the sign of zero": (lambda x: x * 0.0, lambda x: x * -0.0),
    "the kind of a number": (lambda x: x**2, lambda x: x**2.0),
    "an axis": (lambda x: jnp.cumsum(jnp.outer(x, x), 0), lambda x: jnp.cumsum(jnp.outer(x, x), 1)),
    "a branch": (
        lambda x: jax.lax.cond(x[0] > 0, lambda: x, lambda: -x),
        lambda x: jax.lax.cond(x[0] > 0, lambda: -x, lambda: x),
    ),
    "which result": (lambda x: jnp.sort(x)[0], lambda x: jnp.sort(x)[1]),
    "a step": (
        lambda x: jax.lax.scan(lambda c, y: (c + y, c), 0.0, x)[1],
        lambda x: jax.lax.scan(lambda c, y: (c + y, y), 0.0, x)[1],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_program_changes_the_key(change):
    before, after = CHANGES[change]
    assert key(before) == key(lambda x: before(x))
    assert key(before) != key(after)


def test_how_random_numbers_are_made_is_part_of_the_key():
    def noise(x):
        return x + jax.random.normal(jax.random.key(0), (3,))

    def otherwise(x):
        with jax.threefry_partitionable(not jax.config.jax_threefry_partitionable):
            return noise(x)

    assert key(noise) == key(lambda x: noise(x))
    assert key(noise) != key(otherwise)


def test_a_function_with_a_rule_for_batches_is_known_again():
    """JAX makes an object of the rule in each trace."""

    @custom_vmap
    def doubled(x):
        return 2 * x

    @doubled.def_vmap
    def rule(size, is_batched, x):
        return 2 * x, is_batched[0]

    assert key(lambda x: doubled(x)) == key(lambda x: doubled(x))
    assert key(lambda x: doubled(x)) != key(lambda x: doubled(x) + 1)


def test_a_function_with_a_rule_for_its_derivative_is_known_again():
    def with_rule():
        @jax.custom_jvp
        def square(x):
            return x * x

        square.defjvp(lambda primals, tangents: (square(*primals), 2 * primals[0] * tangents[0]))
        return square

    assert key(with_rule()) == key(with_rule())


applied = Primitive("applied")
applied.def_abstract_eval(lambda x, **_: x)


def applied_to(function):
    return lambda x: applied.bind(x, function=function)


def by_python(function):
    return lambda x: jax.pure_callback(function, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@dataclass(frozen=True)
class Scaled:
    """A function that says nothing of itself but its name."""

    by: float

    def __call__(self, x):
        return np.asarray(self.by * x)

    def __repr__(self):
        return "Scaled"


@pytest.mark.parametrize("call", [applied_to, by_python])
def test_python_functions_of_one_name_are_told_from_each_other(call):
    first, other = (lambda x, by=by: by * np.asarray(x) for by in (1.0, 2.0))
    assert key(call(first)) == key(call(first))
    assert key(call(first)) != key(call(other))
    assert key(call(Scaled(1.0))) == key(call(Scaled(1.0)))
    assert key(call(Scaled(1.0))) != key(call(Scaled(2.0)))


def test_models_that_close_over_other_data_have_posteriors_of_their_own():
    """A program that is shared where its text says `[...]` would have the data of the first model."""

    def of(y):
        @ac.model
        def model():
            m = ac.sample("m", dist.Normal(0, 100))
            with ac.plate("row", 2):
                ac.sample("y", dist.Normal(m, 0.1), obs=y)

        return model()

    run = dict(draws=30, warmup=30, chains=2, seed=0, quiet=True)
    with arrays_in_programs():
        first, second = (infer.sample(of(np.array([at, at + 1.0])), **run)["m"].mean() for at in (0.0, 5.0))
    # 5.6 posterior standard deviations, even if all draws were one: a false alarm in 2e-8 of runs at most.
    np.testing.assert_allclose([first, second], [0.5, 5.5], atol=0.4)


def test_models_with_a_jitted_function_of_other_data_have_posteriors_of_their_own():
    def of(y):
        residual = jax.jit(lambda m: y - m)

        @ac.model
        def model():
            m = ac.sample("m", dist.Normal(0, 100))
            with ac.plate("row", 2):
                ac.sample("residual", dist.Normal(residual(m), 0.1), obs=np.zeros(2))

        return model()

    run = dict(draws=30, warmup=30, chains=2, seed=0, quiet=True)
    first, second = (infer.sample(of(np.array([at, at + 1.0])), **run)["m"].mean() for at in (0.0, 5.0))
    # 5.6 posterior standard deviations, even if all draws were one: a false alarm in 2e-8 of runs at most.
    np.testing.assert_allclose([first, second], [0.5, 5.5], atol=0.4)


def test_a_callback_of_the_same_name_is_not_that_of_an_earlier_model():
    def around(center):
        @ac.model
        def model():
            m = ac.sample("m", dist.Normal(0, 0.1))
            shift = jax.pure_callback(lambda: np.array(center), jax.ShapeDtypeStruct((), np.float64))
            ac.sample("y", dist.Normal(0, 1), obs=m * 0)
            ac.deterministic("shifted", m + shift)

        return model()

    run = dict(draws=30, warmup=30, chains=2, seed=0, quiet=True)
    first, second = (infer.sample(around(center), **run) for center in (0.0, 5.0))
    np.testing.assert_allclose(second["shifted"] - first["shifted"], 5.0)
