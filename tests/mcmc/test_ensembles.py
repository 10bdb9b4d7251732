"""Hold that an ensemble of chains is a function of its plan: whoever runs it, in whatever portions."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from ctrl_c import pressed_once
from paced import paced

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.adaptation.metric import METRICS
from accord.core.errors import OptionError
from accord.core.pace import USUAL
from accord.mcmc.draws import Draws
from accord.mcmc.group import next_budget
from accord.storage.run_folder import RunFolderRun

CHAINS = 12
OPTIONS = dict(draws=30, warmup=40, chains=CHAINS, seed=3, quiet=True)
SHORT = paced(first_block=4, block_seconds=1e-5, unsaved_seconds=0.0)
"""With blocks of a few gradients, each of which is stored."""


@ac.model
def line(x, y):
    a = ac.sample("a", dist.Normal(0, 10))
    b = ac.sample("b", dist.Normal(0, 10))
    s = ac.sample("s", dist.HalfNormal(1))
    with ac.plate("row", x.shape[0]):
        ac.sample("y", dist.Normal(a + b * x, s), obs=y)


X = np.linspace(1, 3, 20)
TARGET = line(X, y=2 * X + np.sin(37 * X))


def sample(**options: Any) -> Draws:
    return infer.sample(TARGET, infer.ChEES(), **(OPTIONS | options))


@pytest.fixture(scope="module")
def expected() -> Draws:
    return sample(executor=infer.Serial())


def assert_same(found: Draws, expected: Draws) -> None:
    for kind in ("sites", "stats", "tuning", "warmup"):
        for name, array in getattr(expected, kind).items():
            np.testing.assert_array_equal(getattr(found, kind)[name], array, err_msg=f"{kind} {name}")
    assert found.work == expected.work


@pytest.mark.parametrize(("size", "seconds"), [(3, 1e-5), (2**30, 1e3)])
def test_blocks_of_any_size_change_no_bit(expected: Draws, size: int, seconds: float) -> None:
    where = paced(first_block=size, block_seconds=seconds, unsaved_seconds=0.0)
    assert_same(sample(executor=where), expected)


@pytest.mark.parametrize("beside", [0.001, 4.0])
def test_a_block_lasts_half_a_second_or_as_long_as_the_host_takes_for_it(beside: float) -> None:
    # Thousands of chains had blocks of one gradient each, since the host's seconds were taken for the program's.
    budget, seconds_each = 64, 0.01
    for _ in range(20):
        budget = next_budget(USUAL, budget, budget, budget * seconds_each, beside)
    assert budget == pytest.approx(max(0.5, beside) / seconds_each, abs=1)


@pytest.mark.parametrize("few", [CHAINS, 1e-6])
def test_very_many_chains_are_stored_less_often(few: float, tmp_path: Path) -> None:
    """Once for warm-up and once for the draws, where blocks would make more segments."""
    append, stored = RunFolderRun.append, []

    def count(run: RunFolderRun, segment: Any) -> None:
        stored.append(segment.chain)
        append(run, segment)

    where = paced(first_block=30, block_seconds=1e-5, unsaved_seconds=1e-3, few_lanes=few)
    with mock.patch.object(RunFolderRun, "append", count):
        sample(store=infer.RunFolder(tmp_path / "run"), executor=where)
    assert (stored.count(0) == 2) == (few < CHAINS)


@pytest.mark.parametrize("executor", [infer.Threads(2), infer.Processes(2)], ids=["threads", "processes"])
def test_an_executor_changes_no_bit(expected: Draws, executor: Any) -> None:
    assert_same(sample(executor=executor), expected)


def test_blocks_that_are_shorter_than_the_search_for_a_step_size_come_to_an_end(expected: Draws) -> None:
    """The metric was learnt anew after each block that ended at a draw where it is due, and the search begun again."""
    assert_same(sample(executor=SHORT), expected)


def test_a_run_made_longer_is_the_longer_run(expected: Draws) -> None:
    assert_same(sample(draws=11).extend(OPTIONS["draws"] - 11), expected)


@pytest.mark.parametrize("phase", ["warmup", "sample"])
def test_a_run_that_was_interrupted_goes_on_to_the_same_draws(
    expected: Draws, phase: str, tmp_path: Path
) -> None:
    with pressed_once(lambda piece: piece.phase == phase) as pieces:
        found = sample(store=infer.RunFolder(tmp_path / "run"), executor=SHORT)
    assert pieces and not found.complete
    assert_same(infer.resume(tmp_path / "run", TARGET, quiet=True), expected)


@pytest.mark.parametrize(
    "lost",
    [
        lambda chain, number: chain % 3 == 1 and number >= 5,  # within warm-up
        lambda chain, number: chain == 2,  # all of it
        lambda chain, number: number > 20 - chain,  # each at another draw
    ],
    ids=["in warm-up", "a whole chain", "in a staircase"],
)
def test_chains_of_which_less_was_stored_are_made_again_beside_the_others(
    expected: Draws, lost: Callable[[int, int], bool], tmp_path: Path
) -> None:
    """As when a process is killed between two segments of one block."""
    path = tmp_path / "run"
    sample(
        store=infer.RunFolder(path),
        executor=paced(first_block=20, block_seconds=1e-5, unsaved_seconds=0.0),
    )
    removed = 0
    for chain in range(CHAINS):
        files = sorted((path / f"chain-{chain:04d}").glob("segment-*.npz"))
        assert len(files) > 12
        for number, file in enumerate(files):
            if lost(chain, number):
                file.unlink()
                removed += 1
    assert removed
    assert_same(infer.resume(path, TARGET, quiet=True), expected)


# Under a rule

RULED = OPTIONS | dict(draws=500, until=infer.ESS(1500))


@pytest.fixture(scope="module")
def ended() -> Draws:
    draws = infer.sample(TARGET, infer.ChEES(), executor=infer.Serial(), **RULED)
    assert draws.stopping.held and 100 < draws.num_draws < 500
    return draws


def test_a_rule_ends_an_ensemble_at_one_look_of_all_chains(ended: Draws) -> None:
    assert_same(sample(draws=ended.num_draws), ended)
    assert_same(sample(**RULED, executor=SHORT), ended)


def test_an_ensemble_under_a_rule_goes_on_from_what_was_stored(ended: Draws, tmp_path: Path) -> None:
    append, sent = RunFolderRun.append, []

    def and_interrupt(run: RunFolderRun, segment: Any) -> None:
        append(run, segment)
        # Some chains have stored the draws up to the first look, others have not.
        if segment.phase == "sample" and segment.chain == CHAINS // 2 and not sent:
            sent.append(True)
            raise KeyboardInterrupt

    with mock.patch.object(RunFolderRun, "append", and_interrupt), contextlib.suppress(KeyboardInterrupt):
        sample(store=infer.RunFolder(tmp_path / "run"), **RULED)
    assert sent
    assert_same(infer.resume(tmp_path / "run", TARGET, quiet=True), ended)


# What is learnt


@pytest.mark.parametrize("form", METRICS[1:])
def test_all_chains_have_the_metric_that_was_asked_for(form: str) -> None:
    draws = infer.sample(TARGET, infer.ChEES(metric=form), **(OPTIONS | dict(draws=5)))
    assert set(draws.tuning["metric"]) == {form}
    assert len(np.unique(draws.tuning["inverse_mass"], axis=0)) == 1


def test_the_warm_up_of_an_ensemble_has_one_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.adaptation.pooled.Pooled.is_settled", lambda *_: False)
    draws = sample(draws=1, warmup=None)
    np.testing.assert_array_equal(draws.tuning["num_warmup"], 200)


def test_single_precision_gives_single_precision() -> None:
    draws = sample(precision="float32")
    assert draws["a"].dtype == np.float32
    assert abs(draws["b"].mean() - 2) < 1


def test_chains_share_what_was_learnt_and_the_number_of_steps(expected: Draws) -> None:
    for name in ("step_size", "trajectory_length"):
        assert len(np.unique(expected.tuning[name])) == 1
    steps = expected.stats["n_steps"]
    assert np.all(steps == steps[0]) and len(np.unique(steps)) > 2
    assert np.all(expected.stats["step_size"] == expected.tuning["step_size"][0])
    assert len(np.unique(expected["a"][:, 0])) > 1


def test_chains_of_a_superchain_begin_at_one_place() -> None:
    draws = infer.sample(
        TARGET, infer.ChEES(superchains=3), draws=1, warmup=0, chains=6, init=infer.from_prior(), quiet=True
    )
    alone = infer.sample(
        TARGET, infer.ChEES(), draws=1, warmup=0, chains=6, init=infer.from_prior(), quiet=True
    )
    assert draws.manifest["sampler"]["superchains"] == 3
    energy, energy_alone = draws.stats["energy"][:, 0], alone.stats["energy"][:, 0]
    np.testing.assert_array_equal(energy[::2], energy_alone[::2])  # the first of each begins where it would
    assert not np.any(energy[1::2] == energy_alone[1::2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(chains=[3]), ["chains", "number of chains", "ChEES", "learn from each other", "[3]"]),
        (dict(chains=2), ["chains", "at least 4", "ChEES", "NUTS"]),
        (dict(chains=8, lanes=4), ["lanes", "ChEES", "lanes=4", "chains=8"]),
        (dict(chains=8, sampler=infer.ChEES(superchains=3)), ["superchains=3", "divide", "chains=8"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_an_ensemble_cannot_be_asked_for_says_why(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        infer.sample(TARGET, **(dict(sampler=infer.ChEES(), quiet=True) | options))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(target_accept=1.5), ["target_accept", "(0, 1)", "1.5"]),
        (dict(trajectory_length=0.0), ["trajectory_length", "positive", "0.0"]),
        (dict(max_steps=0), ["max_steps", "from 1 to", "0"]),
        (dict(superchains=1), ["superchains", "at least 2", "1"]),
        (dict(superchain=4), ["superchain", "superchains"]),
        (dict(metric="denes"), ["ChEES", "metric", "denes", "Did you mean", "dense"]),
    ],
    ids=str,
)
def test_options_of_the_sampler_are_checked(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        infer.ChEES(**options)
    assert all(word in str(caught.value) for word in words), caught.value
