"""Watch runs: what is shown of them is what is there, for bounded work."""

import json
import os
import sys

import numpy as np
import pytest
from growing import begin, drawn, grow, segment

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import StorageError
from accord.report import ess_bulk, ess_tail, r_hat
from accord.storage.lock import NAME, writer_of
from accord.watch.convergence import Convergence
from accord.watch.kinds import KINDS as SHOWN
from accord.watch.progress import ChainProgress, seconds_left
from accord.watch.thrift import Thrift
from accord.watch.watcher import Watcher


def test_runs_are_shown_in_the_words_of_their_methods():
    from accord.reopen.methods import METHODS
    from accord.vi.restart import LOSS

    assert SHOWN.keys() == METHODS.keys() and SHOWN["fit"].first_trace[1] == LOSS
    for method, reopening in METHODS.items():
        if method != "calibration":  # resumed with a display of its own
            assert (SHOWN[method].noun, SHOWN[method].counted) == reopening().words, method


def unhurried(folder):
    """A watcher that may take what time it needs."""
    return Watcher(folder, share=1e9)


def watched(folder):
    """A watcher that has read everything."""
    watcher = unhurried(folder)
    settle(watcher)
    return watcher


def settle(watcher):
    while watcher.step():
        pass
    return watcher.view


def test_numbers_are_those_of_the_draws(tmp_path):
    run = begin(tmp_path / "run", draws=1000)
    grow(run, [0, 1], "warmup", 0, 100)
    grow(run, [0, 1], "sample", 0, 400, 80)
    view = settle(watcher := unhurried(tmp_path / "run"))
    assert view["state"] == "running" and view["words"] == "Running."
    first = view["chains"][0]
    assert (first["phase"], first["done"], first["total"], first["left"]) == ("sample", 400, 1000, 600)
    assert (first["step_size"], first["depth"], first["steps"]) == (0.25, 3.0, 7.0)
    flags = [segment(0, "sample", at, at + 80).arrays["stat/diverging"] for at in range(0, 400, 80)]
    assert first["divergences"] == np.sum(flags) > 0

    run.record("notices", [])
    run.close()
    view = settle(watcher)
    assert (view["state"], view["words"], watcher.is_over) == ("complete", "It is complete.", True)
    draws = np.stack([drawn(tmp_path / "run", chain, "theta") for chain in (0, 1)])
    by_name = {row["name"]: row for row in view["worst"]}
    assert len(by_name) == 4 and view["at"] == 400
    for place in range(3):
        row = by_name[f"theta[{place}]"]
        column = draws[:, :, place : place + 1]
        wanted = [f(column)[0] for f in (ess_bulk, ess_tail, r_hat)]
        np.testing.assert_allclose([row["ess_bulk"], row["ess_tail"], row["r_hat"]], wanted, rtol=1e-10)
        np.testing.assert_allclose([row["mean"], row["sd"]], [column.mean(), column.std(ddof=1)], rtol=1e-10)
    sizes = [min(row["ess_bulk"], row["ess_tail"]) for row in view["worst"]]
    assert sizes == sorted(sizes) and view["history"][-1]["ess"] == sizes[0]
    assert [trace["name"] for trace in view["traces"]] == [row["name"] for row in view["worst"]]
    np.testing.assert_allclose(
        view["traces"][0]["chains"][1]["values"][:3],
        together_with(draws, tmp_path, view["traces"][0]["name"])[1, :: view["traces"][0]["every"]][:3],
        rtol=1e-4,
    )
    json.dumps(view, allow_nan=False)


def together_with(theta, folder, name):
    if name == "mu":
        return np.stack([drawn(folder / "run", chain, "mu") for chain in (0, 1)])
    return theta[:, :, int(name[-2])]


def test_history_does_not_depend_on_when_it_was_looked_at(tmp_path):
    run = begin(tmp_path / "run")
    often = unhurried(tmp_path / "run")
    for at in range(0, 600, 20):
        grow(run, [0, 1], "sample", at, at + 20)
        settle(often)
    assert settle(often)["history"] == settle(unhurried(tmp_path / "run"))["history"]
    assert len(often.view["history"]) > 10


def test_all_numbers_of_the_table_are_of_the_draws_of_its_look(tmp_path):
    run = begin(tmp_path / "run")
    grow(run, [0, 1], "sample", 0, 100)
    view = watched(tmp_path / "run").view
    assert 50 < view["at"] < 100
    wanted = [drawn(tmp_path / "run", chain, "mu")[: view["at"]] for chain in (0, 1)]
    row = next(each for each in view["worst"] if each["name"] == "mu")
    np.testing.assert_allclose(
        [row["mean"], row["sd"]], [np.mean(wanted), np.std(wanted, ddof=1)], rtol=1e-10
    )


def test_a_step_after_many_segments_takes_only_what_is_new(tmp_path):
    run = begin(tmp_path / "run", draws=10**6)
    grow(run, [0, 1], "sample", 0, 180, 3)
    watcher = watched(tmp_path / "run")
    before = len(json.dumps(watcher.view))
    opened = []

    is_heard = [True]

    def hear(event, arguments):
        if is_heard and event == "open" and str(arguments[0]).endswith(".npz"):
            opened.append(os.path.basename(str(arguments[0])))

    sys.addaudithook(hear)  # which can never be taken away
    grow(run, [0], "sample", 180, 183)
    opened.clear()
    watcher.step()
    is_heard.clear()
    assert set(opened) == {"segment-000060.npz"}
    assert watcher.view["chains"][0]["done"] == 183
    assert len(json.dumps(watcher.view)) < before + 1000


def test_what_is_kept_of_a_long_run_is_bounded(tmp_path):
    run = begin(tmp_path / "run", names={"x": (5000,)}, draws=10**6)
    found = Convergence(run.manifest, [0, 1])
    assert found.width == 200 and found.num_scalars == 5000
    for at in range(0, 20_000, 5000):
        for chain in (0, 1):
            found.take(Wide(chain, at, 5000))
    assert found.num_draws == 20_000
    found.look(20_000)
    assert found.looks[-1].stride > 1
    # Independent draws: of those that are kept, none is lost to dependence. False alarms: below 1e-6.
    kept = 2 * 20_000 / found.looks[-1].stride
    assert 0.7 * kept < np.median(found.looks[-1].bulk) < 1.3 * kept
    assert np.all(found.looks[-1].r_hat < 1.01)


class Wide:
    """A segment of a wide site, of independent normal draws."""

    phase = "sample"

    def __init__(self, chain, start, size):
        self.chain, self._size = chain, size
        rng = np.random.default_rng([chain, start])
        self.arrays = {"site/x": np.broadcast_to(rng.normal(size=(size, 1)), (size, 5000))}

    def __len__(self):
        return self._size


def test_states_of_a_run(tmp_path):
    folder = tmp_path / "run"
    run = begin(folder)
    watcher = unhurried(folder)
    watcher.step()
    assert watcher.view["words"] == "Running: no draws yet."
    grow(run, [0, 1], "sample", 0, 50)
    assert settle(watcher)["words"] == "Running."
    here = json.loads((folder / NAME).read_text())
    (folder / NAME).write_text(json.dumps(here | {"process": 4194305}))  # no process has this number
    assert settle(watcher)["state"] == "killed" and "accord resume" in watcher.view["words"]
    (folder / NAME).write_text('{"process": 1, "machine": "elsewhere", "since": "then"}')
    assert settle(watcher)["words"] == "Running on elsewhere."
    (folder / NAME).write_text("nonsense")
    assert settle(watcher)["state"] == "killed"
    notice = {
        "severity": "error",
        "code": "incomplete",
        "message": "It stopped.",
        "remedy": "Go on.",
        "sites": [],
    }
    run.record("notices", [notice])
    run.close()
    assert settle(watcher)["state"] == "stopped" and watcher.is_over
    assert watcher.view["notices"][0]["message"] == "It stopped."


def test_a_lost_chain_holds_up_nothing(tmp_path):
    run = begin(tmp_path / "run", chains=3)
    grow(run, [0, 1], "sample", 0, 200, 50)
    grow(run, [2], "sample", 0, 10)
    watcher = watched(tmp_path / "run")
    assert watcher.view["history"] == []
    run.record("lost_chains", [{"chains": [2], "draw": 10, "error": "ValueError: no"}])
    settle(watcher)
    assert [each["is_lost"] for each in watcher.view["chains"]] == [False, False, True]
    assert watcher.view["history"][-1]["draws"] > 100


def test_speed_is_of_the_last_segments_and_not_of_a_rest():
    chain = ChainProgress(0, ["warmup", "sample"], {"warmup": 100, "sample": 1000})
    assert (chain.phase, chain.speed, chain.left) == ("warmup", None, 1100)
    chain.take(segment(0, "warmup", 0, 100), 10.0)
    chain.take(segment(0, "sample", 0, 100), 12.0)
    assert (chain.phase, chain.speed, chain.left) == ("sample", 50.0, 900)
    assert seconds_left([chain], True) == 18.0 and seconds_left([chain], False) is None
    chain.take(segment(0, "sample", 100, 200), 5000.0)  # killed, and resumed an hour later
    assert chain.speed is None and seconds_left([chain], True) is None
    chain.take(segment(0, "sample", 200, 300), 5001.0)
    assert chain.speed == 100.0
    chain.take(segment(0, "sample", 300, 310, is_given_up=np.asarray(True)), 5002.0)
    assert chain.left == 0


def test_watching_stays_below_its_share_of_the_time():
    clock = [0.0]
    thrift = Thrift(1000.0, share=0.01, now=lambda: 1010.0, clock=lambda: clock[0])
    clock[0] = 5.0
    with thrift:
        clock[0] = 5.35
        assert thrift.affords() and not thrift.affords(0.1)
    assert thrift.spent == pytest.approx(0.35)
    with thrift:
        clock[0] = 5.45
        assert not thrift.affords()
    thrift.now = lambda: 1100.0
    assert thrift.affords(0.5)


@ac.model
def small(y):
    x = ac.sample("x", dist.Normal(0, 1).expand((2,)).to_event(1))
    ac.sample("y", dist.Normal(x.sum(), 1.0), obs=y)


KINDS = {
    "chains": (
        lambda store: infer.sample(small(1.0), draws=150, warmup=100, chains=2, store=store, quiet=True),
        ("chain", "draws"),
    ),
    "a fit": (
        lambda store: infer.fit(small(1.0), steps=200, store=store, quiet=True, progress=False),
        ("restart", "steps"),
    ),
    "a pathfinder": (
        lambda store: infer.pathfinder(small(1.0), paths=2, draws=100, store=store, quiet=True),
        ("path", "points and draws"),
    ),
    "populations": (
        lambda store: infer.smc(small(1.0), populations=2, particles=100, store=store, quiet=True),
        ("population", "stages and draws"),
    ),
    "nested sampling": (
        lambda store: infer.evidence(small(1.0), infer.NestedSampling(live=50, store=store, quiet=True)),
        ("run", "rounds and points"),
    ),
    "a calibration": (
        lambda store: infer.calibrate(
            small(1.0), simulations=20, draws=20, warmup=50, store=store, quiet=True
        ),
        ("simulation", "simulations"),
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "a calibration")) for name in KINDS]
)
def test_whatever_a_folder_holds_is_shown(tmp_path, name):
    make, words = KINDS[name]
    make(infer.RunFolder(tmp_path / "run"))
    view = watched(tmp_path / "run").view
    assert (view["noun"], view["counted"]) == words
    assert view["state"] == "complete" and all(chain["left"] == 0 for chain in view["chains"])
    assert bool(view["traces"]) == (name in ("chains", "a fit"))
    json.dumps(view, allow_nan=False)


def test_a_run_of_another_method_is_refused(tmp_path):
    begin(tmp_path / "run", method="divination")
    with pytest.raises(StorageError, match="method 'divination', and accord watches mcmc"):
        unhurried(tmp_path / "run")


def test_notices_are_of_the_draws_so_far(tmp_path):
    run = infer.RunFolder(tmp_path / "run")
    infer.sample(small(1.0), draws=400, warmup=100, chains=1, store=run, quiet=True)
    open_run = run.reopen()
    open_run.record("notices", None)
    view = watched(tmp_path / "run").view
    assert view["state"] == "running" and view["judged_at"] == 400
    codes = [notice["code"] for notice in view["notices"]]
    assert "single_chain" in codes and "incomplete" not in codes
    open_run.close()


def test_the_writer_of_a_folder_is_known_without_its_lock(tmp_path):
    run = begin(tmp_path / "run")
    writer = writer_of(tmp_path / "run")
    assert writer is not None and writer.is_here and writer.process == os.getpid()
    run.close()
    assert writer_of(tmp_path / "run") is None
