"""Stop a run at every operation on its files, damage what it wrote, and fill its disk."""

import errno
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from fault_models import (
    QUIET,
    Child,
    assert_same,
    finish,
    sample,
    target,
)
from forged import flip_bits

from accord import infer
from accord.core.errors import StorageError
from accord.storage import RunFolder
from accord.storage import files as files_module

OPTIONS = dict(draws=600, warmup=100, chains=2, seed=2, **QUIET)


@pytest.fixture(scope="module")
def expected():
    return sample(target(), **OPTIONS)


class Disk:
    """Stands between `storage.files` and the system: writes down every operation, or refuses one."""

    def __init__(self, patch: pytest.MonkeyPatch, refused: int = 0, *, is_full_for_good: bool = False):
        self.log: list[tuple] = []
        self.num_writes = 0
        self._refused, self._for_good = refused, is_full_for_good
        self._system = {name: getattr(os, name) for name in ("open", "fsync", "replace", "link")}
        self._names: dict[int, Path] = {}
        for name in self._system:
            patch.setattr(files_module.os, name, getattr(self, name))
        patch.setattr(files_module, "open", self.file, raising=False)
        mkdir, unlink = Path.mkdir, Path.unlink
        patch.setattr(
            Path, "mkdir", lambda path, *a, **k: (self.log.append(("mkdir", path)), mkdir(path, *a, **k))[1]
        )

        def logged_unlink(path, missing_ok=False):
            if path.exists():
                self.log.append(("unlink", path))
            unlink(path, missing_ok=missing_ok)

        patch.setattr(Path, "unlink", logged_unlink)

    def open(self, path, flags, *mode, **rest):
        descriptor = self._system["open"](path, flags, *mode, **rest)
        self._names[descriptor] = Path(path)
        if flags & os.O_CREAT:
            self.log.append(("create", Path(path)))
        return descriptor

    def file(self, descriptor, mode):
        return _File(open(descriptor, mode), self, self._names[descriptor])

    def fsync(self, descriptor):
        path = self._names[descriptor]
        self.log.append(("flush folder" if path.is_dir() else "flush", path))
        self._system["fsync"](descriptor)

    def replace(self, source, destination):
        self.log.append(("rename", Path(source), Path(destination)))
        self._system["replace"](source, destination)

    def link(self, source, destination):
        self._system["link"](source, destination)
        self.log.append(("link", Path(source), Path(destination)))

    def write(self, file, path, data):
        self.num_writes += 1
        if self.num_writes == self._refused or (self._for_good and 0 < self._refused <= self.num_writes):
            file.write(data[: len(data) // 2])
            file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")
        self.log.append(("write", path, bytes(data)))
        file.write(data)


class _File:
    def __init__(self, file, disk, path):
        self._file, self._disk, self._path = file, disk, path

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self._disk.write(self._file, self._path, data)


# The commit protocol


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Every operation on files of one run, with paths as in its folder, and that folder."""
    folder = tmp_path_factory.mktemp("log") / "run"
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch)
        sample(target(), store=RunFolder(folder), executor=infer.Serial(), **OPTIONS)
    own = [
        (op[0], *(_moved(part, folder) for part in op[1:])) for op in disk.log if folder in _ancestry(op[1])
    ]
    return own, folder


def _ancestry(path):
    return [path, *path.parents]


def _moved(part, folder):
    return part.relative_to(folder) if isinstance(part, Path) else part


def replay(log, folder, *, loses_unflushed: bool) -> None:
    """Do the operations again in another folder; a power cut after them takes what was not flushed to the disk."""
    contents: dict[Path, bytes] = {}
    flushed: set[Path] = set()
    renames: list[tuple[Path, Path, bytes | None]] = []  # not yet flushed, with what was there before
    for op, path, *rest in log:
        if op == "mkdir":
            (folder / path).mkdir(exist_ok=True)
        elif op == "create":
            contents[path] = b""
        elif op == "write":
            contents[path] += rest[0]
        elif op == "flush":
            flushed.add(path)
        elif op == "rename":
            renames.append((path, rest[0], contents.get(rest[0])))
            contents[rest[0]] = contents.pop(path)
            flushed.add(rest[0]) if path in flushed else flushed.discard(rest[0])
        elif op == "link":
            renames.append((path, rest[0], contents.get(rest[0])))
            contents[rest[0]] = contents[path]
            flushed.add(rest[0]) if path in flushed else flushed.discard(rest[0])
        elif op == "unlink":
            contents.pop(path, None)
        elif op == "flush folder":
            renames = [each for each in renames if each[1].parent != path]
    if loses_unflushed:
        for source, destination, before in reversed(renames):
            contents[source] = contents.pop(destination)
            if before is not None:
                contents[destination] = before
            flushed.add(source)
        contents |= {path: data[: len(data) // 2] for path, data in contents.items() if path not in flushed}
    for path, data in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


@pytest.mark.parametrize("loses_unflushed", [False, True], ids=["process dies", "power fails"])
def test_every_prefix_of_the_operations_of_a_run_loads(log, tmp_path, expected, loses_unflushed):
    operations, _ = log
    assert 40 < len(operations) < 120
    counts = []
    for number in range(len(operations) + 1):
        folder = tmp_path / str(number)
        replay(operations[:number], folder, loses_unflushed=loses_unflushed) if number else None
        if not (folder / "manifest.json").exists():
            with pytest.raises(StorageError):
                RunFolder(folder).load()
        else:
            counts.append(assert_beginning(folder, expected))
        if number % 12 == 5:  # all could go on; some are seen to
            assert_same(finish(folder, target(), OPTIONS), expected)
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == 2 * 600


def assert_beginning(folder, expected, *, problems: bool = False) -> int:
    """What loads is a beginning of each chain; how many draws that are."""
    run = RunFolder(folder).load()
    assert problems or not run.problems
    total = 0
    for row, chain in enumerate(expected.chains):
        parts = [segment.arrays["site/x"] for segment in run.segments(chain) if segment.phase == "sample"]
        rows = np.concatenate([np.zeros((0, 3)), *parts])
        np.testing.assert_array_equal(rows, expected["x"][row, : len(rows)])
        total += len(rows)
    return total


# Damage


@pytest.mark.slow
def test_none_of_1000_flipped_bits_is_loaded(log, tmp_path, expected):
    def beginning(folder):
        return assert_beginning(folder, expected, problems=True)

    print(f"1000 flips: {flip_bits(1000, log[1], tmp_path / 'run', beginning)}")
    assert_same(infer.load(tmp_path / "run"), expected)


def test_no_file_of_a_run_cut_anywhere_is_loaded_wrong(log, tmp_path, expected):
    copy = tmp_path / "run"
    shutil.copytree(log[1], copy)
    rng = np.random.default_rng(6)
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for size in [0, 1, len(data) - 1, *rng.integers(0, len(data), 5)]:
            path.write_bytes(data[:size])
            try:
                assert_beginning(copy, expected, problems=True)
            except StorageError:
                assert path.name == "manifest.json"
        path.write_bytes(data)
    assert_same(infer.load(copy), expected)


# A full disk


@pytest.mark.parametrize(
    "is_full_for_good",
    [pytest.param(True, id="full for good"), pytest.param(False, id="full once", marks=pytest.mark.slow)],
)
def test_a_disk_that_is_full_at_any_write_loses_nothing(tmp_path, monkeypatch, expected, is_full_for_good):
    """Writes: the manifest, the numbers in the code, the fingerprint, the segments, what was found.

    The first three come before any draw.
    """
    num_writes, refused_late = 1, 0
    for number in range(1, 51):
        folder = tmp_path / str(number)
        with monkeypatch.context() as patch:
            disk = Disk(patch, number, is_full_for_good=is_full_for_good)
            if number <= 3:
                with pytest.raises(StorageError, match="No space left"):
                    sample(target(), store=RunFolder(folder), executor=infer.Serial(), **OPTIONS)
                draws = None
            else:
                draws = sample(target(), store=RunFolder(folder), executor=infer.Serial(), **OPTIONS)
            num_writes = disk.num_writes
        if draws is not None and num_writes >= number:
            refused_late += 1
            (notice,) = [notice for notice in draws.notices if notice.code == "not_stored"]
            assert notice.severity == "error" and "No space left" in notice.message
            stored = assert_beginning(folder, expected)
            assert draws.num_draws >= infer.load(folder).num_draws
            for name, array in draws.sites.items():
                np.testing.assert_array_equal(array, expected[name][:, : draws.num_draws])
            assert stored <= 2 * 600
        if number % 4 == 0 or number <= 2:  # with room again
            assert_same(finish(folder, target(), OPTIONS), expected)
        if num_writes < number:
            assert_same(draws, expected)
            break
    assert refused_late >= 8


def test_what_could_not_be_stored_is_in_the_draws(tmp_path, monkeypatch, expected):
    """The last segment of the last chain is refused: every draw is returned all the same."""
    with monkeypatch.context() as patch:
        disk = Disk(patch)
        sample(target(), store=RunFolder(tmp_path / "whole"), executor=infer.Serial(), **OPTIONS)
    written = [path for word, path, *_ in disk.log if word == "write"]
    last = max(number for number, path in enumerate(written, 1) if "chain" in str(path.relative_to(tmp_path)))
    with monkeypatch.context() as patch:
        Disk(patch, last, is_full_for_good=True)
        draws = sample(target(), store=RunFolder(tmp_path / "run"), executor=infer.Serial(), **OPTIONS)
    assert draws.num_draws == 600
    np.testing.assert_array_equal(draws["x"], expected["x"])
    assert infer.load(tmp_path / "run").num_draws < 600


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits on the size of files")
def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path, expected):
    options = OPTIONS | dict(chains=1)
    child = Child.start("off", sample_within, tmp_path / "run", options, 30_000)
    word, _, result = child.hear()
    assert (word, child.end()) == ("done", 0), result
    codes, positions = result
    assert codes[0] == "not_stored"
    assert len(positions[0]) > 0
    np.testing.assert_array_equal(positions[0], expected["x"][0, : positions.shape[1]])
    again = finish(tmp_path / "run", target(), options)
    np.testing.assert_array_equal(again["x"][0], expected["x"][0])


def sample_within(folder, options, size):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    draws = sample(target(), store=RunFolder(folder), **options)
    return [notice.code for notice in draws.notices], draws["x"]
