"""Hold trajectories on parts of the data to exact laws, and to what is promised of every run.

The statistical tests compare means over independent chains, or parts, with true values within 6 standard errors: a
false alarm in 2e-9 of each comparison.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each
from machine import diagonal_metric

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.tuning import Tuning
from accord.core import keys
from accord.core.errors import DataError, ModelError, OptionError, SiteError, StorageError
from accord.core.position import Position
from accord.density.control import Controlled, Reference
from accord.density.minibatch import for_minibatches, minibatch_of
from accord.kernels.evaluated import advanced
from accord.kernels.hmcecs import HMCECS
from accord.kernels.point import Point

QUIET: dict[str, Any] = dict(quiet=True, progress=False)
X = np.random.default_rng(0).normal(size=(600, 2))
Y = X @ np.array([0.5, -1.0]) + np.random.default_rng(1).normal(size=600)
Z = np.random.default_rng(2).uniform(size=600) < 1 / (1 + np.exp(-Y))


@ac.model
def regression(x: Any, y: Any, size: int | None = None) -> None:
    slope = ac.sample("slope", dist.Normal(np.zeros(2), 1.0).to_event(1))
    with ac.plate("row", len(x), subsample_size=size):
        mean = ac.deterministic("mean", ac.subsample(x, 1) @ slope)
        ac.sample("y", dist.Normal(mean, 1.0), obs=ac.subsample(y))


@ac.model
def logistic(x: Any, y: Any, size: int | None = None) -> None:
    slope = ac.sample("slope", dist.Normal(np.zeros(x.shape[1]), 1.0).to_event(1))
    with ac.plate("row", len(x), subsample_size=size):
        ac.sample("y", dist.Bernoulli(logits=ac.subsample(x, 1) @ slope), obs=ac.subsample(y))


def around(density: ac.LogDensity, position: np.ndarray) -> Reference:
    """The expansion of a density at a position."""
    value, gradient = density.value_and_grad(position)
    hessian = jax.jacfwd(lambda at: density.value_and_grad(at)[1])(position)
    return Reference(*map(np.asarray, (position, value, gradient, hessian)))


def estimates(model: Any, at: np.ndarray, reference: np.ndarray, count: int, parts: int) -> Any:
    """Estimates at a place from `count` sets of parts, and the exact log density."""
    density = ac.LogDensity.from_model(for_minibatches(model))
    control = Controlled(minibatch_of(density, "this"))
    data = {**density.data, **around(density, reference).data}
    words = np.random.default_rng(3).integers(0, 2**32, (count, parts, 2), dtype=np.uint32)
    found = jax.jit(jax.vmap(lambda each: control.value_and_grad(data, Position(at), each)))(words)
    return jax.tree.map(np.asarray, found), density


AT, REFERENCE = np.array([0.35, -0.75]), np.array([0.7, -1.6])


def test_one_part_is_unbiased_with_its_gradient() -> None:
    """Compare the mean of 5,000 estimates of one part each, which are not corrected, with the whole."""
    found, density = estimates(logistic(X, Z, 20), AT, REFERENCE, 5_000, 1)
    value, gradient = density.value_and_grad(AT)
    for each_found, exact in ((found.log_density, value), (found.gradient, gradient)):
        error = each_found.std(axis=0, ddof=1) / np.sqrt(len(each_found))
        assert np.all(error < 0.1)
        assert np.all(np.abs(each_found.mean(axis=0) - exact) < 6 * error)


def test_the_correction_makes_the_mean_density_right() -> None:
    """With noise of variance 0.3, densities are right on average; uncorrected, they are too large by a sixth."""
    found, density = estimates(logistic(X, Z, 20), AT, REFERENCE, 20_000, 10)
    exact, variance = float(density(AT)), found.variance.mean()
    assert 0.2 < variance < 0.4
    ratios = np.exp(found.log_density - exact)
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    assert error < 0.008
    assert abs(ratios.mean() - 1) < 6 * error < np.expm1(variance / 2) / 3
    # The variance is that of the part which is not corrected: it varies by itself.
    plain = found.log_density + 0.5 * found.variance + found.variance**2 / 44
    spread = (plain - plain.mean()) ** 2 - found.variance
    assert abs(spread.mean()) < 6 * spread.std(ddof=1) / np.sqrt(len(spread))


def test_the_gradient_is_that_of_the_estimate() -> None:
    density = ac.LogDensity.from_model(for_minibatches(logistic(X, Z, 20)))
    control = Controlled(minibatch_of(density, "this"))
    data = {**density.data, **around(density, REFERENCE).data}
    words = np.random.default_rng(3).integers(0, 2**32, (6, 2), dtype=np.uint32)

    def value(at: Any) -> Any:
        return control.value_and_grad(data, Position(at), words).log_density

    def both(at: Any) -> Any:
        return control.value_and_grad(data, Position(at), words).gradient, jax.grad(value)(at)

    np.testing.assert_allclose(*jax.jit(both)(AT), rtol=1e-9)


def noisy(position: Position, words: Any) -> tuple[Any, ...]:
    """A standard normal target with noise whose exponential has mean 1 wherever it is: its marginal is exact."""
    x, parts = position.free, words.shape[0]
    draws = jnp.stack([keys.normal(words[part], 1, 7, x.dtype) for part in range(parts)])
    s = jnp.sum(draws, axis=0) / jnp.sqrt(parts)
    return jnp.sum(-0.5 * x * x + s * x - 0.5 * x * x), s - 2 * x, jnp.ones(()), jnp.ones(1)


INNER: dict[str, Any] = {
    "HMC": infer.HMC(trajectory_length=1.2, max_steps=8),
    "NUTS": infer.NUTS(max_tree_depth=3),
}


@each(INNER, slow=("NUTS",))
def test_draws_follow_the_marginal_of_a_noisy_target(inner: Any) -> None:
    """A variance of 1 in 256 chains after 60 draws, where exchanges that are never refused would give 0.75."""
    kernel, steps, count = HMCECS(inner, parts=4), 900, 256
    tuning = Tuning(jnp.asarray(0.4), diagonal_metric(1))
    generator = np.random.default_rng(5)
    words = generator.integers(0, 2**32, (count, 4, 2), dtype=np.uint32)
    starts = generator.normal(size=(count, 1))
    begun = jax.tree.map(jnp.asarray, kernel.init(Point(Position(np.zeros(1)), np.zeros(()), np.zeros(1))))

    def chain(key: Any, start: Any, own: Any) -> Any:
        value, gradient, *_ = noisy(Position(start), own)
        state = replace(begun, point=Point(Position(start), value, gradient), words=own)

        def step(carry: Any, _: Any) -> Any:
            state, number = carry
            state, info, _ = advanced(kernel, keys.fold(key, number), noisy, state, tuning)
            number = number + info.is_complete.astype(jnp.uint32)
            return (state, number), (state.point.position.free[0], info.is_complete)

        return jax.lax.scan(step, (state, jnp.uint32(0)), length=steps)[1]

    of_chains = np.stack([keys.chain_key(3, number) for number in range(count)])
    places, is_complete = map(np.asarray, jax.jit(jax.vmap(chain))(of_chains, starts, words))
    squares = np.array([
        (row[done][60:] ** 2).mean() for row, done in zip(places, is_complete, strict=True)
    ])  # fmt: skip
    error = squares.std(ddof=1) / np.sqrt(count)
    assert error < 0.03
    assert abs(squares.mean() - 1) < 6 * error


def test_where_the_expansion_is_exact_draws_are_those_of_the_posterior() -> None:
    """Compare means of a normal likelihood, whose expansion is exact: 6 errors of 8 x 500 draws, each third counted."""
    draws = infer.sample(
        regression(X, Y, 5), HMCECS(parts=4), draws=500, chains=8, warmup=300, seed=1, **QUIET
    )
    precision = X.T @ X + np.eye(2)
    exact, sd = np.linalg.solve(precision, X.T @ Y), np.sqrt(np.diag(np.linalg.inv(precision)))
    assert np.asarray(draws.stats["estimate_variance"]).max() < 1e-15
    assert np.asarray(draws.stats["part_acceptance"]).min() > 1 - 1e-6
    found = draws["slope"].reshape(-1, 2)
    count = len(found) / 3
    assert np.all(np.abs(found.mean(0) - exact) < 6 * sd / np.sqrt(count))
    assert np.all(np.abs(found.var(0) / sd**2 - 1) < 6 * np.sqrt(2 / count))
    assert not [each for each in draws.notices if each.code == "biased"]
    assert draws["mean"].shape == (8, 500, 600)
    np.testing.assert_allclose(draws["mean"], draws["slope"] @ X.T, rtol=1e-12)
    # What is recorded is the log density of all data, where nothing is left over.
    density = ac.LogDensity.from_model(regression(X, Y))
    at = np.asarray(draws["slope"][0, -1])
    np.testing.assert_allclose(draws.stats["lp"][0, -1], density(at), rtol=1e-10)


LARGE_X = np.random.default_rng(6).normal(size=(5000, 3))
LARGE_Y = np.random.default_rng(7).uniform(size=5000) < 1 / (1 + np.exp(-LARGE_X @ [0.5, -1.0, 0.2]))


@pytest.mark.slow
@each(INNER)
def test_a_tenth_of_the_data_gives_the_posterior_of_all(inner: Any) -> None:
    """Means and variances within 6 errors of 4 x 1500 draws on either side, of which each 3rd counts."""
    options: dict[str, Any] = dict(draws=1500, chains=4, warmup=500, seed=1, **QUIET)
    exact = infer.sample(logistic(LARGE_X, LARGE_Y), **options)["slope"].reshape(-1, 3)
    draws = infer.sample(logistic(LARGE_X, LARGE_Y, 50), HMCECS(inner), **options)
    found, count = draws["slope"].reshape(-1, 3), len(exact) / 3
    assert np.asarray(draws.stats["estimate_variance"]).mean() < 1e-3
    sd = exact.std(0)
    assert np.all(np.abs(found.mean(0) - exact.mean(0)) < 6 * sd * np.sqrt(2 / count))
    assert np.all(np.abs(found.var(0) / sd**2 - 1) < 6 * np.sqrt(4 / count))
    (notice,) = [each for each in draws.notices if each.code == "biased"]
    assert notice.severity == "info" and "less than 0.1%" in notice.message


def test_trajectories_that_end_at_their_longest_are_told() -> None:
    sampler = infer.HMCECS(infer.NUTS(max_tree_depth=1))
    draws = infer.sample(regression(X, Y, 20), sampler, draws=50, warmup=50, chains=1, seed=0, **QUIET)
    (notice,) = [each for each in draws.notices if each.code == "tree_depth"]
    assert "reached max_tree_depth 1" in notice.message


def test_far_from_the_reference_a_warning_says_that_estimates_are_noisy() -> None:
    kernel = HMCECS(parts=4, reference={"slope": np.array([-1.5, 2.0])})
    draws = infer.sample(
        logistic(X, Z, 5), kernel, draws=100, chains=2, seed=1, init={"slope": np.zeros(2)}, **QUIET
    )
    (notice,) = [each for each in draws.notices if each.code == "biased"]
    assert np.asarray(draws.stats["estimate_variance"]).mean(axis=1).max() > 1
    assert notice.severity == "warning" and "subsample_size" in notice.remedy


def test_a_run_is_the_same_in_processes_and_when_it_goes_on(tmp_path: Path) -> None:
    model, kernel = logistic(X, Z, 20), HMCECS(infer.NUTS(), parts=5)
    run: dict[str, Any] = dict(chains=2, warmup=80, seed=4, **QUIET)
    whole = infer.sample(model, kernel, draws=60, executor=infer.Serial(), **run)
    spread = infer.sample(model, kernel, draws=60, executor=infer.Processes(2), **run)
    np.testing.assert_array_equal(spread["slope"], whole["slope"])
    infer.sample(model, kernel, draws=25, store=infer.RunFolder(tmp_path / "run"), **run)
    longer = infer.resume(tmp_path / "run", model, quiet=True, progress=False).extend(35)
    np.testing.assert_array_equal(longer["slope"], whole["slope"])
    for name in ("estimate_variance", "part_acceptance"):
        np.testing.assert_array_equal(longer.stats[name], whole.stats[name])
    assert [each.message for each in longer.notices] == [each.message for each in whole.notices]
    alone = infer.sample(model, kernel, draws=60, **{**run, "chains": [1]})
    np.testing.assert_array_equal(alone["slope"][0], whole["slope"][1])
    for step in infer.steps(model, kernel, warmup=80, seed=4):
        if step.phase == "sample":
            np.testing.assert_array_equal(step["slope"], whole["slope"][0, 0])
            break
    elsewhere = HMCECS(infer.NUTS(), parts=5, reference={"slope": np.zeros(2)})
    with pytest.raises(StorageError, match="reference"):
        infer.resume(tmp_path / "run", model, sampler=elsewhere, quiet=True, progress=False)


def test_lanes_of_one_program_have_parts_of_their_own() -> None:
    draws = infer.sample(
        logistic(X, Z, 20), HMCECS(parts=4), draws=30, chains=3, warmup=60, lanes=3, seed=2, **QUIET
    )
    variances = np.asarray(draws.stats["estimate_variance"])
    assert len(np.unique(variances)) == variances.size


@pytest.mark.slow
def test_labels_of_rows_are_summed_out_of_each_part() -> None:
    @ac.model
    def mixture(y: Any, size: int) -> None:
        mean = ac.sample("mean", dist.Normal(np.array([-3.0, 3.0]), 1.0).to_event(1))
        with ac.plate("row", len(y), subsample_size=size):
            label = ac.sample("label", dist.Categorical(np.array([0.4, 0.6])))
            ac.sample("y", dist.Normal(mean[label], 1.0), obs=ac.subsample(y))

    draws = infer.sample(mixture(3 * np.sign(Y) + Y, 20), HMCECS(), draws=40, chains=2, warmup=40, **QUIET)
    assert draws["label"].shape == (2, 40, 600)


@ac.model
def without_a_mode(y: Any, size: int) -> None:
    level, scale = ac.sample("level", dist.Flat()), ac.sample("scale", dist.Flat())
    with ac.plate("row", len(y), subsample_size=size):
        ac.sample("y", dist.Normal(level + scale, 1.0), obs=ac.subsample(y))


@jax.custom_vjp
def backward(x: Any) -> Any:
    return jnp.exp(x)


backward.defvjp(lambda x: (backward(x), x), lambda x, slope: (slope * backward(x),))


@ac.model
def only_backward(y: Any, size: int) -> None:
    rate = ac.sample("rate", dist.Normal(0.0, 1.0))
    with ac.plate("row", len(y), subsample_size=size):
        ac.sample("y", dist.Normal(backward(rate), 1.0), obs=ac.subsample(y))


BAD: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "no part": (regression(X, Y), HMCECS(), ModelError, "no plate of the model 'regression'"),
    "no mode": (
        without_a_mode(Y, 20),
        HMCECS(),
        ModelError,
        r"no mode .* infer\.SGLD\(\) .* infer\.NUTS\(\)",
    ),
    "no second derivatives": (only_backward(Y, 20), HMCECS(), ModelError, "only differentiate backward"),
    "a reference of another site": (
        regression(X, Y, 20),
        HMCECS(reference={"slop": np.zeros(2)}),
        DataError,
        "reference: there is no site 'slop'",
    ),
    "a reference without a site": (
        regression(X, Y, 20),
        HMCECS(reference={}),
        DataError,
        "the value of site 'slope' is missing",
    ),
    "all of the data": (regression(X, Y, 20), infer.NUTS(), SiteError, r"infer\.HMCECS\(\)"),
}


@each(BAD)
def test_what_cannot_be_expanded_is_refused(case: tuple[Any, Any, type[Exception], str]) -> None:
    target, kernel, kind, message = case
    with pytest.raises(kind, match=message):
        infer.sample(target, kernel, draws=10, chains=1, **QUIET)


OPTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "a class": (lambda: HMCECS(infer.NUTS), "Build it first"),  # pyright: ignore[reportArgumentType]
    "a kernel without trajectories": (lambda: HMCECS(infer.Slice()), "inner must be infer.HMC"),  # pyright: ignore[reportArgumentType]
    "too few parts": (lambda: HMCECS(parts=3), "parts must be a whole number of at least 4, got 3"),
    "a place": (lambda: HMCECS(reference="mode"), "reference must be a mapping"),  # pyright: ignore[reportArgumentType]
    "a block of others": (lambda: infer.Gibbs({...: HMCECS()}), "cannot be one of several kernels"),
}


@each(OPTIONS)
def test_bad_options_are_refused(case: tuple[Callable[[], Any], str]) -> None:
    make, message = case
    with pytest.raises(OptionError, match=message):
        make()
