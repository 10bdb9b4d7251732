"""Split functions into what is computed once ahead of a loop, and the rest, which gives the same results."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import gammaln
from laws import assert_close, each

import accord as ac
import accord.distributions as dist
from accord import LogDensity
from accord.core.precision import scope
from accord.core.traced import equations
from accord.density.ahead import split

SIZE = 5000
COUNTS = np.arange(SIZE) % 9
X = np.linspace(-1.0, 1.0, SIZE)


def parts_of(function, data, position):
    closed = jax.make_jaxpr(function)(data, position)
    return closed, split(closed, len(jax.tree.leaves(data)))


def evaluated(closed, parts, data, position):
    """What both parts make of data and a position."""
    leaves = jax.tree.leaves(data)
    return parts.in_loop(closed.consts, leaves, parts.ahead_of_loop(closed.consts, leaves), position)


def shapes_kept(closed, parts, data):
    leaves = jax.tree.leaves(data)
    return sorted(each.shape for each in parts.ahead_of_loop(closed.consts, leaves))


def standardised(data, p):
    x = (data["x"] - data["x"].mean()) / data["x"].std()
    return jnp.sum(jnp.tanh(p[0] + p[1] * x))


def in_a_loop(data, p):
    total = jax.lax.scan(lambda s, x: (s + x, jnp.exp(s)), 0.0, data["x"])[1]
    return jnp.sum(total * p[0])


def of_a_condition(data, p):
    return jnp.sum(jax.lax.cond(data["y"][0] > 3, jnp.sin, jnp.cos, data["x"]) * p[0])


TABLE = np.linspace(0.5, 2.0, SIZE)

# A function of data and a position, and the shapes of what is kept.
FUNCTIONS = {
    "a term of the data": (lambda data, p: jnp.sum(data["y"] * p[0] - gammaln(data["y"] + 1.0)), [(SIZE,)]),
    "the same term twice": (
        lambda data, p: jnp.sum(p[0] * jnp.log(data["y"] + 1.0)) + jnp.sum(p[1] / jnp.log(data["y"] + 1.0)),
        [(SIZE,)],
    ),
    "cheap arithmetic on what is kept": (
        lambda data, p: jnp.sum((p[0] + jnp.exp(data["x"])) * (p[1] - 2.0 * jnp.exp(data["x"]))),
        [(SIZE,)],
    ),
    "the sum of a term": (lambda data, p: p[0] * jnp.sum(jnp.exp(data["x"])), [()]),
    "a matrix of numbers that are whole": (
        lambda data, p: jnp.sum(jnp.sin(data["y"].reshape(-1, 2).astype(float) @ p)),
        [(SIZE // 2, 2)],
    ),
    "a standardised covariate": (standardised, [(SIZE,)]),
    "a loop over the data": (in_a_loop, [(SIZE,)]),
    "a branch by the data": (of_a_condition, [(SIZE,)]),
    "an array that the code holds": (lambda data, p: jnp.sum(jnp.cos(p[0] * jnp.log(TABLE))), [(SIZE,)]),
    "a table of all pairs": (
        lambda data, p: jnp.sum(p[0] * (jnp.exp(data["x"])[:, None] * jnp.exp(-data["x"][:100])[None])),
        [(1, 100), (SIZE, 1)],
    ),
}


@each(FUNCTIONS)
def test_both_parts_give_the_results_and_keep_what_is_worth_it(case):
    function, shapes = case
    data, position = {"x": X, "y": COUNTS}, np.array([0.3, 0.7])
    with scope("float64"):
        for whole in (function, jax.value_and_grad(function, 1)):
            closed, parts = parts_of(whole, data, position)
            expected = jax.jit(whole)(data, position)
            assert_close(tuple(evaluated(closed, parts, data, position)), tuple(jax.tree.leaves(expected)))
        closed, parts = parts_of(function, data, position)
        assert shapes_kept(closed, parts, data) == shapes


def printed(data, p):
    jax.debug.print("{}", p[0])
    return jnp.sum(jnp.log(data["x"] + 2.0) * p[0])


NOT_SPLIT = {
    "cheap arithmetic": lambda data, p: jnp.sum((p[0] - 2.0 * data["x"]) ** 2),
    "comparisons": lambda data, p: jnp.sum(jnp.where(data["y"] > 3, p[0], p[1])),
    "an effect": printed,
    "what is computed twice on purpose": lambda data, p: jax.checkpoint(
        lambda q: jnp.sum(jnp.log(data["x"] + 2.0) * q)
    )(p[0]),
    "nothing but the position": lambda data, p: jnp.sum(jnp.exp(p)),
}


@each(NOT_SPLIT)
def test_a_function_is_left_whole_where_nothing_is_worth_it(function):
    with scope("float64"):
        assert parts_of(function, {"x": X, "y": COUNTS}, np.array([0.3, 0.7]))[1] is None


def test_what_is_kept_is_bounded_by_the_data():
    def kernel(data, p):  # a million numbers of a thousand: eight MB for eight kB
        gaps = jnp.matmul(data["x"][:, None], data["x"][None, :])
        return jnp.sum(jnp.exp(p[0] * gaps))

    with scope("float64"):
        assert parts_of(kernel, {"x": np.linspace(0, 1, 1000)}, np.zeros(1))[1] is None
        assert parts_of(kernel, {"x": np.linspace(0, 1, 500)}, np.zeros(1))[1] is not None


def regression(make):
    @ac.model
    def model(x, y):
        with ac.plate("coefficient", 2):
            beta = ac.sample("beta", dist.Normal(0, 1))
        scale = ac.sample("scale", dist.Exponential(1.0))
        with ac.plate("row", len(y)):
            ac.sample("y", make(beta[0] + beta[1] * x, scale), obs=y)

    return model(X, COUNTS % 2)


# Operations on all rows that a step may need, beside plain arithmetic: one logarithm for a value, and an exponential.
# Where a logarithm is written out in arithmetic, it is none of these.
EXPENSIVE = ("exp", "expm1", "log", "log1p", "lgamma", "digamma", "logistic", "tanh", "pow", "rem", "gather")
REGRESSIONS = {
    "Normal": (lambda eta, s: dist.Normal(eta, s), {}),
    "Poisson": (lambda eta, s: dist.Poisson(jnp.exp(eta)), {"exp": 1, "log": 1}),
    "LogPoisson": (lambda eta, s: dist.LogPoisson(eta), {"exp": 2}),
    "Bernoulli": (lambda eta, s: dist.Bernoulli(logits=eta), {"exp": 2}),
    "Exponential": (lambda eta, s: dist.Exponential(jnp.exp(eta)), {"exp": 1, "log": 1}),
    "Binomial": (lambda eta, s: dist.Binomial(12, logits=eta), {"exp": 3, "tanh": 2}),
    "StudentT": (lambda eta, s: dist.StudentT(4.0, eta, s), {"log1p": 1}),
    "Cauchy": (lambda eta, s: dist.Cauchy(eta, s), {"log1p": 1}),
    "OrderedLogistic": (
        lambda eta, s: dist.OrderedLogistic(eta, jnp.stack([-s, s])),
        {"exp": 4},
    ),
}


@each(REGRESSIONS)
def test_a_step_of_a_regression_computes_no_term_of_the_data_alone(case):
    make, most = case
    with scope("float64"):
        density = LogDensity.from_model(regression(make), "float64")
        closed = jax.make_jaxpr(lambda data, p: density.with_data(data).value_and_grad(p))(
            density.data, np.zeros(density.dim)
        )
        parts = split(closed, len(density.data))
    steps = equations(closed.jaxpr) if parts is None else [step.eqn for step in parts.rest]
    found = Counter(eqn.primitive.name for eqn in steps if any(v.aval.shape == (SIZE,) for v in eqn.outvars))
    assert {name: found[name] for name in EXPENSIVE if found[name]} == most


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_keys_among_the_data_are_no_obstacle(precision):
    with scope(precision):
        key = jax.random.key(0)
        closed, parts = parts_of(
            lambda data, p: jnp.sum(jax.random.normal(data["key"], (50,)) * p[0]), {"key": key}, jnp.zeros(1)
        )
        assert_close(
            evaluated(closed, parts, {"key": key}, jnp.ones(1))[0], jax.random.normal(key, (50,)).sum()
        )


def test_a_long_chain_of_cheap_operations_is_followed_once():
    def doubled_often(data, p):
        x = jnp.exp(data["x"])
        whole = jnp.sum(x * p[0])
        for _ in range(2000):
            x = x + x
        return whole + jnp.sum(jnp.tanh(x * p[1]))

    data = {"x": X[:20]}
    with scope("float64"):
        closed, parts = parts_of(doubled_often, data, np.zeros(2))
        assert shapes_kept(closed, parts, data) == [(20,)]


def test_what_numbers_in_the_program_make_is_no_input_of_its_loop():
    # XLA knows it, and aborts the process where a loop in one piece is given an input that it does not need.
    def function(data, p):
        written = jnp.sort(jnp.arange(4.0))
        return jnp.sum(jnp.log(data["x"] + 9.0)) * p[0] + jnp.sum(jnp.exp(written) * p[1])

    with scope("float64"):
        closed, parts = parts_of(function, {"x": X[:20]}, np.zeros(2))
        assert shapes_kept(closed, parts, {"x": X[:20]}) == [()]
