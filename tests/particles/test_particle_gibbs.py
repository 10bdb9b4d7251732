"""Hold particle Gibbs against exact smoothers, with the wrong way to keep a reference as a control.

Averages are compared with exact values within 6 standard errors, from the means of independent chains: a false-alarm
rate of 2e-9 for each of 5 marginals of 4 ways, 10 moments of the linear Gaussian series and 2 of its slope.
"""

import jax
import jax.numpy as jnp
import numpy as np
import particle_models as models
import pytest
from laws import compiled, each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core import precision
from accord.core.errors import OptionError, SiteError
from accord.core.position import Position
from accord.density import LogDensity
from accord.particles import conditional_loop
from accord.particles.conditional_loop import ConditionalWay
from accord.particles.posterior import TrajectoryDraw
from accord.resampling import AbstractConditionalResampling
from accord.resampling.base import by_inverse_cdf

SYSTEMATIC, MULTINOMIAL = infer.ConditionalSystematic(), infer.ConditionalMultinomial()


class Forced(AbstractConditionalResampling):
    """Ordered multinomial ancestors, of which the first is replaced: the reference is not taken into account."""

    def ancestors(self, weights, first, generator):
        found = by_inverse_cdf(weights, jnp.sort(generator.random(len(weights))))
        return found.at[0].set(first.astype(found.dtype))


class OneFewer(AbstractConditionalResampling):
    """Systematic ancestors of all particles but one, beside the reference, which is not taken into account."""

    def ancestors(self, weights, first, generator):
        others = len(weights) - 1
        found = by_inverse_cdf(weights, (jnp.arange(others) + generator.random(1)) / others)
        return jnp.concatenate([first[None].astype(found.dtype), found])


def position_like(density):
    """Return a position of zeros."""
    whole = jnp.zeros(density.layout.num_whole, jnp.int32) if density.layout.whole else None
    return Position(jnp.zeros(density.dim), whole)


def swept(model, names, way, chains, sweeps):
    """Return the mean of each state over the sweeps of each chain, and that of its square."""
    with precision.scope("float64"):
        density = LogDensity.from_model(model, "float64", whole_if_discrete=names)
        draw = TrajectoryDraw.of(density, names, way)

        def chain(key):
            def sweep(position, number):
                words = jax.random.key_data(jax.random.fold_in(key, number))
                position = draw.drawn(density, position, words.astype(jnp.uint32))
                numbers = position.free if position.whole is None else position.whole.astype(float)
                return position, numbers

            start = position_like(density)
            _, found = jax.lax.scan(sweep, start, jnp.arange(sweeps))
            kept = found[sweeps // 10 :]
            return kept.mean(axis=0), (kept**2).mean(axis=0)

        keys = jax.random.split(jax.random.key(1), chains)
        return [np.asarray(each) for each in compiled(jax.vmap(chain))(keys)]


def errors(found, exact):
    """Return the errors of averages over chains, and their standard errors."""
    return found.mean(axis=0) - exact, found.std(axis=0, ddof=1) / np.sqrt(len(found))


WAYS = {
    "systematic": ConditionalWay(4, SYSTEMATIC, False, "test"),
    "multinomial": ConditionalWay(4, MULTINOMIAL, False, "test"),
    "systematic, with ancestors": ConditionalWay(3, SYSTEMATIC, True, "test"),
    "multinomial, with ancestors": ConditionalWay(2, MULTINOMIAL, True, "test"),
}


@pytest.mark.slow
@each(WAYS)
def test_states_of_a_hidden_chain_have_their_exact_marginals(way):
    found, _ = swept(
        models.hidden(models.TOSSES), ("z",), way, 200, 1000 if way.has_ancestor_sampling else 4000
    )
    error, standard_error = errors(found, models.HIDDEN_SMOOTHED)
    assert np.all(np.abs(error) < 6 * standard_error) and np.all(standard_error < 0.0025)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "least"), [(Forced(), 0.01), (OneFewer(), 0.006)])
def test_ancestors_that_do_not_know_the_reference_bias_the_draws(scheme, least):
    way = ConditionalWay(4, scheme, False, "test")
    found, _ = swept(models.hidden(models.TOSSES), ("z",), way, 200, 4000)
    error, standard_error = errors(found, models.HIDDEN_SMOOTHED)
    worst = np.argmax(np.abs(error))
    assert np.abs(error[worst]) > max(least, 6 * standard_error[worst])


def test_states_of_a_linear_gaussian_series_have_their_exact_moments():
    way = ConditionalWay(5, SYSTEMATIC, True, "test")
    mean, square = swept(models.autoregression(models.Y, 0.9), ("first", "x"), way, 100, 400)
    error, standard_error = errors(mean, models.SMOOTHED_MEAN)
    assert np.all(np.abs(error) < 6 * standard_error) and np.all(standard_error < 0.01)
    exact = models.SMOOTHED_SD**2 + np.square(models.SMOOTHED_MEAN)
    error, standard_error = errors(square, exact)
    assert np.all(np.abs(error) < 6 * standard_error) and np.all(standard_error < 0.015)


@ac.model
def undefined_above(y):
    """A likelihood that is NaN above one half."""

    def step(x, y_t):
        x = ac.sample("x", dist.Normal(0.5 * x, 1.0))
        ac.factor("f", jnp.where(x > 0.5, jnp.nan, dist.Normal(x, 1.0).log_prob(y_t)))
        return x, None

    ac.scan(step, 0.0, y)


@pytest.mark.slow
def test_no_state_is_where_the_likelihood_is_no_number():
    with precision.scope("float64"):
        density = LogDensity.from_model(undefined_above(models.Y), "float64")
        draw = TrajectoryDraw.of(density, ("x",), ConditionalWay(4, SYSTEMATIC, True, "test"))

        def sweep(position, number):
            position = draw.drawn(density, position, jnp.stack([number, number]))
            return position, position.free

        numbers = jnp.arange(500, dtype=jnp.uint32)
        _, found = compiled(lambda start: jax.lax.scan(sweep, start, numbers))(position_like(density))
    assert np.max(found) <= 0.5 and np.all(np.std(found, axis=0) > 0.3)


BLOCKS = infer.Gibbs({("first", "x"): infer.ParticleGibbs(particles=8), ...: infer.NUTS()})
OPTIONS = {"draws": 60, "warmup": 40, "chains": 2, "seed": 2, "progress": False, "quiet": True}


@pytest.mark.slow
def test_parameters_beside_states_have_their_exact_moments():
    draws = infer.sample(
        models.autoregression(models.Y), BLOCKS, **(OPTIONS | {"draws": 4000, "warmup": 300, "chains": 4})
    )
    summary = draws.summary()
    row = summary.to_dataframe().loc["a"]
    assert abs(row["mean"] - models.SLOPE_MEAN) < 6 * row["mcse_mean"] and row["mcse_mean"] < 0.03
    assert abs(row["sd"] - models.SLOPE_SD) < 6 * row["mcse_sd"]
    share = np.asarray(draws.stats["first,x.share_changed"])
    assert 0.5 < share.mean() <= 1


@pytest.mark.slow
def test_draws_are_the_same_wherever_and_after_a_stop(tmp_path):
    model = models.autoregression(models.Y)
    whole = infer.sample(model, BLOCKS, **OPTIONS)
    serial = infer.sample(model, BLOCKS, **(OPTIONS | {"executor": infer.Processes(2)}))
    alone = infer.sample(model, BLOCKS, **(OPTIONS | {"chains": [1], "executor": infer.Serial()}))
    infer.sample(model, BLOCKS, **(OPTIONS | {"draws": 20, "store": infer.RunFolder(tmp_path / "run")}))
    later = infer.resume(tmp_path / "run", model, progress=False, quiet=True).extend(40)
    for name in whole:
        assert np.array_equal(whole[name], serial[name])
        assert np.array_equal(whole[name][1:], alone[name])
        assert np.array_equal(whole[name], later[name])


@ac.model
def second_order(y):
    def step(carry, y_t):
        one, two, time = carry
        x = ac.sample("x", dist.Normal(0.5 * one + 0.3 * two + 0.01 * time, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y_t)
        return (x, one, time + 1.0), x

    ac.scan(step, (0.0, 0.0, 0.0), y)


@ac.model
def drifting(y):
    def step(total, y_t):
        x = ac.sample("x", dist.Normal(total, 1.0))
        ac.sample("y", dist.Normal(x, 1.0), obs=y_t)
        return 0.9 * total + x, None

    ac.scan(step, 0.0, y)


@ac.model
def looked_back_on(y):
    def step(x, y_t):
        x = ac.sample("x", dist.Normal(x, 1.0))
        return x, x

    _, xs = ac.scan(step, 0.0, y)
    ac.sample("mean", dist.Normal(xs.mean(), 1.0), obs=0.3)


def drawn_once(model, names, way):
    with precision.scope("float64"):
        density = LogDensity.from_model(model, "float64")
        draw = TrajectoryDraw.of(density, names, way)
        return jax.eval_shape(
            lambda position: draw.drawn(density, position, jnp.zeros(2, jnp.uint32)),
            Position(jnp.zeros(density.dim)),
        )


def test_a_carry_of_two_states_and_the_time_is_followed_for_two_steps(monkeypatch):
    found, original = [], conditional_loop.steps_felt

    def noted(*args):
        found.append(original(*args))
        return found[-1]

    monkeypatch.setattr(conditional_loop, "steps_felt", noted)
    drawn_once(second_order(models.Y), ("x",), ConditionalWay(3, SYSTEMATIC, True, "test"))
    assert set(found) == {2}


REFUSED = {
    "the whole past": (drifting, ("x",), SiteError, ["'x'", "has_ancestor_sampling=False"]),
    "after the scan": (looked_back_on, ("x",), OptionError, ["'mean'", "after the scan"]),
}


@each(REFUSED)
def test_a_series_whose_past_cannot_be_changed_at_a_step_is_refused(case):
    model, names, error, words = case
    with pytest.raises(error) as raised:
        drawn_once(model(models.Y), names, ConditionalWay(3, SYSTEMATIC, True, "test"))
    assert all(word in str(raised.value) for word in words), str(raised.value)
    drawn_once(model(models.Y), names, ConditionalWay(3, SYSTEMATIC, False, "test"))


OF_OPTIONS = {
    "one particle": (lambda: infer.ParticleGibbs(particles=1), ["at least 2"]),
    "free resampling": (
        lambda: infer.ParticleGibbs(resampling=infer.Systematic()),
        ["ConditionalSystematic"],
    ),
    "a parameter": (
        lambda: infer.sample(models.autoregression(models.Y), infer.ParticleGibbs(), **OPTIONS),
        ["'a'", "neither a state"],
    ),
}


@each(OF_OPTIONS)
def test_options_that_cannot_be_are_refused(case):
    call, words = case
    with pytest.raises((OptionError, SiteError)) as raised:
        call()
    assert all(word in str(raised.value) for word in words), str(raised.value)
