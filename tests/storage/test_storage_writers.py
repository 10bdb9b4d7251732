"""Check that a run folder lets in one writer at a time, whoever else tries."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accord.core.errors import StorageError
from accord.storage import RunFolder
from accord.storage import files as files_module
from accord.storage.lock import NAME

FIELDS = {
    "model": "eight_schools",
    "target": {},
    "sampler": {"name": "NUTS"},
    "seed": 0,
    "precision": "float64",
    "lanes": 1,
    "chains": [0],
    "draws": 10,
    "warmup": 10,
    "thinning": 1,
}
WRITER = """
import json, sys, time
from accord.core.errors import StorageError
from accord.storage import Manifest, RunFolder
fields = json.loads(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    act, path, at = json.loads(line)
    if act == "close":
        if run is not None:
            run.close()
        print(json.dumps(None), flush=True)
        continue
    while time.time() < at:  # both of a pair at once
        pass
    try:
        run = RunFolder(path).create(Manifest.new(fields)) if act == "create" else RunFolder(path).reopen()
        if act == "create":
            run.record("timings", {})
        said = "writer"
    except StorageError as error:
        run, said = None, str(error)
    print(json.dumps(said), flush=True)
"""


class Writer:
    """A process that opens folders to write when it is told to."""

    def __init__(self, fields: dict[str, object]):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, json.dumps(fields)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, act: str, path: Path, at: float = 0.0) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([act, str(path), at]) + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture(scope="module")
def pair():
    """Two processes."""
    writers = [Writer(FIELDS), Writer(FIELDS)]
    for writer in writers:
        writer.ready()
    yield writers
    for writer in writers:
        writer.end()


def compete(pair, act, path, at):
    for writer in pair:
        writer.tell(act, path, at)
    said = [writer.hear() for writer in pair]
    for writer in pair:
        writer.tell("close", path)
        writer.hear()
    return said


def check_pairs(pair, tmp_path, count):
    """Let two processes make a folder at once, and then take it up at once, again and again."""
    told = Counter()
    for number in range(count):
        path = tmp_path / str(number)
        for act in ("create", "reopen"):
            said = compete(pair, act, path, time.time() + 0.02)
            (refusal,) = [each for each in said if each != "writer"]
            told[act, "there is a run" if "already holds" in refusal else "being written"] += 1
            assert "already holds a run" in refusal or "is being written by process" in refusal, refusal
            assert not (path / NAME).exists()
        assert RunFolder(path).load().problems == []
    print(f"{count} pairs: {dict(told)}")


def test_of_two_processes_one_is_the_writer(pair, tmp_path):
    check_pairs(pair, tmp_path, 2)


@pytest.mark.slow
def test_of_two_processes_one_is_the_writer_in_50_pairs(pair, tmp_path):
    check_pairs(pair, tmp_path, 50)


def test_of_many_threads_one_is_the_writer(tmp_path, manifest):
    for number in range(10):
        folder, barrier = RunFolder(tmp_path / str(number)), threading.Barrier(4)

        def begin(_, folder=folder, barrier=barrier):
            barrier.wait()
            try:
                return folder.create(manifest)
            except StorageError as error:
                return str(error)

        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(begin, range(4)))
        refusals = [each for each in found if isinstance(each, str)]
        assert len(refusals) == 3
        assert all("already holds a run" in each or "by this process" in each for each in refusals), refusals


def test_a_writer_that_is_killed_lets_the_next_one_in(tmp_path):
    folder, writer = RunFolder(tmp_path / "run"), Writer(FIELDS)
    writer.ready()
    writer.tell("create", tmp_path / "run")
    assert writer.hear() == "writer"
    with pytest.raises(StorageError, match=rf"by process {writer.process.pid} on .*infer\.load reads"):
        folder.reopen()
    assert folder.load().manifest["seed"] == FIELDS["seed"]  # to read is always possible
    writer.end()
    assert (tmp_path / "run" / NAME).exists()
    run = folder.reopen()
    with pytest.raises(StorageError, match=r"by this process"):
        folder.reopen()
    run.close()
    assert not (tmp_path / "run" / NAME).exists()
    folder.reopen().close()


def test_a_run_that_is_forgotten_lets_the_next_one_in(tmp_path, manifest):
    folder = RunFolder(tmp_path / "run")
    folder.create(manifest).record("timings", {})
    folder.reopen()


def refuse_with(number):
    def refuse(*args, **options):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
@pytest.mark.parametrize("has_links", [True, False], ids=["links", "no links"])
def test_without_locks_nothing_is_overwritten(tmp_path, manifest, make_segment, monkeypatch, has_links):
    import fcntl

    monkeypatch.setattr(fcntl, "flock", refuse_with(errno.ENOLCK))
    if not has_links:
        monkeypatch.setattr(files_module.os, "link", refuse_with(errno.EPERM))
    folder = RunFolder(tmp_path / "run")
    first = folder.create(manifest)
    with pytest.raises(StorageError, match="already holds a run"):
        folder.create(manifest)
    second = folder.reopen()
    first.append(make_segment(0, 0, 3))
    kept = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.npz")}
    with pytest.raises(StorageError, match="another process is writing"):
        second.append(make_segment(0, 0, 4))
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.npz")} == kept


def make_pipe(path):
    os.mkfifo(path)


def make_link(path):
    path.symlink_to("/etc/hostname")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
@pytest.mark.parametrize("make", [make_pipe, make_link, Path.mkdir], ids=["a pipe", "a link", "a folder"])
def test_what_is_in_place_of_the_lock_is_refused(tmp_path, manifest, make):
    folder = RunFolder(tmp_path / "run")
    run = folder.create(manifest)
    run.record("timings", {})
    run.close()
    make(tmp_path / "run" / NAME)
    with pytest.raises(StorageError, match=r"writer\.lock"):
        folder.reopen()


def test_a_folder_that_became_read_only_is_one_error(tmp_path, manifest, make_segment, monkeypatch):
    folder = RunFolder(tmp_path / "run")
    run = folder.create(manifest)
    run.append(make_segment(0, 0, 3))
    with monkeypatch.context() as patch:
        patch.setattr(files_module.os, "open", refuse_with(errno.EROFS))
        patch.setattr(Path, "unlink", refuse_with(errno.EROFS))
        for write in (lambda: run.append(make_segment(0, 3, 6)), lambda: run.record("timings", {})):
            with pytest.raises(StorageError, match=r"cannot write .*Read-only file system"):
                write()
        with pytest.raises(StorageError, match=r"Read-only file system"):
            RunFolder(tmp_path / "other").create(manifest)
    run.close()
    monkeypatch.setattr(os, "access", lambda *args: False)
    run = folder.reopen()
    assert run.stored(0)["sample"] == 3
    with pytest.raises(StorageError, match="cannot be written"):
        run.append(make_segment(0, 3, 6))
