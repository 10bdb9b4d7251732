"""End runs of many chains by a rule: at early looks, by the figures of the summary, however the run was made."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from accord import infer
from accord.density import LogDensity
from accord.mcmc.draws import Draws
from accord.report import ess_bulk, ess_tail, nested_r_hat, r_hat
from accord.runs.stopping.looks import first_look, looks
from accord.storage.run_folder import RunFolderRun

CHAINS = 64
FIRST = 7  # draws of each of them are 448 of all
OPTIONS = dict(draws=500, warmup=80, chains=CHAINS, seed=3, progress=False, quiet=True)


def wall(x: jax.Array) -> jax.Array:
    """Correlated, with a soft wall."""
    return -0.5 * jnp.sum((x - 0.9 * jnp.roll(x, 1)) ** 2) - jnp.exp(x[0])


TARGET = LogDensity.from_function(wall, np.zeros(3))


def sample(sampler: Any = infer.ChEES(), **options: Any) -> Draws:  # noqa: B008 - a frozen value
    return infer.sample(TARGET, sampler, **(OPTIONS | options))


def assert_same(found: Draws, expected: Draws) -> None:
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], array, err_msg=f"{kind} {name}")
    assert (found.work, found.chains, found.complete) == (expected.work, expected.chains, expected.complete)


# Where a run is looked at

LOOKS = {
    2: (100, 150, 225, 338, 507, 761, 1000),
    4: (100, 150, 225, 338, 507, 761, 1000),
    63: (100, 150, 225, 338, 507, 761, 1000),
    64: (7, 11, 17, 26, 39, 59, 89, 134, 201, 302, 453, 680, 1000),
    99: (5, 8, 12, 18, 27, 41, 62, 93, 140, 210, 315, 473, 710, 1000),
    100: (4, 6, 9, 14, 21, 32, 48, 72, 108, 162, 243, 365, 548, 822, 1000),
    1024: (4, 6, 9, 14, 21, 32, 48, 72, 108, 162, 243, 365, 548, 822, 1000),
}


@pytest.mark.parametrize("num_chains", LOOKS)
def test_many_chains_are_looked_at_as_soon_as_they_have_the_draws_of_four(num_chains: int) -> None:
    assert looks(1000, first_look(num_chains)) == LOOKS[num_chains]


@pytest.fixture(scope="module")
def ended() -> Draws:
    return sample(until=infer.ESS(600), executor=infer.Serial())


def least(draws: Draws, count: int) -> float:
    """The smallest effective sample size of the first so many draws of a run, of bulk or tail."""
    first = draws["x"][:, :count]
    return min(ess_bulk(first).min(), ess_tail(first).min())


def test_many_short_chains_are_enough(ended: Draws) -> None:
    stopping = ended.stopping
    assert stopping is not None and stopping.held and ended.complete
    assert FIRST < ended.num_draws < 100
    at = [look.draws for look in stopping.looks]
    assert at == [each for each in LOOKS[CHAINS] if each <= ended.num_draws]
    assert [look.findings[0].value for look in stopping.looks] == [least(ended, each) for each in at]
    table = ended.summary()
    assert stopping.looks[-1].findings[0].value == min(table["ess_bulk"].min(), table["ess_tail"].min())
    assert_same(ended, sample(draws=ended.num_draws))


def test_a_run_of_fewer_chains_is_looked_at_after_a_hundred_draws() -> None:
    found = sample(until=infer.ESS(400), chains=CHAINS - 1, draws=120, warmup=20)
    assert found.stopping is not None and found.stopping.looks[0].draws == 100
    assert "first_look" not in found.manifest["settings"]


def test_as_many_effective_draws_as_chains_say_nothing() -> None:
    found = sample(until=infer.ESS(CHAINS - 1), warmup=1, init=infer.from_uniform(20.0))
    assert found.num_draws == FIRST
    # Of chains that have hardly moved, too.
    means = np.random.default_rng(0).normal(size=(CHAINS, 1, 50)) + np.zeros((CHAINS, FIRST, 50))
    assert np.all(ess_bulk(means) >= CHAINS - 1)


def test_chains_of_nuts_end_together_in_whatever_groups() -> None:
    options = dict(sampler=infer.NUTS(), warmup=40)
    found = sample(until=infer.ESS(800), lanes=16, executor=infer.Threads(2), **options)
    assert found.stopping is not None and found.stopping.held and FIRST < found.num_draws < 100
    assert_same(found, sample(draws=found.num_draws, lanes=16, executor=infer.Serial(), **options))


# By which figures


@pytest.mark.parametrize("superchains", [None, 8])
def test_r_hat_is_that_of_the_summary(superchains: int | None) -> None:
    rule = infer.RHat(1.03)
    found = sample(infer.ChEES(superchains=superchains), until=rule)
    assert found.stopping is not None and found.stopping.held and found.num_draws < 100
    values = [look.findings[0].value for look in found.stopping.looks]
    assert values[-1] == found.summary()["r_hat"].max() <= 1.03
    sets = None if superchains is None else np.arange(CHAINS) * superchains // CHAINS
    draws = found["x"]
    assert values == [nested_r_hat(draws[:, : look.draws], sets).max() for look in found.stopping.looks]
    # Neither that of each chain by itself, nor that of other sets.
    assert values[-1] not in (r_hat(draws).max(), nested_r_hat(draws, np.arange(CHAINS) // 2).max())


def test_superchains_that_stay_where_they_began_are_not_enough() -> None:
    """A few draws without warm-up, from places far apart: each chain by itself looks no worse than in a longer run."""
    begin = infer.from_uniform(20.0)
    rule = infer.ESS(CHAINS - 1) & infer.RHat(1.05)
    found = sample(infer.ChEES(superchains=8), until=rule, warmup=1, draws=FIRST, init=begin)
    assert found.stopping is not None and found.stopping.held is False
    size, agreement = found.stopping.looks[-1].findings
    assert size.holds and not agreement.holds
    assert agreement.value == found.summary()["r_hat"].max() > 1.2


def needle(x: jax.Array) -> jax.Array:
    """A standard normal, and one point far away from which no step is possible."""
    return jnp.where(jnp.all(x == 10.0), 0.0, jnp.where(x[0] > 5.0, jnp.nan, -0.5 * jnp.sum(x**2)))


def test_chains_that_are_lost_change_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 64 is given up in warm-up; what judges the others is that of 63 chains."""
    monkeypatch.setattr("accord.mcmc.endings.MAX_UNMOVED", 30)
    starts = infer.from_values([{"x": np.full(2, 10.0 if chain == 5 else 0.5)} for chain in range(CHAINS)])
    density = LogDensity.from_function(needle, np.zeros(2))
    options = OPTIONS | dict(warmup=40, init=starts, lanes=CHAINS)
    found = infer.sample(
        density, infer.NUTS(max_tree_depth=4), until=infer.ESS(400) & infer.RHat(1.1), **options
    )
    stopping = found.stopping
    assert stopping is not None and stopping.held and stopping.looks[0].draws == FIRST
    assert stopping.chains == found.chains == tuple(chain for chain in range(CHAINS) if chain != 5)
    assert stopping.looks[-1].findings[1].value == r_hat(found["x"]).max()


# Interrupted and taken up again


@contextlib.contextmanager
def interrupted(look: int) -> Iterator[None]:
    """End a run by Ctrl-C where half of the chains have stored the draws up to a look, counted from one."""
    append, seen = RunFolderRun.append, []

    def and_interrupt(run: RunFolderRun, segment: Any) -> None:
        append(run, segment)
        if segment.phase == "sample" and segment.chain == CHAINS // 2:
            seen.append(segment.stop)
            if len(seen) == look:
                raise KeyboardInterrupt

    with mock.patch.object(RunFolderRun, "append", and_interrupt), contextlib.suppress(KeyboardInterrupt):
        yield
        pytest.fail("it was not interrupted")


@pytest.mark.parametrize("look", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_run_that_was_interrupted_goes_on_to_the_same_end(ended: Draws, look: int, tmp_path: Path) -> None:
    with interrupted(look):
        sample(until=infer.ESS(600), store=infer.RunFolder(tmp_path / "run"))
    assert infer.load(tmp_path / "run").num_draws == (0, *LOOKS[CHAINS])[look - 1]
    found = infer.resume(tmp_path / "run", TARGET, progress=False, quiet=True)
    assert_same(found, ended)
    assert found.stopping == ended.stopping


def test_a_run_of_before_goes_on_with_the_looks_of_before(tmp_path: Path) -> None:
    """Its manifest says nothing of them, and it had the first one after 100 draws."""
    options = dict(until=infer.ESS(1e9), draws=120, store=infer.RunFolder(tmp_path / "run"))
    with mock.patch("accord.mcmc.prepare.first_look", return_value=100), interrupted(1):
        sample(**options)
    assert "first_look" not in infer.load(tmp_path / "run").manifest["settings"]
    found = infer.resume(tmp_path / "run", TARGET, progress=False, quiet=True)
    assert found.stopping is not None and [look.draws for look in found.stopping.looks] == [100, 120]
    assert_same(found, sample(draws=120))


def test_after_its_cap_a_run_is_looked_at_where_a_longer_one_would_be() -> None:
    found = sample(until=infer.ESS(1e9), draws=10).extend(20)
    assert found.stopping is not None
    assert [look.draws for look in found.stopping.looks] == [7, 10, 11, 17, 26, 30]
