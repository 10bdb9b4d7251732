"""Damage run folders, forge them, and let two runs have one: one kind of error, and never another run's draws."""

import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from fault_models import QUIET, assert_same, resume, sample
from forged import content_of, flip_bits, forge, sign
from json_edits import VALUES, changed, places_in

import accord as ac
import accord.distributions as dist
from accord import infer
from accord.core.errors import AccordError, StorageError
from accord.core.notice import Notice
from accord.runs.stopping.base import Finding
from accord.storage import RunFolder, kinds_of


@ac.model
def school(sigma, y=None, df=3):
    mu = ac.sample("mu", dist.Normal(0.0, 5))
    with ac.plate("school", len(sigma), coords=["a", "b", "c"]):
        theta = ac.sample("theta", dist.Normal(mu, 1.0))
        ac.sample("y", dist.StudentT(df, theta, sigma), obs=y)


SIGMA, Y = np.array([1.0, 2.0, 1.5]), np.array([0.5, 1.5, 2.5])
OPTIONS = dict(draws=300, warmup=60, chains=2, seed=1, executor=infer.Serial(), **QUIET)


def target():
    return school(SIGMA, y=Y)


def another():
    """The same but for an argument that is no array: only its log density tells."""
    return school(SIGMA, y=Y, df=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run, made longer once, and its draws."""
    folder = tmp_path_factory.mktemp("folders") / "run"
    short = sample(target(), store=infer.RunFolder(folder), init={"mu": 0.5}, **{**OPTIONS, "draws": 250})
    return folder, short.extend(50)


@pytest.fixture
def copy(whole, tmp_path):
    return Path(shutil.copytree(whole[0], tmp_path / "run"))


def take_up(folder, model=target):
    return resume(folder, model(), executor=infer.Serial(), **QUIET)


# Repairs


def flip(path):
    data = bytearray(path.read_bytes())
    # Of JSON the checksum: in the middle may stand the last digit of a number, which reads as the same number.
    data[data.index(b'": "') + 4 if path.suffix == ".json" else len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def link_out(path):
    shutil.move(path, path.parent.parent / f"outside-{path.name}")
    path.symlink_to(path.parent.parent / f"outside-{path.name}")


LAST = "chain-0000/segment-000002.npz"
DAMAGES = {
    "a flipped segment": lambda folder: flip(folder / LAST),
    "a flipped segment of warm-up": lambda folder: flip(folder / "chain-0001/segment-000000.npz"),
    "a missing segment": lambda folder: (folder / "chain-0001/segment-000001.npz").unlink(),
    "a chain behind a link": lambda folder: link_out(folder / "chain-0000"),
    "a segment too many": lambda folder: (folder / "chain-0000/segment-000099.npz").write_bytes(b"?"),
    "flipped notices": lambda folder: flip(folder / "record-notices.json"),
    "flipped timings": lambda folder: flip(folder / "record-timings.json"),
    "a flipped fingerprint": lambda folder: flip(folder / "record-target.json"),
    "losses of no form": lambda folder: sign(folder / "record-lost_chains.json", [{"chains": 3}]),
    "a stopping that is none": lambda folder: sign(folder / "record-stopping.json", {"held": True}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_says_so_and_is_whole_after_it_was_resumed(whole, copy, damage):
    DAMAGES[damage](copy)
    loaded = infer.load(copy)
    assert loaded.problems and not loaded.complete
    assert next(each.code for each in loaded.notices if each.severity == "error") == "damaged"
    assert "incomplete" not in [each.code for each in loaded.notices]
    resumed = take_up(copy)
    again = infer.load(copy)
    for draws in (resumed, again):
        assert_same(draws, whole[1])
        codes = [each.code for each in draws.notices]
        assert "repaired" in codes and not {"damaged", "incomplete"} & {*codes}
        assert draws.problems == () and draws.complete
    aside = [path.name for path in copy.rglob("rejected-*")]
    assert aside or damage == "a missing segment"
    assert (copy / "record-target.json").exists()
    assert len(take_up(copy).notices) == len(resumed.notices)  # and it stays so


def test_notices_of_before_a_repair_by_hand_are_not_believed(whole, copy):
    """As a folder is left by a version that mended segments and kept the notice of the cut."""
    notices = content_of(copy / "record-notices.json")
    cut = {"severity": "error", "code": "incomplete", "message": "", "remedy": "", "sites": []}
    sign(copy / "record-notices.json", [cut, *notices])
    assert [each.code for each in infer.load(copy).notices] == [each.code for each in whole[1].notices]


@pytest.mark.parametrize("record", ["extended", "cap", "init"])
def test_a_damaged_record_that_nothing_else_says_is_not_guessed(copy, record):
    path = copy / f"record-{record}.json"
    sign(path, [])
    assert infer.load(copy).notices[0].code == "damaged"
    before = sorted(copy.rglob("*"))
    with pytest.raises(StorageError, match=rf"record-{record}\.json.*It held"):
        take_up(copy)
    assert sorted(copy.rglob("*")) == before


def test_damage_in_a_folder_that_cannot_be_written_stays_and_is_told(whole, copy, monkeypatch):
    flip(copy / "record-timings.json")
    monkeypatch.setattr("os.access", lambda *args: False)
    draws = take_up(copy)
    np.testing.assert_array_equal(draws["mu"], whole[1]["mu"])
    assert draws.notices[0].code == "damaged"


def test_no_flipped_bit_is_loaded(whole, tmp_path):
    def beginning(folder):
        total = 0
        run = RunFolder(folder).load()
        for row, chain in enumerate(whole[1].chains):
            segments = [each for each in run.segments(chain) if each.phase == "sample"]
            rows = np.concatenate([np.zeros(0), *(each.arrays["site/mu"] for each in segments)])
            np.testing.assert_array_equal(rows, whole[1]["mu"][row, : len(rows)])
            total += len(rows) + sum(each.phase == "warmup" for each in run.segments(chain))
        return total

    found = flip_bits(24, whole[0], tmp_path / "run", beginning)
    assert min(found[kind] for kind in ("manifest", "record", "segment")) > 0


# The target


TARGETS = {
    "is there": lambda folder: None,
    "is removed": lambda folder: (folder / "record-target.json").unlink(),
    "is damaged": lambda folder: flip(folder / "record-target.json"),
    "has no form": lambda folder: sign(folder / "record-target.json", "x"),
    "is of the other model": lambda folder: sign(folder / "record-target.json", of_another(folder)),
}


def of_another(folder):
    """The record that another model would have written."""
    other = folder.with_name("other")
    sample(another(), store=infer.RunFolder(other), **{**OPTIONS, "draws": 1, "warmup": 0, "chains": 1})
    return content_of(other / "record-target.json")


@pytest.mark.parametrize("record", TARGETS)
def test_another_model_never_resumes_whatever_became_of_its_record(whole, copy, record):
    kept = content_of(copy / "record-target.json")
    sign(copy / "record-extended.json", 310)
    TARGETS[record](copy)
    with pytest.raises(StorageError, match=r"the model differs from the model of this run"):
        take_up(copy, another)
    resumed = take_up(copy)
    assert resumed.num_draws == 310 and resumed.complete
    np.testing.assert_array_equal(resumed["theta"][:, :300], whole[1]["theta"])
    assert content_of(copy / "record-target.json") == kept


# Two writers


def at_once(*calls):
    """What calls in threads of their own return, or their `StorageError`, all begun together."""
    barrier = threading.Barrier(len(calls))

    def call(function):
        barrier.wait()
        try:
            return function()
        except StorageError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))


@pytest.mark.parametrize("count", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_of_two_runs_into_one_folder_one_gets_it(tmp_path, count):
    """Different ones, so that a mixture of both would be seen."""
    seeds = (1, 2)
    expected = [sample(target(), **{**OPTIONS, "seed": seed}) for seed in seeds]
    for number in range(count):
        folder = tmp_path / str(number)

        def begin(seed, folder=folder):
            return lambda: sample(target(), store=infer.RunFolder(folder), **{**OPTIONS, "seed": seed})

        found = at_once(*map(begin, seeds))
        (winner,) = [row for row, each in enumerate(found) if not isinstance(each, StorageError)]
        assert re.search(r"already holds a run|by this process", str(found[1 - winner]))
        assert_same(found[winner], expected[winner])
        assert_same(infer.load(folder), expected[winner])


def test_of_two_resumes_at_once_one_is_told_and_the_other_finishes(whole, copy):
    sign(copy / "record-extended.json", 2000)
    barrier = threading.Barrier(2)

    def finish():
        barrier.wait()
        return take_up(copy)

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(finish) for _ in range(2)]
        errors = [error for future in futures if (error := future.exception(60)) is not None]
    # The second may come after the first is done, and then has nothing to do.
    assert len(errors) <= 1 and all("being written by this process" in str(error) for error in errors)
    assert infer.load(copy).complete and infer.load(copy).num_draws == 2000


def test_nobody_writes_into_a_run_that_goes_on(copy):
    run = RunFolder(copy).reopen()
    for write in (lambda: take_up(copy), lambda: sample(target(), store=infer.RunFolder(copy), **OPTIONS)):
        with pytest.raises(StorageError, match=r"being written by this process|already holds a run"):
            write()
    assert infer.load(copy).complete  # reading is always possible
    run.close()
    assert take_up(copy).complete


def test_after_an_error_the_folder_is_free(copy):
    sign(copy / "record-extended.json", 310)
    for _ in range(2):
        with pytest.raises(StorageError, match="the model differs from the model of this run"):
            take_up(copy, another)
    longer = take_up(copy)
    with pytest.raises(AccordError):
        longer.extend(-1)
    assert longer.extend(5).num_draws == 315


# Forged folders


def end_with(name, value):
    """Segments with another array, or none, in their state at the end."""

    def change(segment):
        end = {**segment.end_state, name: value}
        if value is None:
            del end[name]
        return replace(segment, end_state=end)

    return change


def arrays_with(name, value):
    def change(segment):
        if name not in segment.arrays:
            return segment
        arrays = {**segment.arrays, name: value(segment.arrays[name])}
        return replace(segment, arrays=arrays)

    return change


FORGED = {
    "no step size": end_with("tuning.step_size", None),
    "a step size for each dimension": end_with("tuning.step_size", np.ones(4)),
    "a metric of other dimensions": end_with("tuning.inverse_mass", np.ones(7)),
    "a reason in numbers": end_with("tuning.metric_reason", np.ones(7)),
    "no gradients": end_with("piece_gradients", None),
    "gradients in fractions": end_with("piece_gradients", np.array(0.5)),
    "a tally of other kinds": end_with("tally.counts", np.zeros((3, 3), int)),
    "an unknown kind of end": end_with("tally.kept.kind", np.array([7], np.int8)),
    "no fingerprint": end_with("target.at_fixed_points", None),
    "a fingerprint of another size": end_with("target.at_fixed_points", np.zeros((2, 2))),
    "a site of another shape": arrays_with("site/theta", lambda value: value[:, :2]),
    "a site of another dtype": arrays_with("site/mu", lambda value: value.astype(complex)),
}


# What a chain goes on from, and nothing else reads.
FORGED_STATES = {
    "no step size": end_with("state.learnt.step_size", None),
    "a step size for each dimension": end_with("state.learnt.step_size", np.ones(4)),
    "a metric of other dimensions": end_with("fitted.metric.scale", np.ones(7)),
    "a factor of another rank": end_with("fitted.metric.factor", np.ones((4, 9))),
    "no form of a metric": end_with("fitted.metric_choice.form", None),
    "an unknown metric": end_with("fitted.metric_choice.form", np.array(77, np.int8)),
}


@pytest.mark.parametrize("kind", FORGED_STATES)
def test_a_chain_does_not_go_on_from_a_state_that_no_run_wrote(whole, tmp_path, kind):
    folder = forge(whole[0], tmp_path / "run", change=FORGED_STATES[kind])
    sign(folder / "record-extended.json", 310)
    np.testing.assert_array_equal(infer.load(folder)["theta"], whole[1]["theta"])
    with pytest.raises(StorageError, match="chain 0: the stored state cannot be taken up"):
        take_up(folder)


@pytest.mark.parametrize("kind", FORGED)
def test_segments_that_no_run_wrote_are_one_error(whole, tmp_path, kind):
    folder = forge(whole[0], tmp_path / "run", change=FORGED[kind])
    sign(folder / "record-extended.json", 310)
    if kind == "a site of another dtype":  # all alike: they are draws of another dtype
        assert infer.load(folder)["mu"].dtype == complex
        return
    if not kind.startswith("an unknown"):
        assert not RunFolder(folder).load().problems
    with pytest.raises(StorageError):
        infer.load(folder)
    with pytest.raises(StorageError):
        take_up(folder)


def test_a_manifest_that_claims_to_be_vast_takes_no_memory(whole, tmp_path):
    """Nothing is allocated for what is claimed and not there."""
    content = content_of(whole[0] / "manifest.json")
    content["layout"]["dim"] = 2**31
    for site in content["layout"]["sites"]:
        site["shape"] = [2**31]
    content["draws"] = 2**62
    next(each for each in content["tuning"] if each["name"] == "inverse_mass")["shape"] = [2**31]
    (tmp_path / "run").mkdir()
    sign(tmp_path / "run" / "manifest.json", content)
    draws = infer.load(tmp_path / "run")
    assert draws.num_draws == 0 and draws["theta"].shape == (2, 0, 2**31)
    assert draws.tuning["inverse_mass"].shape == (2, 2**31)


def attack(whole, tmp_path, name, cases):
    """Load and resume a run after one value of a file was changed; count what came of it."""
    folder, content = tmp_path / "run", contents(whole)[name]
    shutil.copytree(whole[0], folder)
    counts = {f"{what} {call}": 0 for call in ("load", "resume") for what in ("done:", "refused:")}
    for place, value in cases:
        shutil.rmtree(folder)
        new = changed({"": content}, ("", *place), value)[""]
        if name == "manifest.json":
            forge(whole[0], folder, new)
        else:
            shutil.copytree(whole[0], folder)
            sign(folder / name, new)
        for kind, call in (("load", infer.load), ("resume", take_up)):
            try:
                draws = call(folder)
                repr(draws), draws.summary()
                counts[f"done: {kind}"] += 1
            except StorageError:
                counts[f"refused: {kind}"] += 1
            except Exception as error:
                raise AssertionError(f"{name}: {place} = {value!r}: {kind}") from error
    return counts


def contents(whole):
    """What manifest and records hold, of the run or of another one that has more to record."""
    look = {"draws": 100, "findings": [asdict(Finding("ESS(5)", True, "ESS 9", 9.0, "mu", 0, 1.0))]}
    return {
        "manifest.json": content_of(whole[0] / "manifest.json"),
        "record-target.json": content_of(whole[0] / "record-target.json"),
        "record-timings.json": content_of(whole[0] / "record-timings.json"),
        "record-init.json": content_of(whole[0] / "record-init.json"),
        "record-extended.json": 300,
        "record-cap.json": 400,
        "record-notices.json": [asdict(Notice("info", "code", "message", "remedy")) | {"sites": ["mu"]}],
        "record-lost_chains.json": [{"chains": [1], "draw": 3, "error": "SamplingError: it was lost"}],
        "record-seams.json": [{"at": {"0": 3}, "versions": {"jax": "1.0"}}],
        "record-stopping.json": {
            "rule": (infer.ESS(5) & infer.RHat(2.0)).described(),
            "held": True,
            "draws": 300,
            "chains": [0, 1],
            "looks": [look],
            "is_by_clock": False,
        },
    }


FILES = (
    "manifest.json",
    *(
        f"record-{name}.json"
        for name in (
            "target",
            "timings",
            "init",
            "extended",
            "cap",
            "notices",
            "lost_chains",
            "seams",
            "stopping",
        )
    ),
)


def cases_of(whole, name):
    """Every value at every key."""
    places = [(), *places_in(contents(whole)[name])]
    return [(place, value) for place in places for value in (*VALUES, ...) if place or value is not ...]


@pytest.mark.parametrize("name", FILES)
def test_some_values_at_some_keys_are_read_or_refused(whole, tmp_path, name):
    cases = cases_of(whole, name)
    some = np.random.default_rng(8).choice(len(cases), 8 if name == "manifest.json" else 2, replace=False)
    attack(whole, tmp_path, name, [cases[i] for i in some])


NUM_PARTS = {"manifest.json": 20}
"""Numbers of tests for files with more values than one of two minutes can try."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name in FILES for part in range(NUM_PARTS.get(name, 1))]
)
def test_any_value_at_any_key_is_read_or_refused(whole, tmp_path, name, part):
    cases = cases_of(whole, name)[part :: NUM_PARTS.get(name, 1)]
    print(f"{name}: {len(cases)} folders: {json.dumps(attack(whole, tmp_path, name, cases))}")


def test_a_tuning_in_an_unknown_alphabet_is_not_read(whole, tmp_path):
    change = end_with("tuning.metric_reason", np.array([255], np.uint8))
    with pytest.raises(StorageError, match="'metric_reason' is no text"):
        infer.load(forge(whole[0], tmp_path / "run", change=change))


def test_a_tuning_that_no_run_has_is_refused(whole, tmp_path):
    content = content_of(whole[0] / "manifest.json")
    for odd in (content["tuning"][0], {"name": "num_warmup", "dtype": "int64", "shape": []}):
        with pytest.raises(StorageError, match=r"'tuning' in manifest\.json"):
            infer.load(
                forge(whole[0], tmp_path / odd["name"], content | {"tuning": [*content["tuning"], odd]})
            )


@pytest.mark.parametrize(
    "change", [lambda stats: [], lambda stats: stats[1:], lambda stats: stats + stats[:1]]
)
def test_statistics_that_no_run_has_are_refused(whole, tmp_path, change):
    content = content_of(whole[0] / "manifest.json")
    content["statistics"] = change(content["statistics"])
    with pytest.raises(StorageError, match=r"'statistics' in manifest\.json"):
        infer.load(forge(whole[0], tmp_path / "run", content))


def test_a_segment_says_what_it_holds_without_being_read(whole):
    (first, *_) = RunFolder(whole[0]).load().segments(0)
    assert kinds_of(first.end_state)["fitted.metric.scale"] == (np.dtype(float), (4,))
    assert kinds_of({"x": np.zeros(3)}) == {"x": (np.dtype(float), (3,))}
