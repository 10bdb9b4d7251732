"""Test Hamiltonian Monte Carlo with jumps: known answers with four values, steps, and what it refuses."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from laws import each, once_more_in_doubt

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError

QUIET: dict[str, Any] = dict(progress=False, quiet=True)
SHARES, PLACES = np.array([0.15, 0.3, 0.3, 0.25]), np.array([-2.0, 0.0, 2.0, 4.0])


@ac.model
def four_places() -> None:
    c = ac.sample("c", dist.Categorical(SHARES))
    ac.sample("x", dist.Normal(jnp.asarray(PLACES)[c], 0.5))


@ac.model
def counts(y: Any) -> None:
    """Entries with few values, and one without an end."""
    rate = ac.sample("rate", dist.Gamma(3.0, 1.0))
    n = ac.sample("n", dist.Poisson(rate))
    die = ac.sample("die", dist.DiscreteUniform(3, 6))
    ac.sample("y", dist.Normal(n + 0.5 * die, 1.0), obs=y)


def exact_counts(y: float) -> dict[str, float]:
    """The rate is integrated out: n is then negative binomial."""
    n, die = np.meshgrid(np.arange(80), np.arange(3, 7), indexing="ij")
    log_prior = np.asarray(dist.GammaPoisson(3.0, 1.0).log_prob(n))
    weight = np.exp(log_prior - 0.5 * (y - n - 0.5 * die) ** 2)
    weight /= weight.sum()
    return {
        "n": float((weight * n).sum()),
        "die": float((weight * die).sum()),
        "rate": float((weight * (n + 3) / 2).sum()),
    }


def assert_means(values: np.ndarray, truth: Any) -> None:
    """The mean of each chain is one number: their average is within 5.5 errors."""
    means = values.mean(axis=1)
    errors = means.std(0, ddof=1) / np.sqrt(len(means))
    assert np.all(np.abs(means.mean(0) - truth) < 5.5 * errors), (means.mean(0), errors)


@once_more_in_doubt(0, 1)
def test_four_places_have_their_shares(seed: int) -> None:
    """Six averages of 48 chains within 5.5 errors, with two seeds: a false alarm in 1e-10."""
    draws = infer.sample(
        four_places(), infer.MixedHMC(), draws=1500, warmup=300, chains=48, seed=seed, **QUIET
    )
    c, x = draws["c"], draws["x"]
    assert_means(np.stack([c == value for value in range(4)], axis=-1).astype(float), SHARES)
    assert_means(np.stack([x, (x - 1.3) ** 2], axis=-1), [1.3, 4.36])
    assert np.all((draws.stats["jump_rate"] >= 0) & (draws.stats["jump_rate"] <= 1))


@ac.model
def apart() -> None:
    ac.sample("c", dist.Categorical(SHARES))
    ac.sample("x", dist.Normal(0.0, 1.0))


@once_more_in_doubt(0, 1)
def test_a_site_that_nothing_depends_on_has_its_shares(seed: int) -> None:
    """Four averages of 16 chains within 7 errors, with two seeds: a false alarm in 2e-10.

    If energies did not change with jumps, shares would be as their squares: 0.085 for 0.15. Where all jumps are about
    as often uphill as downhill, as between the four places, nothing would be seen of that.
    """
    draws = infer.sample(apart(), infer.MixedHMC(), draws=400, warmup=100, chains=16, seed=seed, **QUIET)
    of_values = np.stack([draws["c"] == value for value in range(4)], axis=-1).mean(axis=1)
    errors = of_values.std(0, ddof=1) / 4
    assert np.all(np.abs(of_values.mean(0) - SHARES) < 7 * errors)
    assert errors.max() < 0.008


@once_more_in_doubt(0, 1)
def test_counts_without_an_end_have_their_means(seed: int) -> None:
    """Three averages of 24 chains within 5.5 errors, with two seeds: a false alarm in 5e-9."""
    draws = infer.sample(counts(4.2), infer.MixedHMC(), draws=1000, warmup=300, chains=24, seed=seed, **QUIET)
    for name, truth in exact_counts(4.2).items():
        assert_means(draws[name].astype(float), truth)


def test_no_jump_leads_to_what_is_no_number_and_it_is_reported_where_it_was() -> None:
    def log_density() -> None:
        c = ac.sample("c", dist.DiscreteUniform(0, 3))
        x = ac.sample("x", dist.Normal(0.0, 1.0))
        ac.factor("hole", jnp.where((c == 2) & (x > -10), jnp.nan, 0.0))

    draws = infer.sample(ac.model(log_density)(), infer.MixedHMC(), draws=200, warmup=100, chains=2, **QUIET)
    assert set(np.unique(draws["c"])) == {0, 1, 3}
    assert draws.stats["non_finite"].mean() > 0.3
    assert draws.failures and all(each.whole is not None and each.whole[0] == 2 for each in draws.failures)


@ac.model
def no_discrete() -> None:
    ac.sample("x", dist.Normal(0.0, 1.0))


@ac.model
def no_continuous() -> None:
    ac.sample("c", dist.DiscreteUniform(0, 3))


@ac.model
def bound_together() -> None:
    x = ac.sample("x", dist.Normal(0.0, 1.0))
    ac.sample("c", dist.Multinomial(5, np.array([0.2, 0.3, 0.5])))
    ac.factor("f", x)


REFUSALS = {
    "no discrete site": (no_discrete, {}, "no discrete site"),
    "no continuous site": (no_continuous, {}, "no continuous site"),
    "entries that cannot change alone": (bound_together, {}, "bound to each other"),
    "no turns": (four_places, dict(turns=0), "turns must be"),
}


@each(REFUSALS)
def test_what_it_cannot_move_is_refused(case: Any) -> None:
    model, options, words = case
    with pytest.raises(AccordError, match=words):
        infer.sample(model(), infer.MixedHMC(**options), draws=10, **QUIET)


def test_a_run_is_the_same_in_threads_and_in_two_parts_and_has_lanes(tmp_path: Any) -> None:
    options: dict[str, Any] = dict(draws=120, warmup=90, chains=2, seed=4, **QUIET)
    model, kernel = counts(4.2), infer.MixedHMC(turns=2)
    whole = infer.sample(model, kernel, executor=infer.Serial(), **options)
    threads = infer.sample(model, kernel, executor=infer.Threads(2), **options)
    infer.sample(model, kernel, store=infer.RunFolder(tmp_path / "run"), **(options | dict(draws=50)))
    resumed = infer.resume(tmp_path / "run", model, quiet=True).extend(70)
    for other in (threads, resumed):
        for name in whole:
            np.testing.assert_array_equal(other[name], whole[name])
        for name in whole.stats:
            np.testing.assert_array_equal(other.stats[name], whole.stats[name])
    lanes = infer.sample(model, kernel, lanes=2, **options)
    alone = infer.sample(model, kernel, lanes=2, **(options | dict(chains=[1])))
    for name in lanes:
        np.testing.assert_array_equal(lanes[name][1], alone[name][0])
