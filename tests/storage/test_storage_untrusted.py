"""Read run folders that were made by hand: whatever is in them, one kind of error, and no waiting."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from json_edits import VALUES, changed, places_in

from accord.core.errors import StorageError
from accord.storage import RunFolder
from accord.storage.manifest import to_json

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes or devices in folders")


@pytest.fixture
def folder(tmp_path, manifest, make_segment):
    """Two chains of two segments, and a record."""
    folder = RunFolder(tmp_path / "run")
    run = folder.create(manifest)
    for chain in (0, 1):
        run.append(make_segment(chain, 0, 3))
        run.append(make_segment(chain, 3, 6))
    run.record("timings", {"trace": 1.0})
    run.close()
    return folder


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def link_to_itself(path):
    path.symlink_to(path.name)


def link_out(path):
    """To a good file, elsewhere."""
    outside = path.parent.parent / f"outside-{path.name}"
    shutil.move(f"{path}.good", outside)
    path.symlink_to(outside)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(2**40)


def sparse_behind(path):
    """A good file, with a terabyte of nothing behind it."""
    shutil.move(f"{path}.good", path)
    with open(path, "ab") as file:
        file.truncate(2**40)


def sparse_of_14_gigabytes(path):
    with open(path, "wb") as file:
        file.truncate(14 * 2**30)


def folder_there(path):
    path.mkdir()


def socket(path):
    import socket as sockets

    with sockets.socket(sockets.AF_UNIX) as made:
        try:
            made.bind(str(path))
        except OSError:  # paths of sockets are short
            path.mkdir()


KINDS = (
    pipe,
    device,
    link_to_itself,
    link_out,
    sparse,
    sparse_behind,
    sparse_of_14_gigabytes,
    folder_there,
    socket,
)
PLACES = {
    "manifest": "manifest.json",
    "record": "record-timings.json",
    "segment": "chain-0000/segment-000001.npz",
    "chain": "chain-0000",
}


def put(kind, path):
    """Put something else in place of a file, or of a chain's folder."""
    shutil.move(path, f"{path}.good")
    kind(path)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        pytest.param(kind, place, id=f"{kind.__name__}-{place}")
        for kind in KINDS
        for place in PLACES
        # The first is an empty chain, the second has no good file.
        if place != "chain" or kind not in (folder_there, sparse_behind)
    ],
)
def test_only_regular_files_of_the_folder_itself_are_read(folder, place, kind):
    path = Path(folder.path) / PLACES[place]
    put(kind, path)
    if place == "manifest":
        with pytest.raises(StorageError, match=r"manifest\.json"):
            folder.load()
        return
    run = folder.load()
    problems = run.problems
    assert any(str(path) in problem for problem in problems), problems
    assert len(run.segments(1)) == 2
    assert len(run.segments(0)) == {"record": 2, "segment": 1, "chain": 0}[place]
    writer = folder.reopen()
    assert writer.mend() == problems and writer.problems == []
    writer.close()
    assert folder.load().problems == []


def test_a_file_that_becomes_a_pipe_after_it_was_opened_is_refused(folder):
    run = folder.load()
    segment = run.segments(0)[1]
    path = Path(folder.path) / PLACES["segment"]
    path.unlink()
    os.mkfifo(path)
    for read in (lambda: segment.arrays["position"], lambda: run.last(0)):
        with pytest.raises(StorageError, match="is a pipe"):
            read()
    assert len(run.segments(0)) == 1


def sign(path, content):
    """Write JSON as its sha256 says, which proves nothing of who wrote it."""
    text = to_json(content)
    path.write_text(f'{{"sha256": "{hashlib.sha256(text.encode()).hexdigest()}", "content": {text}}}')


def test_a_manifest_of_any_types_is_read_or_refused(folder):
    path = Path(folder.path) / PLACES["manifest"]
    for chain in Path(folder.path).glob("chain-*"):
        shutil.rmtree(chain)
    content = json.loads(path.read_text())["content"]
    places = list(places_in(content))
    refusals = []
    for place in places:
        for value in (*VALUES, ...):
            sign(path, changed(content, place, value))
            try:
                folder.load()
            except StorageError as error:
                refusals.append(str(error))
    assert len(refusals) > 10 * len(places)
    assert all("manifest" in refusal or "in format" in refusal for refusal in refusals)


@pytest.mark.parametrize(
    "text", ["", "[]", "0", "null", "{}", '{"content": {}}', "[" * 10**5, '{"sha256": 1, "content": 2}']
)
def test_a_manifest_that_is_no_envelope_is_refused(folder, text):
    (Path(folder.path) / PLACES["manifest"]).write_text(text)
    with pytest.raises(StorageError, match=r"manifest\.json"):
        folder.load()


def test_a_key_that_is_there_twice_is_refused(folder):
    path = Path(folder.path) / PLACES["record"]
    path.write_text(path.read_text().replace('"trace": 1.0', '"trace": 2.0, "trace": 1.0'))
    assert "a key is there twice" in folder.load().problems[0]


def test_a_segment_that_claims_to_be_vast_takes_no_memory(folder, make_segment):
    """Its digest fits, and its directory is said to have gigabytes: the file is read a piece at a time."""
    path = Path(folder.path) / PLACES["segment"]
    body = bytearray(path.read_bytes()[:-64])
    place = body.rindex(b"PK\x05\x06")
    body[place + 12 : place + 16] = (2**31).to_bytes(4, "little")
    path.write_bytes(bytes(body) + hashlib.sha256(body).hexdigest().encode())
    assert "is not a segment" in folder.load().problems[0]


def test_arrays_of_a_run_are_checked_without_being_read(folder, monkeypatch):
    from accord.storage import members

    monkeypatch.setattr(members, "arrays_in", lambda *args: pytest.fail("an array was read"))
    run = folder.load()
    assert run.stored(0)["sample"] == 6 and len(run.segments(0)) == 2
    assert np.shape(run.problems) == (0,)
