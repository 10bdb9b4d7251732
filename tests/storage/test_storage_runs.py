"""Check the contract of runs in every store, and that a folder survives whatever happens to it."""

import os
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.storage import Joined, Manifest, Memory, RunFolder, Segment
from accord.storage import files as files_module

STORES = ["memory", "folder"]


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return Memory() if request.param == "memory" else RunFolder(tmp_path / "run")


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path / "run")


def fill(run, make_segment, chain=0, count=3):
    """Append one segment of warm-up and `count` of three draws."""
    run.append(make_segment(chain, 0, 4, "warmup"))
    for start in range(0, 3 * count, 3):
        run.append(make_segment(chain, start, start + 3))


def same_segment(left: Segment, right: Segment) -> bool:
    fields = ("chain", "phase", "start", "stop")
    return all(getattr(left, name) == getattr(right, name) for name in fields) and all(
        list(a) == list(b)
        and all(x.tobytes() == y.tobytes() for x, y in zip(a.values(), b.values(), strict=True))
        for a, b in ((left.arrays, right.arrays), (left.end_state, right.end_state))
    )


# The contract of every store


def test_segments_come_back_in_order_and_by_chain(store, manifest, make_segment):
    run = store.create(manifest)
    fill(run, make_segment, chain=0)
    fill(run, make_segment, chain=5, count=1)
    assert [(s.phase, s.start, s.stop) for s in run.segments(0)] == [
        ("warmup", 0, 4), ("sample", 0, 3), ("sample", 3, 6), ("sample", 6, 9)
    ]  # fmt: skip
    assert same_segment(run.segments(0)[2], make_segment(0, 3, 6))
    assert same_segment(run.last(5), make_segment(5, 0, 3))
    assert run.stored(0) == {"warmup": 4, "sample": 9}
    assert run.last(1) is None
    assert run.segments(1) == []
    assert run.stored(1) == {"warmup": 0, "sample": 0}
    assert run.problems == []
    assert run.manifest == manifest


def test_a_phase_may_keep_no_draws(store, manifest):
    run = store.create(manifest)
    run.append(Segment(0, "warmup", 0, 500, {}, {"step": np.array(0.1)}))
    joined = Joined([run.segments(0)], "warmup", {"position": ("position", (2,), "float64")})
    assert joined["position"].shape == (1, 0, 2)
    assert run.stored(0)["warmup"] == 500


def test_what_was_appended_cannot_be_changed(store, manifest):
    run = store.create(manifest)
    draws = np.zeros(2)
    run.append(Segment(0, "sample", 0, 2, {"site/x": draws}))
    draws[:] = 7
    back = run.segments(0)[0].arrays["site/x"]
    assert back.sum() == 0
    with pytest.raises(ValueError, match="read-only"):
        back[0] = 1


def with_field(name: str, value: object) -> Segment:
    """A segment as a program without types may make it: past any check of the constructor's."""
    segment = Segment(0, "sample", 0, 1, {"x": np.zeros(1)})
    object.__setattr__(segment, name, value)
    return segment


WRONG_SEGMENTS = {
    "a gap": (Segment(0, "sample", 3, 4, {"x": np.zeros(1)}), "0 draws are stored"),
    "a chain that is not in the manifest": (
        Segment(2, "sample", 0, 1, {"x": np.zeros(1)}),
        r"chains \[0, 1, 5\]",
    ),
    "an unknown phase": (with_field("phase", "burnin"), "'burnin'"),
    "backwards": (Segment(0, "sample", 0, -1, {}), "not stop before"),
    "too few rows": (Segment(0, "sample", 0, 2, {"x": np.zeros(1)}), r"'x' has shape \(1,\)"),
    "a scalar": (Segment(0, "sample", 0, 1, {"x": np.zeros(())}), "first axis"),
    "objects": (Segment(0, "sample", 0, 1, {"x": np.array([None])}), "dtype object"),
    "text": (Segment(0, "sample", 0, 1, {"x": np.array(["a"])}), "dtype <U1"),
    "a list": (with_field("arrays", {"x": [1.0]}), "got list"),
    "state that is no array": (with_field("end_state", {"key": 3}), "'key' must be"),
}


@pytest.mark.parametrize("kind", WRONG_SEGMENTS)
def test_a_wrong_segment_is_refused_and_leaves_no_trace(store, manifest, kind):
    segment, words = WRONG_SEGMENTS[kind]
    run = store.create(manifest)
    with pytest.raises(StorageError, match=words):
        run.append(segment)
    assert run.segments(0) == []


def test_warm_up_does_not_follow_sampling(store, manifest, make_segment):
    run = store.create(manifest)
    run.append(make_segment(0, 0, 3))
    with pytest.raises(StorageError, match="3 sample draws, so its warmup is over"):
        run.append(make_segment(0, 0, 3, "warmup"))


def test_a_run_has_the_phases_that_its_manifest_names(store, manifest, make_segment):
    run = store.create(Manifest({**manifest, "phases": ["climb", "fit", "rest"]}))
    for start in (0, 3):
        run.append(make_segment(0, start, start + 3, "fit"))
    run.append(make_segment(0, 0, 3, "rest"))
    assert run.stored(0) == {"climb": 0, "fit": 6, "rest": 3} and list(run.stored(0)) == [
        "climb",
        "fit",
        "rest",
    ]
    with pytest.raises(StorageError, match="'climb' or 'fit' or 'rest', got 'sample'"):
        run.append(make_segment(0, 0, 3))
    with pytest.raises(StorageError, match="6 fit draws, so its climb is over"):
        run.append(make_segment(0, 0, 3, "climb"))
    run.cut(0, 0)  # rows of the last phase alone
    assert run.stored(0) == {"climb": 0, "fit": 6, "rest": 0}


def test_a_closed_run_takes_nothing_and_can_be_read(store, manifest, make_segment):
    run = store.create(manifest)
    fill(run, make_segment)
    run.close()
    run.close()
    with pytest.raises(StorageError, match="closed"):
        run.append(make_segment(0, 9, 12))
    assert len(run.segments(0)) == 4


def test_records_are_json_and_the_last_one_counts(store, manifest):
    run = store.create(manifest)
    run.record("measured", {"trace": 0.1})
    run.record("measured", {"trace": np.float32(0.5), "steps": np.arange(2), 3: (1, None, np.nan), 10: 0})
    run.record("notices", [])
    found = run.records
    assert found["notices"] == []
    assert found["measured"]["steps"] == [0, 1]
    assert found["measured"]["3"][:2] == [1, None]
    assert np.isnan(found["measured"]["3"][2])


@pytest.mark.parametrize("name", ["../x", "A", "", "a-b", "a" * 65, "a\n"])
def test_a_record_is_named_by_a_plain_word(store, manifest, name):
    with pytest.raises(StorageError, match="name must be"):
        store.create(manifest).record(name, {})


def test_a_record_that_is_not_json_is_refused(store, manifest):
    with pytest.raises(StorageError, match="JSON"):
        store.create(manifest).record("x", {"a": object()})


def test_a_run_forgets_what_lies_beyond_its_end(store, manifest, make_segment):
    run = store.create(manifest)
    run.append(make_segment(0, 0, 4, "warmup"))
    for start, stop in ((0, 3), (3, 5), (5, 9)):
        run.append(make_segment(0, start, stop))
    run.append(make_segment(5, 0, 3))
    run.cut(0, 9)
    assert run.stored(0) == {"warmup": 4, "sample": 9}
    run.cut(0, 6)
    run.cut(5, 6)
    assert [each.stop for each in run.segments(0)] == [4, 3, 5] and run.last(0).stop == 5
    assert run.stored(0) == {"warmup": 4, "sample": 5} and run.stored(5)["sample"] == 3
    run.append(make_segment(0, 5, 7))
    run.close()
    again = run.reopened()
    assert again.stored(0)["sample"] == 7 and again.problems == []
    again.cut(0, 0)
    assert again.stored(0) == {"warmup": 4, "sample": 0}


def test_threads_append_to_chains_of_their_own(store, make_segment, manifest):
    chains = list(range(8))
    run = store.create(Manifest({**manifest, "chains": chains}))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda chain: fill(run, make_segment, chain, 10), chains))
    again = run if store.location is None else store.load()
    for chain in chains:
        assert again.stored(chain) == {"warmup": 4, "sample": 30}
        assert same_segment(again.last(chain), make_segment(chain, 27, 30))
    assert again.problems == []


# Stores as values


def test_stores_are_values():
    assert Memory() == Memory()
    assert RunFolder("a") == RunFolder("a") != RunFolder("b")
    assert (Memory().location, RunFolder(Path("a")).location) == (None, "a")
    with pytest.raises(AttributeError):
        RunFolder("a").path = "b"


def test_memory_has_nothing_to_load():
    for opened in (Memory().load, Memory().reopen):
        with pytest.raises(StorageError, match="RunFolder"):
            opened()


# The folder


def test_a_loaded_run_goes_on_where_it_was(folder, manifest, make_segment):
    fill(folder.create(manifest), make_segment)
    run = folder.reopen()
    assert run.manifest == manifest
    run.append(make_segment(0, 9, 12))
    assert folder.load().stored(0)["sample"] == 12
    assert folder.load().problems == []


def test_a_run_is_for_its_owner_only(folder, manifest, make_segment):
    fill(folder.create(manifest), make_segment)
    for path in [Path(folder.path), *Path(folder.path).rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_run_is_never_overwritten(folder, manifest):
    folder.create(manifest)
    with pytest.raises(StorageError, match=r"already holds a run.*infer\.load"):
        folder.create(manifest)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path, manifest):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StorageError, match=r"thesis\.tex"):
        RunFolder(tmp_path).create(manifest)
    with pytest.raises(StorageError, match="no run folder"):
        RunFolder(tmp_path).load()
    with pytest.raises(StorageError, match="is a file"):
        RunFolder(tmp_path / "thesis.tex").create(manifest)
    with pytest.raises(StorageError, match="no folder"):
        RunFolder(tmp_path / "absent").load()


def test_what_an_unfinished_creation_left_is_no_obstacle(folder, manifest):
    Path(folder.path).mkdir()
    (Path(folder.path) / f".tmp-1-{'0' * 32}").write_bytes(b"half")
    assert folder.create(manifest).stored(0) == {"warmup": 0, "sample": 0}


def segment_path(folder, index, chain=0):
    return Path(folder.path) / f"chain-{chain:04d}" / f"segment-{index:06d}.npz"


def damage_missing(folder):
    segment_path(folder, 2).unlink()


def damage_flip(folder):
    data = bytearray(segment_path(folder, 2).read_bytes())
    data[len(data) // 2] ^= 1
    segment_path(folder, 2).write_bytes(bytes(data))


def damage_cut(folder):
    data = segment_path(folder, 2).read_bytes()
    segment_path(folder, 2).write_bytes(data[: len(data) // 2])


def damage_empty(folder):
    segment_path(folder, 2).write_bytes(b"")


def damage_other_chain(folder):
    segment_path(folder, 2).write_bytes(segment_path(folder, 2, chain=1).read_bytes())


def damage_swapped(folder):
    segment_path(folder, 2).write_bytes(segment_path(folder, 3).read_bytes())


def damage_folder_in_place(folder):
    segment_path(folder, 2).unlink()
    segment_path(folder, 2).mkdir()


DAMAGES = {
    "missing": damage_missing,
    "flipped": damage_flip,
    "cut": damage_cut,
    "empty": damage_empty,
    "of another chain": damage_other_chain,
    "of another place": damage_swapped,
    "a folder": damage_folder_in_place,
}


@pytest.mark.parametrize("is_mended_first", [False, True], ids=["by the next draws", "first"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_middle_ends_the_chain_and_is_reported_and_mended(
    folder, manifest, make_segment, kind, is_mended_first
):
    run = folder.create(manifest)
    fill(run, make_segment, chain=0)
    fill(run, make_segment, chain=1)
    run.close()
    DAMAGES[kind](folder)
    assert len(run.segments(0)) == 2  # also where the run was whole when it was opened
    run = folder.load()
    assert run.stored(0) == {"warmup": 4, "sample": 3}
    assert [
        same_segment(s, t) for s, t in zip(run.segments(0)[1:], [make_segment(0, 0, 3)], strict=True)
    ] == [True]
    assert len(run.segments(1)) == 4
    assert any("chain 0" in problem and "3 sample draws" in problem for problem in run.problems)
    problems, run = run.problems, folder.reopen()
    assert is_mended_first is False or run.mend() == problems
    for start in (3, 6):
        run.append(make_segment(0, start, start + 3))
    assert run.problems == []
    mended = folder.load()
    assert mended.problems == []
    assert len(mended.segments(0)) == 4
    assert list(segment_path(folder, 0).parent.glob("rejected-*"))  # nothing of the user's is deleted


def test_segments_of_another_run_are_foreign(tmp_path, manifest, make_segment):
    other = Manifest.new({name: manifest[name] for name in manifest if name in MANIFEST_FIELDS})
    stores = RunFolder(tmp_path / "a"), RunFolder(tmp_path / "b")
    for store, own in zip(stores, (manifest, other), strict=True):
        fill(store.create(own), make_segment)
    segment_path(stores[0], 1).write_bytes(segment_path(stores[1], 1).read_bytes())
    run = stores[0].load()
    assert len(run.segments(0)) == 1
    assert "belongs to the run" in run.problems[0]


MANIFEST_FIELDS = (
    "model",
    "target",
    "sampler",
    "seed",
    "precision",
    "lanes",
    "chains",
    "draws",
    "warmup",
    "thinning",
)


def test_a_run_that_was_opened_to_be_read_is_not_written(folder, manifest, make_segment):
    fill(folder.create(manifest), make_segment)
    run = folder.load()
    for write in (
        lambda: run.append(make_segment(0, 9, 12)),
        lambda: run.record("timings", {}),
        lambda: run.cut(0, 0),
    ):
        with pytest.raises(StorageError, match="cannot be written"):
            write()
    assert run.mend() == []  # there is nothing to do


def test_a_changed_manifest_is_not_believed(folder, manifest):
    folder.create(manifest)
    path = Path(folder.path) / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(StorageError, match="changed after it was written"):
        folder.load()


def test_no_damaged_manifest_is_believed_or_crashes(folder, manifest):
    folder.create(manifest)
    path = Path(folder.path) / "manifest.json"
    text = path.read_bytes()
    rng = np.random.default_rng(2)
    for bit in rng.choice(8 * len(text), 100, replace=False):
        flipped = bytearray(text)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(bytes(flipped))
        try:
            assert folder.load().manifest == manifest
        except StorageError:
            continue
    for size in range(0, len(text) - 2, 7):
        path.write_bytes(text[:size])
        with pytest.raises(StorageError):
            folder.load()


def test_a_damaged_record_is_left_out_and_reported(folder, manifest):
    run = folder.create(manifest)
    run.record("timings", {"trace": 0.5})
    run.record("notices", None)
    path = Path(folder.path) / "record-timings.json"
    path.write_text(path.read_text().replace("0.5", "0.6"))
    run.close()
    run = folder.reopen()
    assert run.records == {"notices": None}
    assert "timings" in run.problems[0] and list(run.damaged_records) == ["timings"]
    assert "timings" in run.mend()[0] and run.problems == []
    run.record("timings", {"trace": 0.7})
    assert folder.load().records["timings"] == {"trace": 0.7}
    assert list(Path(folder.path).glob("rejected-record-timings-*.json"))


def test_a_run_is_read_while_another_process_writes_it(folder, manifest, make_segment):
    writer = folder.create(manifest)
    writer.append(make_segment(0, 0, 3))
    reader = folder.load()
    writer.append(make_segment(0, 3, 6))
    assert len(reader.segments(0)) == 1
    assert len(folder.load().segments(0)) == 2


class PowerCut(BaseException):
    """The moment at which a machine stops: nothing runs after it."""


@pytest.fixture
def cut_power_at(monkeypatch):
    """Let the machine stop before the n-th call to the operating system."""

    def cut(number: int) -> None:
        calls = iter(range(10**6))

        def guarded(function):
            def call(*args, **kwargs):
                if next(calls) >= number:
                    raise PowerCut
                return function(*args, **kwargs)

            return call

        for name in ("open", "fsync", "replace", "close"):
            monkeypatch.setattr(files_module.os, name, guarded(getattr(os, name)))
        monkeypatch.setattr(Path, "unlink", guarded(Path.unlink))
        monkeypatch.setattr(Path, "mkdir", guarded(Path.mkdir))

    return cut


def test_every_prefix_of_a_commit_leaves_the_segment_whole_or_absent(
    tmp_path, manifest, make_segment, cut_power_at, monkeypatch
):
    outcomes = []
    for number in range(100):
        folder = RunFolder(tmp_path / str(number))
        run = folder.create(manifest)
        run.append(make_segment(0, 0, 3))
        with monkeypatch.context():
            cut_power_at(number)
            try:
                run.append(make_segment(0, 3, 6))
                finished = True
            except PowerCut:
                finished = False
            monkeypatch.undo()
        dead = RunFolder(shutil.copytree(folder.path, tmp_path / f"{number}, dead"))
        after = dead.reopen()
        assert after.problems == []
        outcomes.append(after.stored(0)["sample"])
        if outcomes[-1] == 3:
            after.append(make_segment(0, 3, 6))
        assert same_segment(dead.load().last(0), make_segment(0, 3, 6))
        if not finished:  # an interrupt, not a death: the writer tries again
            run.append(make_segment(0, 3, 6))
        assert run.stored(0)["sample"] == 6
        assert same_segment(folder.load().last(0), make_segment(0, 3, 6))
        run.close()
        if finished:
            break
    assert finished
    assert len(outcomes) > 5
    assert outcomes == sorted(outcomes)


def test_every_prefix_of_a_creation_can_be_begun_again(tmp_path, manifest, cut_power_at, monkeypatch):
    for number in range(100):
        folder = RunFolder(tmp_path / str(number))
        cut_power_at(number)
        try:
            run = folder.create(manifest)
            finished = True
        except PowerCut:
            finished = False
        monkeypatch.undo()
        if finished:
            run.record("timings", {})
            run.close()
        if (Path(folder.path) / "manifest.json").exists():
            assert folder.load().manifest == manifest
        else:
            folder.create(manifest)
        if finished:
            break
    assert finished


def test_a_full_disk_is_an_error_that_keeps_what_was_there(folder, manifest, make_segment, monkeypatch):
    run = folder.create(manifest)
    run.append(make_segment(0, 0, 3))

    def refuse(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files_module.os, "fsync", refuse)
        with pytest.raises(StorageError, match=r"No space left.*safe"):
            run.append(make_segment(0, 3, 6))
    assert len(run.segments(0)) == 1
    assert not [path for path in segment_path(folder, 0).parent.iterdir() if path.name.startswith(".tmp")]
    run.append(make_segment(0, 3, 6))
    assert folder.load().stored(0)["sample"] == 6


WRITER = """
import sys
import numpy as np
from accord.storage import RunFolder, Segment
run = RunFolder(sys.argv[1]).reopen()
for start in range(10**6):
    draws = {"site/x": np.full((1, 1000), float(start))}
    run.append(Segment(0, "sample", start, start + 1, draws, {"at": np.array(start)}))
    if start == 3:
        print("at work", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_writer_leaves_every_finished_segment(folder, manifest):
    run = folder.create(manifest)
    run.record("timings", {})
    run.close()
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder.path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        time.sleep(0.2)
        process.kill()
        process.wait()
    run = folder.load()
    draws = np.concatenate([segment.arrays["site/x"][:, 0] for segment in run.segments(0)])
    assert run.problems == []
    assert len(draws) > 0
    np.testing.assert_array_equal(draws, np.arange(len(draws)))
    assert run.last(0).end_state["at"] == draws[-1]
