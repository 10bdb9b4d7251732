"""Hold the walk on estimates against a known distribution, with the wrong way to treat old estimates as a control.

The share of a half line is that of 400 independent chains, within 6 standard errors of one half: a false-alarm rate of
2e-9. The control's share is 0.34 by the acceptances of two levels of noise.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import compiled

from accord.adaptation.robust import Root
from accord.adaptation.tuning import Tuning
from accord.core import keys
from accord.core.position import Position
from accord.core.stats import Ending
from accord.kernels import PMMH
from accord.kernels.evaluated import advanced
from accord.kernels.formula import Estimate
from accord.kernels.places import Place, Places
from accord.kernels.point import Point

PLACES = Places((Place("state", 0, 1), Place("parameter", 1, 2)), series=("state",))
QUIET, NOISY = 0.2, 1.5  # standard deviations of the noise below and above zero


def estimated(position, words):
    """A parameter that is uniform from -1 to 1, estimated with more noise above zero; and a state beside it."""
    noise = keys.normal(words, 2, 0, position.free.dtype)
    parameter = position.free[1]
    sd = jnp.where(parameter > 0, NOISY, QUIET)
    log_density = jnp.where(jnp.abs(parameter) < 1, sd * noise[0] - 0.5 * sd**2, -jnp.inf)
    return Estimate(replace(position, free=position.free.at[0].set(noise[1])), log_density, jnp.int32(0))


KERNEL = PMMH(10, estimate_sd=1.0).placed(PLACES).bound((estimated,))


class Recomputing(PMMH):
    """A walk that estimates the density of the accepted point anew before each proposal."""

    def tell(self, *args):
        state, info = super().tell(*args)
        return replace(state, is_fresh=info.is_complete), info


def target(position):
    return -0.5 * jnp.sum(position.free**2), -position.free


def tuned(step_size):
    return Tuning(jnp.asarray(step_size), Root(jnp.eye(1)), is_probe=jnp.zeros((), bool))


def walked(kernel, key, count, step_size=1.5):
    """Return where a chain stands after each evaluation, and its estimates."""

    def step(state, number):
        state, info, _ = advanced(kernel, keys.fold(key, number), target, state, tuned(step_size))
        return state, (state.point.position.free, state.estimate, info)

    return jax.lax.scan(step, jax.tree.map(jnp.asarray, at(-0.3)), jnp.arange(count, dtype=jnp.uint32))[1]


def shares_above(kernel, num_evaluations):
    chains = jnp.stack([jnp.asarray(keys.chain_key(4, chain)) for chain in range(400)])

    def share(key):
        free, _, info = walked(kernel, key, num_evaluations)
        is_kept = info.is_complete & (jnp.arange(num_evaluations) > 100)
        return jnp.sum(is_kept & (free[:, 1] > 0)) / jnp.sum(is_kept)

    return np.asarray(compiled(jax.vmap(share))(chains))


def test_an_estimate_that_is_kept_leaves_the_distribution_exact():
    found = shares_above(KERNEL, 2000)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert error < 0.01 and abs(found.mean() - 0.5) < 6 * error


def test_an_estimate_that_is_made_anew_does_not():
    wrong = Recomputing(10, estimate_sd=1.0).placed(PLACES).bound((estimated,))
    found = shares_above(wrong, 4000)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - 0.34) < 0.03 and abs(found.mean() - 0.5) > 6 * error


def test_a_state_and_an_estimate_stay_until_a_proposal_is_accepted():
    free, estimates, info = map(
        np.asarray, jax.tree.leaves(compiled(lambda key: walked(KERNEL, key, 500))(_key()))[:3]
    )
    has_moved = free[1:, 1] != free[:-1, 1]
    assert 50 < has_moved.sum() < 450
    np.testing.assert_array_equal(free[1:, 0] != free[:-1, 0], has_moved)
    np.testing.assert_array_equal(estimates[1:] != estimates[:-1], has_moved)
    assert not info[0] and info[1:].all()  # the first evaluation makes the estimate of the start


def _key():
    return jnp.asarray(keys.chain_key(0, 0))


def at(place):
    return KERNEL.init(Point(Position(np.array([0.0, place])), np.zeros(()), np.zeros(2)))


def test_an_evaluation_forgets_the_estimate():
    later = replace(at(0.9), is_fresh=np.bool_(False), estimate=np.float64(50.0))

    @jax.jit
    def evaluate(state):
        return advanced(KERNEL, _key(), target, state, tuned(1.0), jnp.ones((), bool))

    for each in (at(-0.3), later):
        after, info, point = evaluate(each)
        assert info.is_complete and after.is_fresh
        np.testing.assert_array_equal(point.position.free, each.point.position.free)


BARRIERS = {
    "NaN": (jnp.nan, Ending.LOG_DENSITY),
    "+inf": (jnp.inf, Ending.LOG_DENSITY),
    "-inf": (-jnp.inf, Ending.GOOD),
}


@pytest.mark.parametrize("name", BARRIERS)
def test_a_chain_never_moves_to_where_the_density_is_no_number(name):
    beyond, ending = BARRIERS[name]

    def barred(position):
        value, gradient = target(position)
        return jnp.where(position.free[1] > 0.2, beyond, value), gradient

    def step(state, number):
        state, info, _ = advanced(KERNEL, keys.fold(_key(), number), barred, state, tuned(0.5))
        return state, (state.point.position.free[1], info.ending, info.acceptance)

    state = jax.tree.map(jnp.asarray, at(-0.3))
    numbers = jnp.arange(300, dtype=jnp.uint32)
    places, endings, rates = map(
        np.asarray, compiled(lambda state: jax.lax.scan(step, state, numbers)[1])(state)
    )
    assert np.all(places <= 0.2) and len(np.unique(places)) > 30
    assert np.all(rates[endings == Ending.LOG_DENSITY] == 0) and np.any(endings == ending)
