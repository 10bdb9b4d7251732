"""A program that computes each distinct number once has the results and derivatives of the one it is made of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

from accord.core.traced import equations
from accord.density.eliminate.discrete.distinct.program import computed_once
from accord.density.quick import quickly
from accord.distributions.special import softplus

ROWS, VALUES = 60, 2
COSTLY = {"log", "log1p", "exp", "lgamma", "digamma", "tanh", "logistic", "scan", "cholesky", "while"}
X = np.random.default_rng(0).normal(size=ROWS)
ITEMS = np.random.default_rng(1).integers(0, 5, ROWS)


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def by_value(function):
    """Evaluate for each value of a label that all rows have, as tables are made."""

    def table(p, x):
        z = jnp.arange(VALUES, dtype=jnp.int32)
        return jax.vmap(lambda z: function(p, x, jnp.broadcast_to(z, (ROWS,))))(z)

    return table


def in_turn(function):
    """Evaluate for all values that two steps in turn may have."""

    def table(p, x):
        z = jnp.arange(VALUES, dtype=jnp.int32)

        def at(one, other):
            return function(p, x, jnp.stack([one, other])[jnp.arange(ROWS) % 2])

        return jax.vmap(jax.vmap(at, (None, 0)), (0, None))(z, z)

    return table


def scanned(step, start, reverse=False):
    def function(p, x, z):
        return jax.lax.scan(lambda carry, row: step(p, carry, *row), start, (x, z), reverse=reverse)[1]

    return function


def markov(p, before, x, z):
    rows = jnp.reshape(p[:6], (3, 2))
    return z, jnp.log(jnp.exp(rows[before]) / jnp.exp(rows[before]).sum())[z] + x * p[z]


def second_order(p, before, x, z):
    return (before[1], z), jnp.tanh(p[before[0]] * p[before[1] + 1]) * x + p[z]


def with_the_row_before(p, before, x, z):
    return (z, x), jnp.exp(p[before[0]]) * before[1] + x * p[z]


def added_up(p, before, x, z):
    return before + z, jnp.tanh(p[0] * before) + x


def branching(p, before, x, z):
    return z, jax.lax.cond(x > 0, lambda: jnp.log(p[before] ** 2), lambda: x * p[z])


def factors(p):
    return jnp.stack([jnp.eye(2) * jnp.exp(p[0]), jnp.array([[1.0, 0.0], [0.5, 1.0]]) * jnp.exp(p[1])])


CASES = {
    "logarithms": (by_value(lambda p, x, z: -jnp.log(jnp.exp(p)[z]) - x / jnp.exp(p)[z]), {"log": 2, "exp": 14}),
    "rules of their own": (by_value(lambda p, x, z: x * softplus(p[z])), {"log": 2, "exp": 2}),
    "rows of a matrix": (
        by_value(lambda p, x, z: jax.nn.log_softmax(jnp.reshape(p[:6], (2, 3))[z], axis=-1)[:, 1] * x),
        {"exp": 6, "log": 2},
    ),
    "a choice": (by_value(lambda p, x, z: jnp.where(z == 1, jnp.tanh(p[0]), -jnp.inf) + x), {"tanh": 1}),
    "an impossible value": (
        by_value(lambda p, x, z: jnp.where(z == 1, jnp.log(p[z] ** 2), -jnp.inf) + x * p[2]),
        {"log": 2},
    ),
    "an index from the data": (
        lambda p, x: jax.vmap(lambda z: jnp.tanh(p[jnp.broadcast_to(z, (5,))[jnp.asarray(ITEMS)]]) * x)(
            jnp.arange(VALUES)
        ),
        {"tanh": 2},
    ),
    "an index outside of the array": (
        by_value(
            lambda p, x, z: (
                jnp.tanh(jnp.broadcast_to(p, (ROWS, 7)).at[jnp.arange(ROWS), 9 * z].get(mode="fill", fill_value=0.5))
                * x
            )
        ),
        {"tanh": 120},
    ),
    "an index that may be outside": (
        by_value(lambda p, x, z: jnp.tanh(jnp.exp(p).at[z].get(mode="fill", fill_value=jnp.nan)) * x),
        {"exp": 7, "tanh": 2},
    ),
    "what rows have": (by_value(lambda p, x, z: jnp.tanh(p[z] * x)), {"tanh": 120}),
    "sums over rows": (by_value(lambda p, x, z: jnp.cumsum(jnp.tanh(p[z])) + x.sum()), {"tanh": 2}),
    "matrices": (
        by_value(
            lambda p, x, z: jnp.linalg.cholesky(jnp.einsum("kij,klj->kil", factors(p), factors(p))[z])[:, 0, 0] * x
        ),
        {"cholesky": 8, "exp": 4},
    ),
    "another order of axes": (
        by_value(lambda p, x, z: jnp.concatenate([jnp.exp(p[z])[None], x[None]]).T.reshape(-1)[::3]),
        {"exp": 2},
    ),
    "steps of a chain": (in_turn(scanned(markov, jnp.int32(2))), {"exp": 12, "log": 6}),
    "steps in reverse": (in_turn(scanned(markov, jnp.int32(2), reverse=True)), {"exp": 12, "log": 6}),
    "two steps before": (in_turn(scanned(second_order, (jnp.int32(2), jnp.int32(2)))), {"tanh": 7}),
    "the row before": (in_turn(scanned(with_the_row_before, (jnp.int32(2), jnp.float64(0)))), {"exp": 3}),
    "a sum that goes on": (in_turn(scanned(added_up, jnp.int32(0))), {"scan": 60}),
    "branches in a scan": (in_turn(scanned(branching, jnp.int32(2))), {"scan": 60}),
    "a loop": (
        by_value(lambda p, x, z: jax.lax.fori_loop(0, 3, lambda _, s: s * p[z], x)),
        {"scan": 3},
    ),
}  # fmt: skip
P = jnp.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.4, 0.25])


def costs(closed):
    """Count the numbers that expensive operations compute; of a scan, its steps."""
    found = {}
    for equation in equations(closed.jaxpr):
        name = equation.primitive.name
        if name in COSTLY:
            count = (
                equation.params["length"]
                if name == "scan"
                else max(v.aval.size for v in equation.outvars[:1])
            )
            found[name] = found.get(name, 0) + count
    return found


def check(function, p, x):
    """Compare value, gradient, and second derivatives along a direction, of the program and of what is made of it."""
    closed = jax.make_jaxpr(function)(p, x)
    made = computed_once(closed)
    shape = closed.out_avals[0].shape
    weights = jnp.cos(jnp.arange(np.prod(shape))).reshape(shape)

    def told(program, p, x):
        def weighted(p):
            (found,) = jax.extend.core.jaxpr_as_fun(program)(p, x)
            return (jnp.where(jnp.isfinite(found), found, 0.0) * weights).sum(), found

        def slope(p):
            return jax.grad(weighted, has_aux=True)(p)

        (gradient, found), (bend, _) = jax.jvp(slope, (p,), (jnp.cos(3 * p),))
        return found, gradient, bend

    for found, expected in zip(
        *quickly(lambda p, x: [told(made, p, x), told(closed, p, x)])(p, x), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return made


@each(CASES)
def test_values_and_derivatives_are_the_same_and_each_number_is_computed_once(case):
    function, expected = case
    found = costs(check(function, P, X))
    assert {name: found.get(name) for name in expected} == expected


class Random:
    """A program taken at random, of parameters, data and the label of all rows."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def __call__(self, p, x, z):
        pool = [
            p[z],
            p[z + 2],
            x,
            jnp.tanh(p)[z * 2],
            jnp.full(ROWS, p[5]),
            jnp.where(z == 0, p[0], x),
            x[::-1],
        ]
        for _ in range(12):
            pool.append(self.made(*(pool[self.random.integers(len(pool))] for _ in range(2)), z))
        return pool[-1] + pool[-2]

    def made(self, a, b, z):
        match self.random.integers(12):
            case 0:
                return a + b
            case 1:
                return a * jnp.tanh(b)
            case 2:
                return jnp.log(1 + a**2)
            case 3:
                return softplus(a)
            case 4:
                return jnp.where(z == 1, a, b)
            case 5:
                return jnp.stack([a, b])[z, jnp.arange(ROWS)]
            case 6:
                return jnp.concatenate([a[: ROWS // 2], b[ROWS // 2 :]])
            case 7:
                return jnp.stack([a, b], axis=1).reshape(ROWS, 2).T.sum(axis=0)
            case 8:
                return jnp.broadcast_to(a.max(), (ROWS,)) - b
            case 9:
                return jnp.roll(a, 1) + b
            case 10:
                return jax.lax.scan(lambda carry, row: (row, carry * 0.5 + row), p_like(a), a)[1]
            case _:
                return jnp.reshape(a, (ROWS // 2, 2))[:, ::-1].reshape(-1) * 0.5 + jnp.exp(-(b**2))


def p_like(a):
    return jnp.zeros((), a.dtype)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 60))]
)
def test_of_programs_taken_at_random(seed):
    check(by_value(lambda p, x, z: Random(seed)(p, x, z)), P, X)


def test_not_a_number_stays_where_it_is():
    def function(p, x, z):
        return jnp.log(p[z]) * x  # of a negative parameter

    (found,) = jax.extend.core.jaxpr_as_fun(computed_once(jax.make_jaxpr(by_value(function))(P, X)))(P, X)
    np.testing.assert_array_equal(np.isnan(found), [[False] * ROWS, [True] * ROWS])


def test_rows_by_the_million_are_told_by_their_axes():
    def function(p, x):
        return jax.vmap(lambda z: jnp.log(jnp.exp(p)[jnp.broadcast_to(z, x.shape)]) * x)(jnp.arange(VALUES))

    made = computed_once(jax.make_jaxpr(function)(P, jax.ShapeDtypeStruct((10**6,), P.dtype)))
    assert costs(made) == {"exp": 7, "log": 2}


def test_what_prints_is_left_as_it_is():
    def function(p, x):
        jax.debug.print("{}", p[0])
        return p[0] * x

    closed = jax.make_jaxpr(function)(P, X)
    assert computed_once(closed) is closed
