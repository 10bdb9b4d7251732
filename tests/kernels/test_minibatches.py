"""Hold stochastic gradients to the exact laws of their steps, and to what is promised of every run.

The statistical tests compare a mean over 256 independent chains with its true value within 6 standard errors: a false
alarm in 2e-9 of each of 6 comparisons, and of 3 others.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.squares import Scales
from accord.core import keys
from accord.core.errors import ModelError, OptionError, SiteError
from accord.core.position import Position
from accord.core.stats import Ending
from accord.density.minibatch import for_minibatches, minibatch_of
from accord.kernels.evaluated import advanced
from accord.kernels.minibatches import AbstractMinibatches
from accord.kernels.point import Point

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
X = np.random.default_rng(0).normal(size=(40, 2))
Y = X @ np.array([0.5, -1.0]) + np.random.default_rng(1).normal(size=40)


@ac.model
def regression(x: Any, y: Any, size: int | None = None) -> None:
    slope = ac.sample("slope", dist.Normal(np.zeros(2), 1.0).to_event(1))
    with ac.plate("row", len(x), subsample_size=size):
        mean = ac.deterministic("mean", ac.subsample(x, 1) @ slope)
        ac.sample("y", dist.Normal(mean, 1.0), obs=ac.subsample(y))


def noisy(variance: float) -> Callable[..., tuple[Any, Any]]:
    """A standard normal target whose gradient has noise of this variance."""

    def target(position: Position, words: Any) -> tuple[Any, Any]:
        x = position.free
        noise = jnp.sqrt(variance) * keys.normal(words, 1, 7, x.dtype)
        return -0.5 * jnp.sum(x * x), noise - x

    return target


def walked(kernel: AbstractMinibatches, step_size: float, target: Any, num_draws: int) -> np.ndarray:
    """Draws of 256 chains, shape `(chain, draw)`, that begin in the law of the target."""
    tuning = Scales(jnp.asarray(step_size), jnp.ones(1), jnp.zeros(()))
    nowhere = np.zeros(1)
    begun = jax.tree.map(jnp.asarray, kernel.init(Point(Position(nowhere), np.zeros(()), nowhere)))

    def chain(key: Any, start: Any) -> Any:
        zero = jnp.zeros(())

        def step(carry: Any, _: Any) -> Any:
            state, number = carry
            state, info, _ = advanced(kernel, keys.fold(key, number), target, state, tuning)
            number = number + info.is_complete.astype(jnp.uint32)
            return (state, number), (state.point.position.free[0], info.is_complete)

        state = replace(begun, point=Point(Position(start), zero, -start))
        return jax.lax.scan(step, (state, jnp.uint32(0)), length=num_draws * kernel.num_steps)[1]

    words = np.stack([keys.chain_key(3, number) for number in range(256)])
    starts = np.random.default_rng(5).normal(size=(256, 1))
    places, is_complete = map(np.asarray, jax.jit(jax.vmap(chain))(words, starts))
    assert (is_complete == is_complete[:1]).all()
    return places[:, is_complete[0]]


def stationary_variance(step_size: float, noise: float, friction: float, num_steps: int) -> float:
    """The variance of draws on a standard normal target, from the linear recursion of place and momentum.

    A draw begins with a new momentum, of mean `-k` times the gradient and variance `2 k`.
    """
    h = 0.5 * step_size * friction
    k = h / (2 - friction)
    # (x, m) -> (x + m', m') with m' = (1 - a) m - h x + noise; the first m goes with the gradient of the same part.
    step = np.array([[1 - h, 1 - friction], [-h, 1 - friction]])
    shake = 2 * friction * h * np.ones((2, 2))
    kick = h - (1 - friction) * k
    begin = np.array([[1 - kick, 1 - friction], [-kick, 1 - friction]])

    def draw(variance: float) -> float:
        both = begin @ np.diag([variance, 2 * k]) @ begin.T + shake + kick**2 * noise
        for _ in range(num_steps - 1):
            both = step @ both @ step.T + shake + h**2 * noise
        return both[0, 0]

    return draw(0.0) / (1 - draw(1.0) + draw(0.0))  # what a draw leaves as it is: it is linear


@pytest.mark.parametrize("noise", [0.0, 1.0, 20.0])
@pytest.mark.parametrize(("friction", "num_steps"), [(1.0, 1), (0.1, 100), (0.1, 2), (0.3, 1), (0.9, 3)])
def test_variances_are_too_large_by_a_quarter_of_the_step_at_most(
    friction: float, num_steps: int, noise: float
) -> None:
    """In units of the mean squared gradient; a momentum apart from the place made them too small, by up to 44%."""
    excess = stationary_variance(0.2 / (1 + noise), noise, friction, num_steps) - 1
    assert 0 < excess < 1.06 * 0.2 / 4


F33 = {(0.1, 0.0): 1.025641026, (0.5, 0.0): 1.142857143, (0.1, 4.0): 1.128205128, (0.5, 4.0): 1.714285714}
"""Variances of Langevin steps without acceptance on N(0, 1), by step size and variance of the gradient's noise."""


@pytest.mark.parametrize(("step_size", "noise"), F33)
def test_langevin_steps_have_their_exact_variance(step_size: float, noise: float) -> None:
    expected = F33[step_size, noise]
    np.testing.assert_allclose(stationary_variance(step_size, noise, 1.0, 1), expected, rtol=1e-9)
    draws = walked(infer.SGLD(num_steps=1), step_size, noisy(noise), 4000)[:, 500:]
    agrees(draws, expected)


@pytest.mark.parametrize(("friction", "num_steps"), [(0.3, 7), (0.1, 2)])
def test_steps_with_a_momentum_have_their_exact_variance(friction: float, num_steps: int) -> None:
    expected = stationary_variance(0.4, 4.0, friction, num_steps)
    kernel = infer.SGHMC(friction=friction, num_steps=num_steps)
    agrees(walked(kernel, 0.4, noisy(4.0), 4000)[:, 1000:], expected)


def agrees(draws: np.ndarray, variance: float) -> None:
    """Hold the mean square of chains to a variance."""
    squares = (draws**2).mean(1)
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert error < 0.02 * variance
    assert abs(squares.mean() - variance) < 6 * error


def test_a_chain_finds_its_way_from_afar() -> None:
    """To 30 with a posterior 0.05 wide, by 1% of the data a step: 6 errors of 20 independent draws are 1.4 widths."""

    @ac.model
    def mean_of(y: Any, size: int) -> None:
        mean = ac.sample("mean", dist.Normal(0.0, 100.0))
        with ac.plate("row", len(y), subsample_size=size):
            ac.sample("y", dist.Normal(mean, 3.0), obs=ac.subsample(y))

    y = 30 + 3 * np.random.default_rng(7).normal(size=4000)
    draws = infer.sample(mean_of(y, 40), infer.SGLD(), draws=300, chains=2, seed=3, **QUIET)
    assert draws.tuning["is_settled"].all()
    assert abs(draws["mean"].mean() - y.mean()) < 1.4 * 3 / np.sqrt(4000)


def test_a_gradient_that_is_no_number_ends_the_draw_where_the_last_one_was() -> None:
    def target(position: Position, words: Any) -> tuple[Any, Any]:
        value, gradient = noisy(1.0)(position, words)
        return value, jnp.where(
            keys.uniform(words, jnp.uint32(0), jnp.uint32(3), float) < 0.5, gradient, jnp.nan
        )

    kernel, tuning = infer.SGLD(num_steps=1), Scales(jnp.asarray(0.5), jnp.ones(1), jnp.zeros(()))
    point = Point(Position(np.ones(1)), np.zeros(()), -np.ones(1))
    state, endings = kernel.init(point), set[int]()
    for number in range(20):
        before = state.point.position.free
        state, info, _ = advanced(kernel, keys.fold(np.zeros(2, np.uint32), number), target, state, tuning)
        endings.add(int(info.ending))
        assert info.is_complete and bool(jnp.isfinite(state.point.gradient).all())
        assert (info.ending == Ending.GOOD) or state.point.position.free == before
    assert endings == {Ending.GOOD, Ending.GRADIENT}


def test_the_mean_over_all_parts_is_the_log_density_and_its_gradient() -> None:
    x, y = X[:6], Y[:6]
    density = ac.LogDensity.from_model(for_minibatches(regression(x, y, 2)))
    part = minibatch_of(density, "this")
    at = Position(np.array([0.3, -0.2]))
    words = np.random.default_rng(2).integers(0, 2**32, (600, 2), dtype=np.uint32)
    values, gradients = jax.jit(jax.vmap(lambda each: part.value_and_grad(density.data, at, each)))(words)
    rounded, first = np.unique(np.round(np.asarray(values), 9), return_index=True)
    assert len(rounded) == len(list(combinations(range(6), 2)))
    whole = ac.LogDensity.from_model(regression(x, y))
    value, gradient = whole.value_and_grad(at.free)
    np.testing.assert_allclose(values[first].mean(), value, rtol=1e-12)
    np.testing.assert_allclose(gradients[first].mean(0), gradient, rtol=1e-12)
    np.testing.assert_allclose(density(at.free), value, rtol=1e-14)


def test_with_control_variates_steps_are_as_long_as_with_all_of_the_data() -> None:
    """Compare draws of a normal likelihood, whose expansion is exact: 50 steps from 1% of the data forget their start.

    Variances are 1 / (1 - step_size / 4) too large: within 6 errors of 4 x 500 independent draws, as the mean.
    """

    @ac.model
    def mean_of(y: Any, size: int) -> None:
        mean = ac.sample("mean", dist.Normal(0.0, 100.0))
        with ac.plate("row", len(y), subsample_size=size):
            ac.sample("y", dist.Normal(mean, 0.3), obs=ac.subsample(y))

    y = 3 + 0.3 * np.random.default_rng(7).normal(size=4000)
    kernel = infer.SGLD(control_variates=True, num_steps=50)
    draws = infer.sample(mean_of(y, 40), kernel, draws=500, chains=4, warmup=200, seed=3, **QUIET)
    found, sd = draws["mean"].ravel(), 0.3 / np.sqrt(4000)
    assert abs(found.mean() - y.mean()) < 6 * sd / np.sqrt(2000)
    assert abs(found.var() / sd**2 * 0.95 - 1) < 6 * np.sqrt(2 / 2000)


KERNELS: dict[str, AbstractMinibatches] = {
    "SGLD": infer.SGLD(num_steps=10),
    "SGHMC": infer.SGHMC(num_steps=5),
    "control variates": infer.SGHMC(num_steps=5, control_variates=True),
}


@each(KERNELS)
def test_a_run_is_the_same_in_processes_and_when_it_goes_on(
    kernel: AbstractMinibatches, tmp_path: Path
) -> None:
    model = regression(X, Y, 8)
    run: dict[str, Any] = dict(chains=2, warmup=60, seed=4, **QUIET)
    whole = infer.sample(model, kernel, draws=80, executor=infer.Serial(), **run)
    spread = infer.sample(model, kernel, draws=80, executor=infer.Processes(2), **run)
    np.testing.assert_array_equal(spread["slope"], whole["slope"])
    infer.sample(model, kernel, draws=30, store=infer.RunFolder(tmp_path / "run"), **run)
    longer = infer.resume(tmp_path / "run", model, quiet=True, progress=False).extend(50)
    np.testing.assert_array_equal(longer["slope"], whole["slope"])
    assert infer.load(tmp_path / "run")["slope"].shape == (2, 80, 2)


def test_sites_of_a_run_have_all_entries_and_its_bias_is_told() -> None:
    draws = infer.sample(regression(X, Y, 8), infer.SGLD(), draws=60, chains=2, seed=1, **QUIET)
    assert draws["mean"].shape == (2, 60, 40)
    np.testing.assert_allclose(draws["mean"], draws["slope"] @ X.T, rtol=1e-12)
    (notice,) = [each for each in draws.notices if each.code == "biased"]
    assert notice.severity == "info" and "about 5.0% too large" in notice.message
    assert infer.log_likelihood(draws)["y"].shape == (2, 60, 40)
    (other,) = [each for each in halved(draws.density).notices if each.code == "biased"]
    assert "about 2.5% too large" in other.message


def halved(density: ac.LogDensity) -> Any:
    """A run from the density of another one, with half of the step size."""
    return infer.sample(density, infer.SGLD(step_size=0.1), draws=20, chains=2, warmup=20, **QUIET)


def test_labels_of_rows_are_summed_out_of_each_part() -> None:
    @ac.model
    def mixture(y: Any, size: int) -> None:
        mean = ac.sample("mean", dist.Normal(np.array([-1.0, 1.0]), 1.0).to_event(1))
        with ac.plate("row", len(y), subsample_size=size):
            label = ac.sample("label", dist.Categorical(np.array([0.4, 0.6])))
            ac.sample("y", dist.Normal(mean[label], 1.0), obs=ac.subsample(y))

    draws = infer.sample(mixture(Y, 10), infer.SGLD(), draws=40, chains=2, warmup=40, **QUIET)
    assert draws["label"].shape == (2, 40, 40) and set(np.unique(draws["label"])) == {0, 1}


@ac.model
def of_rows(y: Any) -> None:
    mean = ac.sample("mean", dist.Normal(0.0, 1.375))
    with ac.plate("row", len(y), subsample_size=5):
        each = ac.sample("each", dist.Normal(mean, 1.0))
        ac.sample("y", dist.Normal(each, 1.0), obs=ac.subsample(y))


BAD: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "no part": (
        regression(X, Y),
        infer.SGLD(),
        ModelError,
        "no plate of the model 'regression' has a `subsample_size`",
    ),
    "an unknown for each row": (
        of_rows(Y),
        infer.SGHMC(),
        SiteError,
        "site 'each' has an unknown for each entry",
    ),
    "a function": (
        ac.LogDensity.from_function(lambda x: -jnp.sum(x * x), np.zeros(2)),
        infer.SGLD(),
        ModelError,
        "a function does not say what is a part",
    ),
    "an exact sampler": (
        regression(X, Y, 8),
        infer.NUTS(),
        SiteError,
        r"nearly those of the posterior, are `infer.HMCECS",
    ),
}


@each(BAD)
def test_what_has_no_parts_is_refused(case: tuple[Any, Any, type[Exception], str]) -> None:
    target, kernel, kind, message = case
    with pytest.raises(kind, match=message):
        infer.sample(target, kernel, draws=10, chains=1, **QUIET)


OPTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "a step of 0": (lambda: infer.SGLD(step_size=0), r"step_size must be a number in \(0, 1\], got 0"),
    "a step that is too long": (
        lambda: infer.SGHMC(step_size=2.0),
        r"step_size must be a number in \(0, 1\]",
    ),
    "no friction": (lambda: infer.SGHMC(friction=0.0), r"friction must be a number in \(0, 1\]"),
    "half a step": (
        lambda: infer.SGLD(num_steps=0.5),
        "num_steps must be a whole number of at least 1, got 0.5",
    ),
    "half of the control variates": (
        lambda: infer.SGLD(control_variates=0.5),  # pyright: ignore[reportArgumentType]
        "control_variates must be True or False, got 0.5",
    ),
    "a kernel that names no part": (
        lambda: infer.RandomWalk().batch_of(None),
        r"no method `batch_of\(pending\)`",
    ),
    "a block of others": (lambda: infer.Gibbs({...: infer.SGLD()}), "cannot be one of several kernels"),
    "a rung of a ladder": (lambda: infer.Tempered(infer.SGLD()), "cannot be one of several kernels"),
}


@each(OPTIONS)
def test_bad_options_are_refused(case: tuple[Callable[[], Any], str]) -> None:
    make, message = case
    with pytest.raises(OptionError, match=message):
        make()
