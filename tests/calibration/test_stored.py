"""Hold that a calibration in a store goes on to the result of one that was left alone, and refuses another one's."""

import dataclasses
import itertools
import json
import multiprocessing
import os
import shutil
import signal
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from ctrl_c import is_heard
from laws import each
from losing import Losing

import accord as ac
import accord.distributions as dist
from accord import LogDensity, infer
from accord.calibration import carry_out, simulations
from accord.calibration.calibration import Calibration
from accord.calibration.stored import segment_of, stored_trials
from accord.core.errors import InitializationError, OptionError, StorageError
from accord.storage import Manifest
from accord.storage.run_folder import RunFolderRun

QUIET = dict(progress=False, quiet=True)
OPTIONS = dict(simulations=6, draws=12, warmup=60, thinning=2, seed=4, **QUIET)


@ac.model
def level(y, width=1.0):
    with ac.plate("group", 2, coords=["a", "b"]):
        mu = ac.sample("mu", dist.Normal(0.0, 3.0))
    ac.sample("y", dist.Normal(jnp.where(mu.sum() > 2, jnp.inf, mu.sum()), width), obs=y)


def nearly(y):
    """The model with another number in its code."""

    @ac.model
    def level(y, width=1.0):
        with ac.plate("group", 2, coords=["a", "b"]):
            mu = ac.sample("mu", dist.Normal(0.0, 3.0 + 1e-9))
        ac.sample("y", dist.Normal(jnp.where(mu.sum() > 2, jnp.inf, mu.sum()), width), obs=y)

    return level(y)


MODEL = level(np.array(0.5))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A calibration that was left alone, and its folder."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    return infer.calibrate(MODEL, store=infer.RunFolder(folder), **OPTIONS), folder


@pytest.fixture
def copy(whole, tmp_path):
    """A copy of its folder."""
    return Path(shutil.copytree(whole[1], tmp_path / "run"))


def without(folder, *numbers):
    """Remove simulations."""
    for number in numbers:
        shutil.rmtree(folder / f"chain-{number:04d}")
    return folder


def segment(folder, number):
    return folder / f"chain-{number:04d}" / "segment-000000.npz"


def assert_same(one, other):
    assert isinstance(one, Calibration) and one.ranks.keys() == other.ranks.keys()
    for name, ranks in other.ranks.items():
        np.testing.assert_array_equal(one.ranks[name], ranks)
    assert (one.simulations, one.seeds, one.requested) == (other.simulations, other.seeds, other.requested)
    assert one.shapes == other.shapes and one.notices == other.notices and str(one) == str(other)


def test_it_is_the_one_in_memory_and_is_read_back(whole):
    assert_same(infer.calibrate(MODEL, **OPTIONS), whole[0])
    assert_same(infer.load(whole[1]), whole[0])
    assert whole[0].location == str(whole[1]) and infer.load(whole[1]).complete
    # Some simulations have infinite data: their errors are kept too.
    assert len(whole[0].simulations) < 6
    assert "failed_simulations" in [notice.code for notice in whole[0].notices]


WHERE = {
    "serial": lambda: infer.Serial(),
    "threads": lambda: infer.Threads(3),
    "devices": lambda: infer.Devices(),
    "processes": lambda: infer.Processes(2),
}


@each(WHERE, slow={"devices", "processes"})
def test_what_is_missing_is_run_in_any_executor(where, whole, copy):
    without(copy, 1, 4)
    there = {path: path.stat().st_mtime_ns for path in copy.rglob("*.npz")}
    assert infer.load(copy).notices[0].code == "incomplete" and not infer.load(copy).complete
    assert_same(infer.resume(copy, MODEL, executor=where, **QUIET), whole[0])
    assert_same(infer.load(copy), whole[0])
    assert {path: path.stat().st_mtime_ns for path in there} == there


def test_a_finished_one_is_returned_at_once(whole, copy, monkeypatch):
    monkeypatch.setattr(simulations, "prepared", lambda *_, **__: 1 / 0)
    there = {path: path.stat().st_mtime_ns for path in copy.rglob("*")}
    assert_same(infer.resume(copy, MODEL, **QUIET), whole[0])
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*")} == there


@pytest.mark.parametrize("num_done", [0, 3])
def test_an_interrupted_one_goes_on(whole, tmp_path, monkeypatch, num_done):
    attach, calls, waits = simulations.attach, itertools.count(), itertools.count()

    def interrupted(order, interrupts):
        if next(calls) < num_done:
            return attach(order, interrupts)
        signal.raise_signal(signal.SIGINT)
        while not interrupts.is_stopped():
            assert next(waits) < 6000, "nobody has heard it"
            time.sleep(0.01)
        return attach(order, interrupts)

    options = OPTIONS | dict(store=infer.RunFolder(tmp_path / "run"), executor=infer.Serial())
    with monkeypatch.context() as patch, is_heard():
        patch.setattr(simulations, "attach", interrupted)
        first = infer.calibrate(MODEL, **options)
    (notice,) = [each for each in first.notices if each.code == "incomplete"]
    if num_done:
        assert f"infer.resume({str(tmp_path / 'run')!r}, model) runs the others" in notice.remedy
        assert_same(infer.load(tmp_path / "run"), first)
        with counting(monkeypatch) as done:
            found = infer.resume(tmp_path / "run", MODEL, executor=infer.Serial(), **QUIET)
        assert len(done) == 6 - len(first.seeds)
    else:  # a run into which nothing was written leaves no trace
        found = infer.calibrate(MODEL, **options)
    assert_same(found, whole[0])


class counting:  # noqa: N801 - read as a word
    """The simulations that begin within the block."""

    def __init__(self, monkeypatch):
        self.patch = monkeypatch
        self.found = []

    def __enter__(self):
        trial = simulations.SimulationMachine.trial

        def counted(machine, number, is_stopped):
            self.found.append(number)
            return trial(machine, number, is_stopped)

        self.patch.setattr(simulations.SimulationMachine, "trial", counted)
        return self.found

    def __exit__(self, *_):
        self.patch.undo()


def calibrate_there(folder):
    append, calls = RunFolderRun.append, itertools.count(1)

    def and_die(run, segment):
        append(run, segment)
        if next(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    RunFolderRun.append = and_die
    infer.calibrate(MODEL, store=infer.RunFolder(folder), **(OPTIONS | dict(simulations=15)))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "kill"), reason="needs signals")
def test_one_whose_process_was_killed_goes_on(tmp_path):
    folder = tmp_path / "run"
    process = multiprocessing.get_context("spawn").Process(target=calibrate_there, args=(folder,))
    process.start()
    process.join(300)
    assert process.exitcode == -signal.SIGKILL
    num_there = len(infer.load(folder).seeds)
    assert num_there == 3
    with pytest.MonkeyPatch.context() as patch, counting(patch) as done:
        found = infer.resume(folder, MODEL, **QUIET)
    assert len(done) == 15 - num_there
    assert_same(found, infer.calibrate(MODEL, **(OPTIONS | dict(simulations=15))))


def test_a_simulation_that_lost_its_workers_is_run_when_it_is_resumed(whole, tmp_path):
    store = infer.RunFolder(tmp_path / "run")
    first = infer.calibrate(MODEL, store=store, executor=Losing(num_losses=4, of=1), **OPTIONS)
    assert any("WorkerError" in notice.message for notice in first.notices)
    assert_same(infer.load(tmp_path / "run"), first)
    assert_same(infer.resume(tmp_path / "run", MODEL, **QUIET), whole[0])
    assert_same(infer.load(tmp_path / "run"), whole[0])


def test_a_full_disk_stops_it_with_what_is_in_memory(whole, tmp_path, monkeypatch):
    def refuse(run, segment, append=RunFolderRun.append):
        if segment.chain == 3:
            raise StorageError("the disk is full.")
        append(run, segment)

    store = infer.RunFolder(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(RunFolderRun, "append", refuse)
        first = infer.calibrate(MODEL, store=store, executor=infer.Serial(), **OPTIONS)
    # The next one may be finished before its thread hears of the disk.
    assert {0, 1, 2, 3} <= first.seeds.keys() and {"incomplete", "not_stored"} <= {
        notice.code for notice in first.notices
    }
    assert list(infer.load(tmp_path / "run").seeds) == [0, 1, 2]
    assert_same(infer.resume(tmp_path / "run", MODEL, **QUIET), whole[0])


def test_one_of_which_nothing_could_be_run_raises_its_reason_again(tmp_path, monkeypatch):
    def refuses(*_, **__):
        raise InitializationError("no start")

    with monkeypatch.context() as patch:
        patch.setattr(simulations, "attach", refuses)
        with pytest.raises(InitializationError, match="no start"):
            infer.calibrate(MODEL, store=infer.RunFolder(tmp_path / "run"), **OPTIONS)
    found = infer.load(tmp_path / "run")
    assert found.simulations == () and "InitializationError: no start" in found.notices[0].message
    with pytest.raises(InitializationError, match="no start"):
        infer.resume(tmp_path / "run", MODEL, **QUIET)


def test_the_last_of_several_interrupts_leaves_the_folder_to_the_next(whole, tmp_path, monkeypatch):
    def pressed_twice(call, stop, interrupts, say):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(carry_out, "patiently", pressed_twice)
        first = infer.calibrate(MODEL, store=infer.RunFolder(tmp_path / "run"), **OPTIONS)
    assert not first.complete
    assert_same(infer.calibrate(MODEL, store=infer.RunFolder(tmp_path / "run"), **OPTIONS), whole[0])


# Rows that are shared out


@ac.model
def line(x, y):
    a = ac.sample("a", dist.Normal(0.0, 2.0))
    with ac.plate("row", len(x)):
        ac.sample("y", dist.Normal(a * x, 1.0), obs=y)


# Refusals and damage

OTHERS = {
    "data": (lambda: level(np.array(0.75)), {}, r"argument 'y' has other values"),
    "an argument": (lambda: level(np.array(0.5), 2.0), {}, r"cannot be resumed.*'width'|'width' was 1.0"),
    "a number in the code": (
        lambda: nearly(np.array(0.5)),
        {},
        r"the model differs.* in its code, .*3\.0 became .*3\.000000001",
    ),
    "a sampler": (lambda: MODEL, dict(sampler=infer.HMC()), r"sampler: .* stored, .*HMC"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_model_or_sampler_is_refused_before_anything_is_run(copy, name):
    model, options, words = OTHERS[name]
    without(copy, 2)
    with pytest.raises(StorageError, match=words):
        infer.resume(copy, model(), **options, **QUIET)
    assert not segment(copy, 2).exists()


def test_what_cannot_be_a_calibration_is_refused(copy):
    with pytest.raises(OptionError, match="a calibration has no stopping rule"):
        infer.resume(copy, MODEL, until=infer.ESS(100), **QUIET)
    with pytest.raises(OptionError, match="Give the model that it was made from"):
        infer.resume(copy, LogDensity.from_model(MODEL), **QUIET)
    with pytest.raises(StorageError, match="already holds a run"):
        infer.calibrate(MODEL, store=infer.RunFolder(copy), **OPTIONS)
    with pytest.raises(OptionError, match="store must be something like"):
        infer.calibrate(MODEL, store="run", **OPTIONS)


def test_damaged_simulations_are_named_set_aside_and_run_again(whole, copy):
    path = segment(copy, 2)
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    found = infer.load(copy)
    assert found.notices[0].code == "damaged" and "5 of 6 simulations are whole" in found.notices[0].message
    assert str(path) in found.problems[0] and 2 not in found.seeds and not found.ok
    mended = infer.resume(copy, MODEL, **QUIET)
    assert [notice.code for notice in mended.notices if notice not in whole[0].notices] == ["repaired"]
    assert_same(infer.load(copy), whole[0])
    assert len(list(path.parent.glob("rejected-*"))) == 1


def test_a_simulation_of_another_run_is_damage(copy, tmp_path):
    other = tmp_path / "other"
    infer.calibrate(MODEL, store=infer.RunFolder(other), **(OPTIONS | dict(simulations=1)))
    shutil.copy(segment(other, 0), segment(copy, 0))
    assert "belongs to the run" in infer.load(copy).problems[0]


FORGED = {
    "ranks that are too high": lambda each: dataclasses.replace(
        each, arrays={**each.arrays, "rank/mu": np.full((1, 2), 13)}
    ),
    "ranks of another shape": lambda each: dataclasses.replace(
        each, arrays={**each.arrays, "rank/mu": np.zeros((1, 3), int)}
    ),
    "no ranks of lp": lambda each: dataclasses.replace(
        each, arrays={name: array for name, array in each.arrays.items() if name != "rank/lp"}
    ),
    "words that are no JSON": lambda each: dataclasses.replace(
        each, end_state={**each.end_state, "words": np.zeros(3, np.uint8)}
    ),
    "notices of another form": lambda each: dataclasses.replace(
        each,
        end_state={
            **each.end_state,
            "words": np.frombuffer(json.dumps({"notices": [{}], "error": None}).encode(), np.uint8),
        },
    ),
    "no words": lambda each: dataclasses.replace(each, end_state={}),
    "no fingerprint": lambda each: dataclasses.replace(
        each,
        end_state={name: array for name, array in each.end_state.items() if name != "target.at_fixed_points"},
    ),
    "a fingerprint of another size": lambda each: dataclasses.replace(
        each, end_state={**each.end_state, "target.at_fixed_points": np.zeros((2, 2))}
    ),
}


@each(FORGED)
def test_what_no_calibration_wrote_is_an_error(forge, whole, tmp_path):
    fields = dict(infer.RunFolder(whole[1]).load().manifest)
    run = infer.RunFolder(tmp_path / "run").create(Manifest(fields))
    (first,) = [trial for trial in stored_trials(infer.RunFolder(whole[1]).load()) if trial.ranks][:1]
    run.append(forge(segment_of(first, np.zeros((3, 2)))))
    run.close()
    with pytest.raises(StorageError, match=f"simulation {first.number}"):
        infer.load(tmp_path / "run")


@pytest.mark.parametrize(
    "changed", [{"phases": ["warmup", "sample"]}, {"settings": {}}, {"particulars": None}], ids=str
)
def test_the_manifest_of_chains_is_not_that_of_a_calibration(whole, tmp_path, changed):
    fields = dict(infer.RunFolder(whole[1]).load().manifest) | changed
    fields = {name: value for name, value in fields.items() if value is not None}
    run = infer.RunFolder(tmp_path / "run").create(Manifest(fields))
    run.record("note", 1)
    run.close()
    with pytest.raises(StorageError, match="not of a calibration"):
        infer.load(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("shard", [{"x": 0, "y": 0}, "row"], ids=str)
def test_rows_that_are_shared_out_are_so_again_elsewhere(tmp_path, shard):
    x = np.linspace(-1, 1, 64)
    model = line(x, np.zeros(64))
    options = OPTIONS | dict(simulations=3, executor=infer.Devices(data=1, shard=shard))
    expected = infer.calibrate(model, store=infer.RunFolder(tmp_path / "run"), **options)
    without(tmp_path / "run", 1)
    assert_same(infer.resume(tmp_path / "run", model, executor=infer.Threads(2), **QUIET), expected)
