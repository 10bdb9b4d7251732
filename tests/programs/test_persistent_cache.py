"""Hold what a run does with JAX's persistent cache: whose folder it fills, and what it makes of broken programs."""

import json
import os
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cache_cases
import numcodecs
import numpy as np
import pytest

from accord.programs.cache import SWITCH, is_whole, remove_incomplete

WARNING = "Error reading persistent compilation cache entry"  # of JAX
HOUR = 3600 * 10**9  # nanoseconds


@dataclass(frozen=True)
class Process:
    """What a process has printed: `found`, by name, and `told`, what it had to say beside that."""

    found: dict[str, Any]
    told: str


def start(home: Path, *arguments: str, **variables: str) -> subprocess.Popen:
    home.mkdir(exist_ok=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), **variables}
    command = [sys.executable, cache_cases.__file__, *arguments]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(child: subprocess.Popen) -> Process:
    out, told = child.communicate(timeout=300)
    assert child.returncode == 0, told
    return Process(json.loads(out.splitlines()[-1]), told)


def program(folder: Path, name: str) -> Path:
    (path,) = folder.glob(f"{name}-*-cache")
    return path


def cut(path: Path) -> int:
    """Leave half of a file, and return how many bytes that is."""
    size = path.stat().st_size // 2
    os.truncate(path, size)
    return size


def date(path: Path, time: int) -> None:
    """Have a file be written at a time, in nanoseconds."""
    os.utime(path, ns=(time, time))


def last_look(folder: Path) -> int:
    """Up to when a process has looked at what is in a folder: what was written then is new to the next one."""
    return (folder / "checked").stat().st_mtime_ns


@pytest.fixture(scope="module")
def expected() -> list[float]:
    """What any of these processes is to draw."""
    return cache_cases.sample()


# A folder that nobody has chosen


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return home / "cached" / "accord" / "programs"


@pytest.fixture(scope="module")
def at_once(home: Path) -> list[Process]:
    """Two processes that find no programs."""
    children = [start(home, XDG_CACHE_HOME=str(home / "cached")) for _ in range(2)]
    return [finish(child) for child in children]


@pytest.fixture(scope="module")
def after_them(home: Path, at_once: list[Process]) -> Process:
    del at_once
    return finish(start(home, XDG_CACHE_HOME=str(home / "cached")))


@pytest.fixture(scope="module")
def broken(home: Path, folder: Path, after_them: Process) -> tuple[Process, int]:
    """One that finds half of each program, of which one is being written; and the size of this half."""
    del after_them
    advance, sites = program(folder, "jit_advance"), program(folder, "jit_sites")
    cut(advance)
    date(advance, last_look(folder))
    size = cut(sites)
    date(sites, time.time_ns() + HOUR)
    return finish(start(home, XDG_CACHE_HOME=str(home / "cached"))), size


def test_programs_are_kept_in_a_folder_of_the_users_own_however_soon_they_are_compiled(folder, at_once):
    for process in at_once:
        assert process.found["before"][0] is None
        assert process.found["after"] == [str(folder), 0]
        assert process.found["num_asked"] == 2
    assert folder.stat().st_mode & 0o777 == 0o700
    kept = [path.name.partition("-")[0] for path in folder.glob("*-cache")]
    assert sorted(kept) == ["jit_advance", "jit_sites"]


def test_two_processes_that_fill_a_folder_at_once_draw_the_same_and_leave_nothing_to_compile(
    at_once, after_them, expected
):
    for process in (*at_once, after_them):
        assert process.found["draws"] == expected
    assert after_them.found["num_asked"] == after_them.found["num_read"] == 2
    assert WARNING not in after_them.told


def test_a_broken_program_is_made_anew_as_soon_as_nobody_can_still_be_writing_it(
    home, folder, broken, expected
):
    process, size = broken
    advance, sites = program(folder, "jit_advance"), program(folder, "jit_sites")
    assert process.found["draws"] == expected
    assert process.found["num_read"] == 0
    assert process.told.count(WARNING) == 1
    assert f"{WARNING} for 'jit_sites'" in process.told
    assert is_whole(advance.read_bytes())
    assert sites.stat().st_size == size  # JAX writes nothing where something is

    date(sites, last_look(folder))
    process = finish(start(home, XDG_CACHE_HOME=str(home / "cached")))
    assert process.found["draws"] == expected
    assert process.found["num_asked"] == 2
    assert process.found["num_read"] == 1  # what the last process has made
    assert WARNING not in process.told
    assert is_whole(sites.read_bytes())


# A folder that the user has chosen, and none


def test_nothing_is_kept_where_the_cache_is_off_and_a_folder_chosen_later_is_left_alone(tmp_path, expected):
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    found = finish(start(home, str(chosen), **{SWITCH: "off"})).found
    assert found["draws"] == found["again"] == expected
    assert found["after"] == found["before"]
    assert found["after"][0] is None
    assert not list(home.iterdir())
    assert found["chosen"] == found["at the end"] == [str(chosen), found["before"][1]]
    assert not Path(f"{chosen} of accord").exists()


def test_a_folder_and_a_least_time_from_the_environment_are_left_alone(tmp_path, expected):
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    variables = {
        "JAX_COMPILATION_CACHE_DIR": str(chosen),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1000",
    }
    found = finish(start(home, XDG_CACHE_HOME=str(home / "cached"), **variables)).found
    assert found["draws"] == expected
    assert found["after"] == found["before"] == [str(chosen), 1000]
    assert found["num_asked"] == 2
    assert not list(home.iterdir())
    assert not list(chosen.iterdir())


# Programs that were not written to their end

CONTENT = np.random.default_rng(0).bytes(300_000) + bytes(300_000)
FORMATS = {
    "zlib": zlib.compress(CONTENT),
    "Zstandard": bytes(numcodecs.Zstd(level=3).encode(CONTENT)),
    "Zstandard with a checksum": bytes(numcodecs.Zstd(level=3, checksum=True).encode(CONTENT)),
    "Zstandard, small": bytes(numcodecs.Zstd(level=3).encode(b"abc")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_ends_too_early_is_told_from_what_is_whole(name):
    whole = FORMATS[name]
    assert is_whole(whole)
    places = range(len(whole)) if len(whole) < 100 else np.linspace(0, len(whole) - 1, 200).astype(int)
    assert not any(is_whole(whole[:place]) for place in places)


def test_of_a_folder_only_torn_programs_are_removed_and_each_is_looked_at_once(tmp_path):
    torn = FORMATS["zlib"][:-1]
    kept = {"whole-cache": FORMATS["zlib"], "unknown-cache": b"something else", "torn": torn}
    for name, content in {**kept, "torn-cache": torn, "empty-cache": b""}.items():
        (tmp_path / name).write_bytes(content)
    remove_incomplete(tmp_path)
    programs = list(tmp_path.glob("*-cache"))
    assert len(programs) == 4  # they might not be finished

    for path in programs:
        date(path, last_look(tmp_path))
    remove_incomplete(tmp_path)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == {**kept, "checked": b""}

    whole = tmp_path / "whole-cache"
    cut(whole)
    date(whole, last_look(tmp_path) - 1)
    remove_incomplete(tmp_path)
    assert whole.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_a_pipe_or_a_link_in_place_of_a_program_is_neither_read_nor_removed(tmp_path):
    os.mkfifo(tmp_path / "pipe-cache")
    (tmp_path / "link-cache").symlink_to("/dev/zero")
    remove_incomplete(tmp_path)
    for path in tmp_path.glob("*-cache"):
        os.utime(path, ns=(0, 0), follow_symlinks=False)
    os.utime(tmp_path / "checked", ns=(0, 0))
    remove_incomplete(tmp_path)
    assert len(list(tmp_path.glob("*-cache"))) == 2


def test_a_folder_that_is_not_there_is_no_error(tmp_path):
    remove_incomplete(tmp_path / "none")
    assert not (tmp_path / "none").exists()
