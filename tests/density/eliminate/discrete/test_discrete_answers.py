"""Discrete unknowns are summed out exactly: known answers, which were worked out by enumeration.

A hidden Markov model of two states (whole, with a missing and with padded steps, of second order, factorial), mixtures
with masks and scales, a tree of classes, supports that depend on other sites.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.density.eliminate.discrete.summed import SummedProgram

START = jnp.array([0.6, 0.4])
MOVES = jnp.array([[0.7, 0.3], [0.4, 0.6]])
ROWS = jnp.concatenate([MOVES, START[None]])  # from 2, how a chain begins
SEEN = np.array([0, 1, 1, 0, 1])
LOG_NORMAL = -0.5 * np.log(2 * np.pi)
"""The log density at 0 of the unknown `a`, on which nothing depends: a log density has free numbers."""


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def beside(model):
    """Put an unknown beside the model."""

    @ac.model
    def whole(*arguments):
        ac.sample("a", dist.Normal(0.0, 1.0))
        model(*arguments)

    return whole


@beside
def markov(y, is_seen):
    def step(before, now):
        seen, is_there = now
        z = ac.sample("z", dist.Categorical(ROWS[before])).astype(jnp.int32)
        with handlers.mask(mask=is_there):
            ac.sample("y", dist.Bernoulli(jnp.array([0.1, 0.8])[z]), obs=seen)
        return z, None

    ac.scan(step, jnp.int32(2), (y, is_seen))


@beside
def second_order(y):
    three = jnp.array([[[0.8, 0.2], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]])
    # States 2 and 3 stand for steps before the first one.
    rows = jnp.zeros((4, 3, 2)).at[:2, :2].set(three).at[3, :2].set(MOVES).at[3, 2].set(START)

    def step(before, seen):
        z = ac.sample("z", dist.Categorical(rows[before])).astype(jnp.int32)
        ac.sample("y", dist.Bernoulli(jnp.array([0.1, 0.8])[z]), obs=seen)
        return (before[1] + (before[1] == 2), z), None

    ac.scan(step, (jnp.int32(3), jnp.int32(2)), y)


@beside
def factorial(y):
    w_rows = jnp.array([[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]])
    x_rows = jnp.array([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]])

    def step(before, seen):
        w = ac.sample("w", dist.Categorical(w_rows[before[0]])).astype(jnp.int32)
        x = ac.sample("x", dist.Categorical(x_rows[before[1]])).astype(jnp.int32)
        ac.sample("y", dist.Bernoulli(0.1 + 0.3 * w + 0.5 * x), obs=seen)
        return (w, x), None

    ac.scan(step, (jnp.int32(2), jnp.int32(2)), y)


@beside
def binomial_of_a_class():
    c = ac.sample("c", dist.Categorical(jnp.array([0.5, 0.3, 0.2])))
    k = ac.sample("k", dist.Binomial(c, 0.5))
    ac.sample("x", dist.Normal(k, 1.0), obs=1.0)


@beside
def classes(x, mask):
    with ac.plate("n", 2), handlers.mask(mask=mask):
        z = ac.sample("z", dist.Categorical(jnp.array([0.5, 0.3, 0.2])))
        ac.sample("x", dist.Normal(z, 1.0), obs=x)


@beside
def tree(x):
    c = ac.sample("c", dist.Bernoulli(0.3))
    with ac.plate("n", 3):
        z = ac.sample("z", dist.Bernoulli(0.2 + 0.6 * c))
        ac.sample("x", dist.Normal(2.0 * z, 1.0), obs=x)


@beside
def between():
    k = ac.sample("k", dist.DiscreteUniform(3, 5))
    ac.sample("x", dist.Normal(k, 1.0), obs=4.0)


@beside
def indexed_twice(y):
    """One entry after the other, as `rows[a][b]`: which peers that broadcast have given as something else."""
    rows = jnp.arange(1.0, 9.0).reshape(2, 2, 2) / 10.0
    i = ac.sample("i", dist.Bernoulli(0.4))
    j = ac.sample("j", dist.Bernoulli(0.5))
    ac.sample("y", dist.Bernoulli(rows[i.astype(int)][j.astype(int)][1]), obs=y)


THERE = np.ones(5, bool)
X = np.array([0.3, 1.7])
KNOWN = {
    "a hidden Markov model": (markov(SEEN, THERE), -4.022080367),
    "a missing step": (markov(SEEN, np.arange(5) != 2), -3.184456282),
    "padded steps": (markov(SEEN, np.arange(5) < 3), -2.301885338),
    "second order": (second_order(SEEN), -4.014157796),
    "factorial": (factorial(np.array([1, 0, 1])), -2.338600947),
    "a support that depends": (binomial_of_a_class(), -1.268640708),
    "a mixture": (classes(X, True), -2.721386924),
    "one entry masked": (classes(X, np.array([True, False])), -1.193428910),
    "all entries masked": (classes(X, np.array([False, False])), 0.0),
    "a tree": (tree(np.array([-0.5, 0.4, 2.1])), -4.757393978),
    # By hand: 0.6 (0.5 0.2 + 0.5 0.4) + 0.4 (0.5 0.6 + 0.5 0.8).
    "indexed twice": (indexed_twice(1.0), np.log(0.46)),
}


IN_DEFAULT = (
    "a hidden Markov model",
    "a mixture",
    "one entry masked",
    "indexed twice",
    "a support that begins at 3",
)


def each(cases):
    return pytest.mark.parametrize(
        "case", [c if c in IN_DEFAULT else pytest.param(c, marks=pytest.mark.slow) for c in cases]
    )


@each(KNOWN)
def test_the_sum_is_the_known_one(case):
    model, expected = KNOWN[case]
    found = jax.jit(model.log_density())(jnp.zeros(1)) - LOG_NORMAL
    np.testing.assert_allclose(found, expected, atol=2e-9)


def test_a_scale_is_outside_of_the_sum():
    """Twice the logarithm of the sum. NumPyro scales within it, -7.176283: the sum of squares of probabilities."""
    model = handlers.scale(classes(X, True), scale=2.0)
    found = jax.jit(model.log_density())(jnp.zeros(1)) - 2 * LOG_NORMAL
    np.testing.assert_allclose(found, -5.442773848, atol=2e-9)


def test_each_row_may_have_a_weight_of_its_own_from_the_data():
    """Weights of rows, whose label and observation are scaled alike: each multiplies the logarithm of its row's sum."""

    @ac.model
    def weighted(x, weights):
        a = ac.sample("a", dist.Normal(0.0, 1.0))
        with ac.plate("row", len(x)), handlers.scale(scale=weights):
            z = ac.sample("z", dist.Bernoulli(0.3))
            ac.sample("x", dist.Normal(2 * z + a, 1.0), obs=x)

    x, weights = np.array([0.1, 1.9, 2.2]), np.array([1.0, 2.0, 0.5])
    rows = 0.7 * np.exp(-0.5 * x**2) + 0.3 * np.exp(-0.5 * (x - 2) ** 2)
    found = jax.jit(weighted(x, weights).log_density())(jnp.zeros(1)) - LOG_NORMAL
    np.testing.assert_allclose(found, np.sum(weights * (LOG_NORMAL + np.log(rows))), rtol=1e-6)


PROBABILITIES = {
    "states": (
        markov(SEEN, THERE),
        {"z": [0.208724719, 0.868148, 0.878757710, 0.331841620, 0.823599250]},
    ),
    "a support that depends": (binomial_of_a_class(), {"k": [0.602316172, 0.354661244, 0.043022584]}),
    "a tree": (
        tree(np.array([-0.5, 0.4, 2.1])),
        {"c": 0.156319716, "z": [0.036332755, 0.144498563, 0.736691133]},
    ),
    "a support that begins at 3": (between(), {"k": [0.274068619, 0.451862762, 0.274068619]}),
    "factorial": (factorial(np.array([1, 0, 1])), {"w": [0.584087076, 0.358818190, 0.476772063]}),
}


@each(PROBABILITIES)
def test_probabilities_are_the_known_ones(case):
    model, expected = PROBABILITIES[case]
    density = model.log_density()
    program = density.program.stage(SummedProgram)
    found = jax.jit(program.probabilities_at)({"a": jnp.zeros(())}, density.data)
    for name, probabilities in expected.items():
        of_site = found[name] if found[name].shape == np.shape(probabilities) else found[name][..., 1]
        np.testing.assert_allclose(of_site, probabilities, atol=2e-9)


def test_the_most_probable_states_are_the_known_ones():
    density = markov(SEEN, THERE).log_density()
    program = density.program.stage(SummedProgram)
    found = jax.jit(program.most_probable_at)({"a": jnp.zeros(())}, density.data)
    np.testing.assert_array_equal(found["z"], [0, 1, 1, 0, 1])
    emit = np.where(SEEN[:, None], [0.1, 0.8], [0.9, 0.2])
    moves = np.concatenate([[np.asarray(START)[0]], [MOVES[0, 1], MOVES[1, 1], MOVES[1, 0], MOVES[0, 1]]])
    path = np.prod(moves * emit[np.arange(5), found["z"]])
    np.testing.assert_allclose(path / np.exp(-4.022080367), 0.300004170, atol=2e-9)


def test_the_gradient_is_the_known_one():
    @ac.model
    def gaussian(y):
        mu = ac.sample("mu", dist.Normal(np.zeros(2), 1.0))

        def step(before, seen):
            z = ac.sample("z", dist.Categorical(ROWS[before])).astype(jnp.int32)
            ac.sample("y", dist.Normal(mu[z], 1.0), obs=seen)
            return z, None

        ac.scan(step, jnp.int32(2), y)

    density = gaussian(np.array([0.1, 1.8, 2.2, -0.3])).log_density()
    at = jnp.array([0.0, 2.0])
    value, gradient = jax.jit(jax.value_and_grad(lambda mu: density(mu) + 0.5 * (mu**2).sum()))(at)
    np.testing.assert_allclose(value - 2 * LOG_NORMAL, -6.285151938, atol=2e-9)
    np.testing.assert_allclose(gradient, [0.443405781, -0.492248317], atol=2e-9)


def test_derivatives_are_finite_where_a_probability_is_zero():
    @ac.model
    def model(x):
        a = ac.sample("a", dist.Normal(0.0, 1.0))
        with ac.plate("n", 2):
            z = ac.sample("z", dist.Categorical(jnp.array([0.5, 0.0, 0.5])))
            ac.sample("x", dist.Normal(a * z, 1.0), obs=x)

    density = model(X).log_density()
    for derivative in (jax.grad(density), jax.hessian(density)):
        assert np.isfinite(jax.jit(derivative)(jnp.full(1, 0.3))).all()
