"""Test draws: in the support at any parameters, and distributed as the cdf, the probabilities or the moments say.

Every test of fit is done in both precisions with a fixed key, at a false-alarm rate of `FAMILY_WISE` divided by the
number of all comparisons, so that the rate of one false alarm anywhere in this file is at most `FAMILY_WISE`.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import assert_close, assert_finite, compiled
from scipy import stats
from table import (
    ALL,
    BATCHED,
    DISCRETE,
    MULTIVARIATE,
    SIZE,
    UNIVARIATE,
    VARIANTS,
    Case,
    draws_of,
    each_line,
    is_long,
)

import accord.distributions as dist
from accord.core.errors import DistributionError
from accord.distributions.constraint import Circular

PRECISIONS = ("float64", pytest.param("float32", marks=pytest.mark.slow))
FAMILY_WISE = 1e-3
# Fits of univariate distributions, and about ten elements of moments for each of the others.
RATE = FAMILY_WISE / (2 * (len(UNIVARIATE) + len(DISCRETE) + 10 * len(MULTIVARIATE | BATCHED)))


def each_in_both_precisions(table: Mapping[str, Case]) -> Any:
    """Run a test for every line; in float32 not for batches, which compute as their entries do."""
    lines = [
        pytest.param(
            case,
            precision,
            id=f"{name}-{precision}",
            marks=[pytest.mark.slow] if is_slow(name, precision) else [],
        )
        for name, case in table.items()
        for precision in ("float64", "float32")
        if name not in BATCHED or precision == "float64"
    ]
    return pytest.mark.parametrize(("case", "precision"), lines)


def is_slow(name: str, precision: str) -> bool:
    """Whether a line is left to the slow tests."""
    return precision == "float32" or name in VARIANTS or is_long(name)


def facts(d: dist.AbstractDistribution, draws: jax.Array) -> dict[str, Any]:
    """What is checked of draws, computed in one program."""
    feasible = d.support.feasible_like(draws)
    found = {
        "inside": d.support(draws),
        "log_prob": d.log_prob(draws),
        "feasible": feasible,
        "feasible_inside": d.support(feasible),
        "feasible_log_prob": d.log_prob(feasible),
    }
    if not d.is_discrete:
        bijector = has_bijector(d)
        if bijector is not None:
            x = bijector.inverse(draws)
            found["free"], found["back"] = x, bijector.forward(x)
            # A matrix whose factor spans exp(-9) to exp(9) is singular in float32, whatever is done.
            spread = 3.0 if jax.config.jax_enable_x64 else 1.0
            noise = spread * np.random.default_rng(2).normal(size=x.shape)
            anywhere = bijector.forward(jnp.asarray(noise, x.dtype))
            found["anywhere"] = d.support(anywhere)
    return found


def has_bijector(d: dist.AbstractDistribution) -> Any:
    """The bijector of the support, or None where no smooth map covers it."""
    try:
        return dist.biject_to(d.support)
    except DistributionError:
        return None


# A certain outcome leaves the rest of the support without probability.
UNCERTAIN = {name: case for name, case in ALL.items() if "certain" not in name}


@each_in_both_precisions(UNCERTAIN)
def test_draws_have_the_announced_shape_and_lie_in_the_support(case: Case, precision: str) -> None:
    with jax.enable_x64(precision == "float64"):
        d = case.make()
        draws = draws_of(case, 8, precision)
        found = compiled(lambda draws: facts(d, draws))(draws)
        batch = (8, *d.batch_shape)
        assert draws.shape == (*batch, *d.event_shape)
        assert found["inside"].shape == found["log_prob"].shape == found["feasible_log_prob"].shape == batch
        assert found["inside"].all()
        assert_finite(found["log_prob"])
        assert len(d.event_shape) == d.event_dim >= d.support.event_dim
        assert jnp.issubdtype(draws.dtype, jnp.integer) == d.is_discrete == d.support.is_discrete
        if not d.is_discrete:
            assert draws.dtype == d.dtype == found["log_prob"].dtype
        # A value that stands in for a masked one must not itself make the density infinite.
        assert found["feasible"].shape == draws.shape
        assert found["feasible_inside"].all()
        assert_finite(found["feasible_log_prob"])
        if "free" in found:
            bijector = dist.biject_to(d.support)
            assert found["free"].shape == bijector.inverse_shape(draws.shape)
            close = {"float64": (1e-7, 1e-9), "float32": (1e-3, 1e-4)}[precision]
            assert_close(found["back"], draws, *close)
            assert found["anywhere"].all()


def is_circular(d: dist.AbstractDistribution) -> bool:
    """Whether values are angles, of which the mean is a direction and not an expectation."""
    return any(
        isinstance(part, Circular)
        for part in jax.tree.leaves(d.support, is_leaf=lambda leaf: isinstance(leaf, Circular))
    )


EXTREME = {name: case for name, case in ALL.items() if case.extremes}


@pytest.mark.parametrize("precision", PRECISIONS)
@each_line(EXTREME)
def test_draws_at_extreme_parameters_lie_in_the_support(case: Case, precision: str) -> None:
    assert case.extremes is not None
    with jax.enable_x64(precision == "float64"):
        d = case.extremes()

        def draw(key: jax.Array) -> tuple[jax.Array, jax.Array]:
            draws = d.sample(key, (500,))
            return draws, d.support(draws)

        draws, inside = compiled(draw)(jax.random.key(3))
        assert inside.all(), np.asarray(draws)[~np.asarray(inside)][:5]


@pytest.mark.parametrize("precision", PRECISIONS)
@each_line(UNIVARIATE)
def test_univariate_draws_follow_the_cdf(case: Case, precision: str) -> None:
    with jax.enable_x64(precision == "float64"):
        d = case.make()
        u = np.asarray(compiled(d.cdf)(draws_of(case, precision=precision)), np.float64)
    assert stats.kstest(u, "uniform").pvalue > RATE


@pytest.mark.parametrize("precision", PRECISIONS)
@each_line(DISCRETE)
def test_discrete_draws_follow_the_probabilities(case: Case, precision: str) -> None:
    with jax.enable_x64(precision == "float64"):
        d = case.make()
        draws = np.asarray(draws_of(case, precision=precision), np.int64)
        low = draws.min()
        k = np.arange(low, draws.max() + 2)
        expected = SIZE * np.exp(np.asarray(compiled(d.log_prob)(k), np.float64))
    seen = np.bincount(draws - low, minlength=k.size)
    often = expected >= 5
    cells = (
        np.append(expected[often], SIZE - expected[often].sum()),
        np.append(seen[often], seen[~often].sum()),
    )
    statistic = sum((s - e) ** 2 / e for e, s in zip(*cells, strict=True) if e > 1e-2)
    assert stats.chi2.sf(statistic, max(len(cells[0]) - 1, 1)) > RATE


HAVE_MOMENTS = {
    name: case
    for name, case in (MULTIVARIATE | BATCHED).items()
    if "StudentT" not in name and "Cauchy" not in name
}


@each_in_both_precisions(HAVE_MOMENTS)
def test_draws_have_the_mean_variance_and_entropy_announced(case: Case, precision: str) -> None:
    limit, rounding = float(stats.norm.isf(RATE / 2)), {"float64": 1e-9, "float32": 2e-5}[precision]

    def agrees(samples: np.ndarray, announced: np.ndarray) -> bool:
        slack = limit * samples.std(0) / np.sqrt(SIZE) + rounding * (1 + np.abs(announced))
        return bool((np.abs(samples.mean(0) - announced) <= slack).all())

    def summary(of: Any) -> Any:
        try:
            return of()
        except DistributionError:
            return None

    with jax.enable_x64(precision == "float64"):
        d = case.make()
        draws = draws_of(case, precision=precision)
        circular, shape = is_circular(d), d.batch_shape + d.event_shape

        def summaries(draws: jax.Array) -> tuple:
            mean = None if circular else summary(lambda: d.mean)
            variance = None if mean is None else summary(lambda: d.variance)
            entropy = summary(d.entropy)
            return mean, variance, entropy, None if entropy is None else -d.log_prob(draws)

        found = jax.tree.map(lambda each: np.asarray(each, np.float64), compiled(summaries)(draws))
        mean, variance, entropy, surprise = found
        draws = draws.astype(np.float64)
        if mean is not None:
            assert mean.shape == shape
            assert agrees(draws, mean)
        if variance is not None:
            assert variance.shape == shape
            assert agrees((draws - mean) ** 2, variance)
        if entropy is not None:
            assert entropy.shape == d.batch_shape
            assert agrees(surprise, entropy)


def test_the_tests_of_fit_see_a_scale_that_is_a_tenth_too_wide() -> None:
    draws = 1.1 * np.asarray(draws_of(UNIVARIATE["Normal"]) - 0.5) + 0.5
    assert stats.kstest(np.asarray(dist.Normal(0.5, 2).cdf(draws)), "uniform").pvalue < RATE


def test_expanding_gives_independent_draws() -> None:
    draws = dist.Normal(np.zeros((2, 1)), 1).expand((3, 2, 4)).sample(jax.random.key(0), (5,))
    assert len(np.unique(draws)) == draws.size
    loc = np.arange(2.0).reshape(2, 1)
    means = dist.Normal(loc, 1e-9).expand((3, 2, 4)).sample(jax.random.key(0), (5,))
    assert_close(means, np.broadcast_to(loc, (5, 3, 2, 4)), atol=1e-7)
