"""Hold accord to what other libraries get wrong without a word, where discrete unknowns are summed out.

Each docstring says what the failure is. Some are tested beside what they belong to: a `scale` inside of the sum
(`test_discrete_answers.py`), indices in the place of values (`kernels/test_discrete_gibbs.py`), walkers that change
places (`kernels/test_ensemble.py`), a likelihood that is no number (`kernels/test_elliptical_slice.py`).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import handlers
from accord.density.eliminate.discrete.summed import SummedProgram

START = np.array([0.6, 0.4])
MOVES = np.array([[0.7, 0.3], [0.4, 0.6]])
ROWS = jnp.asarray(np.vstack([MOVES, START]))  # from 2, how a chain begins
EMIT = jnp.array([0.1, 0.8])


@pytest.fixture(autouse=True)
def as_users_write():
    """Promote whole numbers to floats, as `infer.sample` does."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def summed(model):
    """The log density of what is left at `a = 0`, and probabilities of the values of each discrete site."""
    density = model.log_density()
    program = density.program.stage(SummedProgram)
    found = jax.jit(program.probabilities_at)({"a": jnp.zeros(())}, density.data)
    return jax.jit(density)(jnp.zeros(1)) - stats.norm.logpdf(0), found


@ac.model
def rain(is_wet, one_index):
    ac.sample("a", dist.Normal(0.0, 1.0))
    wet = jnp.array([[0.1, 0.5], [0.9, 1.0]])
    r = ac.sample("r", dist.Bernoulli(0.2)).astype(int)
    s = ac.sample("s", dist.Bernoulli(0.5)).astype(int)
    ac.sample("wet", dist.Bernoulli(wet[r, s] if one_index else wet[r][s]), obs=is_wet)


@pytest.mark.parametrize("one_index", [True, False])
def test_rows_that_are_indexed_one_after_the_other_are_those_of_one_index(one_index):
    """NumPyro #2252: `table[a][b]` of two unknowns takes rows of what was broadcast, and the posterior is wrong.

    Wet with probability .95 if it rains and .30 if not, which it does on a day in five.
    """
    _, found = summed(rain(1.0, one_index))
    np.testing.assert_allclose(found["r"][1], 0.441860465, atol=2e-9)


@ac.model
def series(y):
    """Three chains that lie along an axis of the arrays alone, without a plate."""
    ac.sample("a", dist.Normal(0.0, 1.0))

    def step(before, seen):
        z = ac.sample("z", dist.Categorical(ROWS[before])).astype(jnp.int32)
        ac.sample("y", dist.Bernoulli(EMIT[z]), obs=seen)
        return z, None

    ac.scan(step, jnp.full(y.shape[1], 2, jnp.int32), y)


def forward(y):
    """The log probability of one chain, by the forward algorithm in NumPy."""
    emit = np.where(y[:, None], EMIT, 1 - EMIT)
    probabilities = START * emit[0]
    for each in emit[1:]:
        probabilities = (probabilities @ MOVES) * each
    return np.log(probabilities.sum())


def test_chains_side_by_side_without_a_plate_are_summed_each_by_itself():
    """NumPyro #1442: the axis of a batch in a scan is no plate, and the sum over the chains is wrong."""
    y = np.array([[0, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]])
    found, _ = summed(series(y))
    np.testing.assert_allclose(found, sum(forward(chain) for chain in y.T), rtol=1e-12)


@ac.model
def masked_step(y, is_there):
    ac.sample("a", dist.Normal(0.0, 1.0))

    def step(before, now):
        seen, there = now
        with handlers.mask(mask=there):
            z = ac.sample("z", dist.Categorical(ROWS[before])).astype(jnp.int32)
            ac.sample("y", dist.Bernoulli(EMIT[z]), obs=seen)
        return z, None

    ac.scan(step, jnp.int32(2), (y, is_there))


def test_a_masked_step_does_not_cut_its_chain():
    """A masked prior counts as 1 for each value in NumPyro: the sum gains log K, and what lies after is cut off."""
    found, probabilities = summed(masked_step(np.array([0, 1, 1, 0, 1]), np.arange(5) != 2))
    np.testing.assert_allclose(found, -3.184456282, atol=2e-9)
    np.testing.assert_allclose(probabilities["z"].sum(-1), 1, rtol=1e-12)


@ac.model
def classes(x):
    ac.sample("a", dist.Normal(0.0, 1.0))
    with handlers.mask(mask=False), ac.plate("row", 2):
        z = ac.sample("z", dist.Categorical(np.full(3, 1 / 3)))
        ac.sample("x", dist.Normal(z, 1.0), obs=x)


def test_labels_that_are_masked_add_nothing():
    """Not 2 log 3, where a masked prior of three values counts as 1 for each."""
    found, _ = summed(classes(np.array([0.3, 1.7])))
    np.testing.assert_allclose(found, 0, atol=1e-12)


@ac.model
def coin_and_number():
    ac.sample("a", dist.Normal(0.0, 1.0))
    y = ac.sample("y", dist.Bernoulli(0.5))
    ac.sample("x", dist.Normal(y, 1.0), obs=1.0)


def test_a_site_is_summed_out_and_not_drawn_from_its_prior():
    """Pyro #3080: one value after the other, the posterior probability is that of the prior, .5."""
    _, found = summed(coin_and_number())
    np.testing.assert_allclose(found["y"][1], 0.622459331, atol=2e-9)
