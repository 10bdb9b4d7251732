"""Check draws that are read from their segments when they are asked for."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from accord.core.errors import StorageError
from accord.core.series import InMemory
from accord.storage import Joined, Memory, RunFolder, Segment, joined, members

NAMES = {
    "theta": ("site/theta", (2, 2), "float32"),
    "n": ("site/n in [a/b]", (), "int64"),
    "position": ("position", (2,), "float64"),
}


@pytest.fixture(params=["memory", "folder"])
def run(request, tmp_path, manifest, make_segment):
    """Chain 0 has nine draws of sampling, chain 5 four."""
    run = (Memory() if request.param == "memory" else RunFolder(tmp_path / "run")).create(manifest)
    for chain, stops in ((0, (3, 6, 9)), (5, (3, 4))):
        run.append(make_segment(chain, 0, 4, "warmup"))
        for start, stop in zip((0, *stops), stops, strict=False):
            run.append(make_segment(chain, start, stop))
    return run


def expected(make_segment, stored):
    of = {0: [(0, 3), (3, 6)], 5: [(0, 3), (3, 4)]}
    chains = [np.concatenate([make_segment(c, *part).arrays[stored] for part in of[c]])[:4] for c in of]
    return np.stack(chains)


def test_chains_are_joined_and_cut_to_the_shortest(run, make_segment):
    found = Joined([run.segments(0), run.segments(5)], "sample", NAMES)
    assert list(found) == list(NAMES)
    for name, (stored, shape, dtype) in NAMES.items():
        whole = expected(make_segment, stored)
        assert found.shape(name) == (2, 4, *shape)
        assert found[name].dtype == dtype
        np.testing.assert_array_equal(found[name], whole)
        assert found[name] is found[name]
        np.testing.assert_array_equal(np.concatenate(list(found.pieces(name))), np.concatenate(list(whole)))
    with pytest.raises(ValueError, match="read-only"):
        found["n"][0, 0] = 1


def test_some_scalars_are_those_of_the_whole(run):
    found = Joined([run.segments(0), run.segments(5)], "sample", NAMES)
    at_hand = InMemory({name: found[name] for name in found})
    for scalars in ([3, 1], [0, 1, 2, 3], [0, 1, 2, 2]):
        columns = found.columns("theta", np.array(scalars))
        np.testing.assert_array_equal(columns, found["theta"].reshape(2, 4, 4)[:, :, scalars])
        np.testing.assert_array_equal(columns, at_hand.columns("theta", np.array(scalars)))


def test_warm_up_is_another_phase_and_a_chain_without_draws_leaves_none(run, make_segment):
    assert Joined([run.segments(0)], "warmup", NAMES)["n"].shape == (1, 4)
    assert Joined([run.segments(0), run.segments(1)], "sample", NAMES)["theta"].shape == (2, 0, 2, 2)


def test_segments_of_another_model_are_refused():
    parts = [Segment(0, "sample", 0, 1, {"x": np.zeros(1)}), Segment(0, "sample", 1, 2, {"y": np.zeros(1)})]
    with pytest.raises(StorageError, match=r"draws 1 to 2 hold no 'x'.*another model"):
        Joined([parts], "sample", {"x": ("x", (), "float64")})


def test_what_was_read_last_is_kept_within_a_bound(run, monkeypatch):
    monkeypatch.setattr(joined, "KEPT_BYTES", 200)  # theta takes 128 bytes, n 64, position 128
    found = Joined([run.segments(0), run.segments(5)], "sample", NAMES)
    theta = found["theta"]
    assert found["n"] is not None and found["theta"] is theta
    assert found["position"] is found["position"]
    assert found["theta"] is not theta


def test_it_pickles_and_serves_threads(run):
    found = Joined([run.segments(0), run.segments(5)], "sample", NAMES)
    copy = pickle.loads(pickle.dumps(found))
    with ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(lambda _: copy["theta"], range(64)))
    assert all(np.array_equal(array, found["theta"]) for array in arrays)


@pytest.mark.parametrize("change", ["flip", "cut", "remove"])
def test_a_file_that_changed_since_it_was_opened_is_never_read_wrong(
    tmp_path, manifest, make_segment, change
):
    run = RunFolder(tmp_path / "run").create(manifest)
    run.append(make_segment(0, 0, 3))
    found = Joined([run.segments(0)], "sample", NAMES)
    (path,) = (tmp_path / "run").rglob("segment-*.npz")
    data = path.read_bytes()
    place = data.index(make_segment(0, 0, 3).arrays["site/theta"].tobytes())
    if change == "remove":
        os.remove(path)
    else:
        path.write_bytes(
            data[: place + 7]
            + (bytes([data[place + 7] ^ 4]) + data[place + 8 :] if change == "flip" else b"")
        )
    with pytest.raises(StorageError, match=r"cannot be read|was changed since"):
        found["theta"]


def test_arrays_of_a_segment_on_disk_are_read_alone(tmp_path, manifest, make_segment, monkeypatch):
    run = RunFolder(tmp_path / "run").create(manifest)
    run.append(make_segment(0, 0, 3))
    (segment,) = run.segments(0)
    read = []
    arrays_in = members.arrays_in
    monkeypatch.setattr(
        members, "arrays_in", lambda data, member: read.append(member) or arrays_in(data, member)
    )
    assert list(segment.arrays) == list(make_segment().arrays)
    assert not read
    np.testing.assert_array_equal(segment.arrays["position"], make_segment(0, 0, 3).arrays["position"])
    assert segment.end_state["draw"] == 3
    assert [member.count for member in read] == [1, 2]
