"""Test proposals of a user's own: posteriors of asymmetric and independent ones, refusals, and stored runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from laws import each, once_more_in_doubt
from scipy import stats

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError, StorageError

# The posterior of `mean` in `MODEL` by hand: a normal prior N(3, 2^2), and y = 1 ~ N(mean, 1).
MEAN, SD = 1.4, np.sqrt(0.8)
QUIET: dict[str, Any] = dict(chains=4, warmup=200, seed=2, progress=False, quiet=True)


@ac.model
def one(y: float) -> None:
    mean = ac.sample("mean", dist.Normal(3, 2))
    ac.sample("y", dist.Normal(mean, 1), obs=y)


MODEL = one(1.0)

PROPOSALS: dict[str, Callable[[jax.Array], Any]] = {
    "symmetric": lambda x: dist.Normal(x, 1.5),
    # Wider further out: without the densities of both ways, it would be drawn to where it is narrow.
    "of a width that depends on the position": lambda x: dist.Normal(x, 0.5 + jnp.abs(x)),
    "to one side more often than to the other": lambda x: dist.Normal(x + 0.7, 1.2).to_event(1),
    "that forgets the position": lambda x: dist.StudentT(4.0, jnp.ones_like(x), 1.5),
    "with a mean that the position shrinks": lambda x: dist.MultivariateNormal(
        0.5 * x, covariance_matrix=np.eye(1)
    ),
}


@each(PROPOSALS)
@once_more_in_doubt(2, 3)
def test_draws_are_from_the_posterior(proposal: Callable[[jax.Array], Any], seed: int) -> None:
    """Mean, and probabilities below three points, within 4.5 errors of 100 batches: 4 comparisons, 2e-5 each.

    With two seeds, a false alarm in 3e-8 of all five proposals.
    """
    draws = infer.sample(
        MODEL, infer.Metropolis(lambda x: proposal(x)), draws=5000, **QUIET | dict(seed=seed)
    )["mean"]
    cuts = stats.norm(MEAN, SD).ppf([0.1, 0.5, 0.9])
    for values, truth in (
        (draws, MEAN),
        *((draws < cut, p) for cut, p in zip(cuts, (0.1, 0.5, 0.9), strict=True)),
    ):
        means = values.reshape(4 * 25, 200).mean(1)  # batches far longer than the autocorrelation
        assert abs(means.mean() - truth) < 4.5 * means.std(ddof=1) / 10


def test_a_number_that_a_proposal_reads_is_that_of_the_time_of_the_run() -> None:
    scale = [0.1]
    kernel = infer.Metropolis(lambda x: dist.Normal(x, scale[0]))
    small = infer.sample(MODEL, kernel, draws=300, **QUIET).stats["acceptance_rate"].mean()
    scale[0] = 10.0
    large = infer.sample(MODEL, kernel, draws=300, **QUIET).stats["acceptance_rate"].mean()
    assert small > 0.9 and large < 0.4


def test_a_point_that_is_no_number_is_refused() -> None:
    target = ac.LogDensity.from_function(
        lambda x: jnp.where(x[0] > 1, jnp.nan, -0.5 * (x * x).sum()), np.zeros(1)
    )
    draws = infer.sample(target, infer.Metropolis(lambda x: dist.Normal(x, 2.0)), draws=500, **QUIET)
    (name,) = draws
    assert draws[name].max() <= 1 and draws.stats["non_finite"].mean() > 0.1


def test_threads_draw_the_same_and_a_stored_run_goes_on_with_its_proposal(tmp_path: Path) -> None:
    kernel = infer.Metropolis(lambda x: dist.Normal(x, 1.5))
    whole = infer.sample(MODEL, kernel, draws=100, executor=infer.Serial(), **QUIET)
    threads = infer.sample(MODEL, kernel, draws=100, executor=infer.Threads(2), **QUIET)
    infer.sample(MODEL, kernel, draws=40, store=infer.RunFolder(tmp_path / "run"), **QUIET)
    assert infer.load(tmp_path / "run")["mean"].shape == (4, 40)
    with pytest.raises(StorageError, match=r"'Metropolis'.*sampler="):
        infer.resume(tmp_path / "run", MODEL, quiet=True)
    resumed = infer.resume(tmp_path / "run", MODEL, sampler=kernel, quiet=True).extend(60)
    for other in (threads, resumed):
        np.testing.assert_array_equal(other["mean"], whole["mean"])


REFUSALS: dict[str, tuple[Callable[[], Any], str]] = {
    "no function": (
        lambda: infer.Metropolis(0.5),
        "proposal must be a function from a position to a distribution",
    ),
    "no distribution": (
        lambda: infer.Metropolis(lambda x: x + 1),
        "must return a distribution, such as dist.Normal",
    ),
    "one number": (
        lambda: infer.Metropolis(lambda x: dist.Normal(0.0, 1.0)),
        r"of shape \(1,\).* of shape \(\)",
    ),
    "whole numbers": (
        lambda: infer.Metropolis(lambda x: dist.Poisson(x * 0 + 1)),
        "Poisson has discrete values",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_proposal_is_refused(name: str) -> None:
    make, words = REFUSALS[name]
    with pytest.raises(OptionError, match=words):
        infer.sample(MODEL, make(), draws=10, **QUIET)
