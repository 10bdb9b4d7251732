"""Resume and extend runs that ended in every way, and refuse those that were begun otherwise."""

import importlib.metadata
import shutil
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from fault_models import (
    QUIET,
    RUN,
    assert_same,
    resume,
    sample,
    target,
    wall,
)

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import OptionError, StorageError
from accord.density import LogDensity
from accord.mcmc.stretch import Stretch
from accord.runs.ledger import Ledger
from accord.storage.manifest import Manifest

RUNS = {
    "plain": {},
    "thinned": dict(thinning=3, draws=250),
    "lanes": dict(lanes=2, chains=3, draws=300),
    "short": dict(draws=1, warmup=0),
    "long warm-up": dict(draws=1, warmup=1200),
}
"""Ways to run; each is compiled once for the module."""

DEATHS = {
    "before anything": {0: 0, 1: 0, 2: 0},
    "with one chain begun": {0: 1, 1: 0, 2: 0},
    "in warm-up": {0: 1, 1: 1, 2: 1},
    "at the end of warm-up": {0: 2, 1: 2, 2: 2},
    "after many segments": {0: 3, 1: 4, 2: 3},
    "chains apart": {0: 1, 1: 3, 2: 2},
    "with one chain done": {0: 99, 1: 2, 2: 0},
    "after the last draw": {0: 99, 1: 99, 2: 99},
}
"""How many segments of each chain were committed when the process died."""

FAST = {
    *(("plain", death) for death in ("before anything", "in warm-up", "chains apart")),
    *(("thinned", death) for death in ("chains apart", "after the last draw")),
    *(("lanes", death) for death in ("with one chain begun", "chains apart", "with one chain done")),
    ("short", "before anything"),
    ("long warm-up", "after many segments"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """By way: the folder of a run that was left alone, and its draws."""
    made = {}

    def get(way):
        if way not in made:
            folder = tmp_path_factory.mktemp("whole") / "run"
            made[way] = folder, sample(target(), store=infer.RunFolder(folder), **(RUN | RUNS[way]))
        return made[way]

    return get


def die(folder: Path, copy: Path, kept: dict[int, int]) -> Path:
    """A copy of a run as it was when so many segments of each chain were committed."""
    shutil.copytree(folder, copy)
    for home in copy.glob("chain-*"):
        for path in sorted(home.iterdir())[kept[int(home.name[-4:])] :]:
            path.unlink()
    for name in ("notices", "timings"):
        (copy / f"record-{name}.json").unlink()
    return copy


@pytest.mark.parametrize(
    ("way", "death"),
    [
        pytest.param(way, death, marks=() if (way, death) in FAST else pytest.mark.slow)
        for way in RUNS
        for death in DEATHS
    ],
)
def test_a_run_that_died_anywhere_is_resumed_to_the_same_draws(whole, tmp_path, way, death):
    folder, expected = whole(way)
    copy = die(folder, tmp_path / "run", DEATHS[death])
    assert_same(resume(copy, target(), **QUIET), expected)
    again = infer.load(copy)
    assert_same(again, expected)
    assert [notice.code for notice in again.notices] == [notice.code for notice in expected.notices]


@pytest.fixture
def stop_after(monkeypatch):
    """Let runs end, as by Ctrl-C, once so many segments are committed."""

    def stop(count: int | None) -> None:
        monkeypatch.undo()
        commit, seen = Ledger.commit, []

        def counted(ledger, items):
            commit(ledger, items)
            seen.extend(item for item in items if isinstance(item, Stretch))
            if len(seen) > count:
                ledger.stop.set()

        if count is not None:
            monkeypatch.setattr(Ledger, "commit", counted)

    return stop


def test_a_run_goes_from_executor_to_executor(whole, tmp_path, stop_after):
    folder, expected = tmp_path / "run", whole("plain")[1]
    stop_after(1)
    store = infer.RunFolder(folder)
    assert not sample(target(), store=store, executor=infer.Serial(), **RUN).complete
    stop_after(1)
    # Threads may be done before the one that counts has its turn: whether they were does not matter here.
    resume(folder, target(), executor=infer.Threads(2), **QUIET)
    stop_after(None)
    assert_same(resume(folder, target(), executor=infer.Processes(2), **QUIET), expected)


def test_a_finished_run_is_read_at_once(whole):
    folder, expected = whole("plain")
    segments = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert_same(resume(folder, target(), **QUIET), expected)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == segments


# Longer runs


@pytest.mark.parametrize(
    ("way", "kind"), [("plain", "memory"), ("thinned", "memory"), ("thinned", "folder"), ("lanes", "folder")]
)
def test_an_extended_run_is_one_longer_run(whole, tmp_path, way, kind):
    options = RUN | RUNS[way]
    expected = whole(way)[1]
    short = options | dict(draws=101)
    store = infer.Memory() if kind == "memory" else infer.RunFolder(tmp_path / "run")
    draws = sample(target(), store=store, **short).extend(80).extend(options["draws"] - 181)
    for part in ("sites", "stats", "warmup", "tuning"):
        for name, array in getattr(expected, part).items():
            np.testing.assert_array_equal(getattr(draws, part)[name], array, err_msg=name)
    assert draws.complete and draws.requested == options["draws"]
    if kind == "folder":
        assert_same(infer.load(tmp_path / "run"), draws)


def test_an_extension_that_died_is_resumed_to_its_own_end(whole, tmp_path, stop_after):
    expected = whole("plain")[1]
    folder = tmp_path / "run"
    draws = sample(
        target(), store=infer.RunFolder(folder), executor=infer.Serial(), **(RUN | dict(draws=100))
    )
    stop_after(1)
    assert not draws.extend(RUN["draws"] - 100).complete
    stop_after(None)
    assert not infer.load(folder).complete
    resumed = resume(folder, target(), **QUIET)
    assert resumed.num_draws == RUN["draws"] and resumed.complete
    assert_same(resumed, expected, RUN["draws"])


def test_a_stopped_run_is_extended_to_what_was_asked_and_more(whole, stop_after):
    stop_after(3)
    draws = sample(target(), executor=infer.Serial(), **(RUN | dict(draws=500)))
    stop_after(None)
    assert not draws.complete
    assert_same(draws.extend(100), whole("plain")[1])


def test_draws_that_are_behind_their_folder_have_what_it_has_or_say_so(whole, tmp_path):
    """As if a cell of a notebook ran twice, or another extended the run in between."""
    expected = whole("plain")[1]
    draws = sample(target(), store=infer.RunFolder(tmp_path / "run"), **(RUN | dict(draws=100)))
    assert_same(draws.extend(RUN["draws"] - 100), expected)
    again = draws.extend(RUN["draws"] - 100)
    assert_same(again, expected)
    with pytest.raises(
        OptionError, match=rf"extended to {RUN['draws']} draws per chain, and would have 120\."
    ):
        draws.extend(20)
    longer = again.extend(30)
    assert longer.num_draws == RUN["draws"] + 30
    assert_same(infer.load(tmp_path / "run"), longer)
    short = sample(target(), **(RUN | dict(draws=100)))  # in memory, each extension is a run of its own
    assert short.extend(40).num_draws == 140 and short.extend(20).num_draws == 120


def test_draws_that_were_loaded_say_how_to_extend_them(whole):
    folder, _ = whole("plain")
    with pytest.raises(OptionError, match=r"infer\.resume\(.*\.extend\(7\)"):
        infer.load(folder).extend(7)


# Refusals


@ac.model
def school(sigma, y=None, shift=0.0):
    mu = ac.sample("mu", dist.Normal(shift, 5))
    ac.sample("y", dist.Normal(mu, sigma), obs=y)


@ac.model
def another(sigma, y=None, shift=0.0):
    mu = ac.sample("mu", dist.Normal(shift, 5))
    ac.sample("y", dist.Normal(mu, sigma), obs=y)


@ac.model
def wider(sigma, y=None):
    mu = ac.sample("mu", dist.Normal(0.0, 5))
    tau = ac.sample("tau", dist.HalfNormal(1.0))
    ac.sample("y", dist.Normal(mu, sigma * tau), obs=y)


SIGMA, Y = np.array([1.0, 2.0]), np.array([0.5, 1.5])

OTHERS = {
    "another model": (lambda: another(SIGMA, y=Y), ["model: "]),
    "other data": (
        lambda: school(SIGMA, y=Y + 1),
        ["argument 'y' has other values: 2 of 2 differ, the first at index 0"],
    ),
    "data of another length": (
        lambda: school(np.ones(3), y=np.ones(3)),
        [
            "argument 'y' was of shape (2,) and dtype float64 and is of shape (3,)",
            "shape of site 'y' was (2,)",
        ],
    ),
    "other sites": (lambda: wider(SIGMA, y=Y), ["model: ", "site 'tau' is new"]),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A run of `school` that has draws to make."""
    folder = tmp_path_factory.mktemp("school") / "run"
    draws = sample(school(SIGMA, y=Y), store=infer.RunFolder(folder), **(RUN | dict(draws=50)))
    run = infer.RunFolder(folder).reopen()
    run.record("extended", 60)
    run.close()
    return folder, draws


@pytest.mark.parametrize("other", OTHERS)
def test_another_target_is_refused_by_name_and_nothing_changes(stored, other):
    model, words = OTHERS[other]
    folder, draws = stored
    before = {path.name for path in folder.rglob("*")}
    with pytest.raises(StorageError, match="cannot be resumed") as caught:
        resume(folder, model(), **QUIET)
    for word in words:
        assert word in str(caught.value)
    assert "NPROC" not in str(caught.value)  # which did not change
    assert {path.name for path in folder.rglob("*")} == before
    np.testing.assert_array_equal(infer.load(folder)["mu"], draws["mu"])


def test_another_width_of_the_pool_is_refused_by_name(stored, monkeypatch):
    monkeypatch.setenv("NPROC", "7")
    with pytest.raises(StorageError, match=r"nproc: \d+ stored, 7 given.*NPROC"):
        resume(stored[0], school(SIGMA, y=Y), **QUIET)


def test_every_difference_is_named_at_once(stored, monkeypatch):
    monkeypatch.setenv("NPROC", "7")
    with pytest.raises(StorageError, match=r"argument 'sigma' .*; site .*; model: .*; nproc: "):
        resume(stored[0], wider(SIGMA + 1, y=Y), **QUIET)


@pytest.mark.parametrize(
    ("holds_numbers", "words"),
    [(True, r"in its code, 0\.001 is new"), (False, r"at a fixed point its log density was .* and is now")],
)
def test_a_target_with_another_constant_is_refused_by_its_log_density(tmp_path, holds_numbers, words):
    """The same name, sites and data: only its values tell it from the one that was stored.

    A folder that has lost its record of the numbers in the code takes none from a target that is refused.
    """
    folder = tmp_path / "run"
    run = RUN | dict(draws=50, warmup=50)
    sample(shifted(0.0), store=infer.RunFolder(folder), **run)
    run = infer.RunFolder(folder).reopen()
    run.record("extended", 60)
    run.close()
    if not holds_numbers:
        (folder / "record-program.json").unlink()
    before = {path.name for path in folder.rglob("*")}
    for executor in (infer.Threads(), infer.Serial()):
        with pytest.raises(StorageError, match=words):
            resume(folder, shifted(1e-3), executor=executor, **QUIET)
        assert {path.name for path in folder.rglob("*")} == before
    assert resume(folder, shifted(0.0), **QUIET).num_draws == 60


def shifted(by: float) -> LogDensity:
    def density(x):
        return wall(x) - by * jnp.sum(x**4)

    return LogDensity.from_function(density, np.zeros(3))


def test_a_sampler_that_is_not_there_is_refused(tmp_path, whole):
    stored = infer.RunFolder(whole("plain")[0]).load()
    run = infer.RunFolder(tmp_path / "run").create(Manifest({**stored.manifest, "sampler": {"name": "Walk"}}))
    run.append(stored.segments(0)[0])
    run.close()
    with pytest.raises(StorageError, match="'Walk', which this version of accord cannot make"):
        resume(tmp_path / "run", target(), **QUIET)


def test_other_versions_are_let_through_and_leave_a_seam(whole, tmp_path, monkeypatch):
    folder, expected = whole("plain")
    copy = die(folder, tmp_path / "run", DEATHS["chains apart"])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99.9")
    assert_same(resume(copy, target(), **QUIET), expected)
    (seam,) = infer.RunFolder(copy).load().records["seams"]
    assert seam["versions"]["jax"] == "99.9"
    assert seam["at"] == {"0": 256, "1": 300 + 256}
    resume(copy, target(), **QUIET)  # it is complete: no second seam
    assert len(infer.RunFolder(copy).load().records["seams"]) == 1


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(StorageError, match="there is no folder"):
        resume(tmp_path / "absent", target(), **QUIET)
    with pytest.raises(StorageError, match="no run folder"):
        resume(tmp_path, target(), **QUIET)
