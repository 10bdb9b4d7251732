"""Hold that each slow test comes up in one of three runs, and that a change brings the tests of what it touches."""

import os
import subprocess
from pathlib import Path

import pytest
from slow_turns import (
    BESIDE,
    CLOCK,
    ELSEWHERE,
    NUM_TURNS,
    PAUSE,
    Share,
    share_here,
    touched_by,
    turn_at,
    turn_of,
)

ROOT = Path(__file__).parents[1]
TESTS = [f"tests/gp/test_bases.py::test_law[{number}]" for number in range(300)]
TURNS = [2, 1, 2, 0, 1, 1, 0, 2, 2]  # of the first of them
MORNING = 1_700_000_000


@pytest.fixture
def repository(tmp_path):
    """Make a commit of a file at some second; without arguments, the folder."""

    def commit(file=None, seconds=0):
        if file is None:
            return tmp_path
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(f"{seconds}")
        _git(tmp_path, "add", "-A")
        _git(tmp_path, "commit", "-qm", "a commit", seconds=MORNING + seconds)
        return tmp_path

    _git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "tests" / "gp").mkdir(parents=True)
    return commit


def _git(folder, *arguments, seconds=MORNING):
    who = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    when = {f"GIT_{kind}_DATE": f"{seconds} +0000" for kind in ("AUTHOR", "COMMITTER")}
    subprocess.run(
        ["git", *who, "-C", str(folder), *arguments], check=True, env=when | {"PATH": os.environ["PATH"]}
    )


def test_each_slow_test_is_due_in_one_of_three_turns():
    for test in TESTS:
        assert sum(Share(turn, frozenset()).is_due(test) for turn in range(NUM_TURNS)) == 1
    counts = [sum(turn_of(test) == turn for test in TESTS) for turn in range(NUM_TURNS)]
    assert min(counts) > 70


def test_the_third_of_a_test_is_the_same_on_every_machine():
    """Unlike Python's own hash of a string, which differs from process to process."""
    assert [turn_of(test) for test in TESTS[:9]] == TURNS


def test_three_sittings_have_three_turns_however_many_commits_each_has():
    first = [MORNING, MORNING + 60]
    second = [*first, MORNING + 60 + PAUSE + 1]
    third = [*second, second[-1] + PAUSE + 1, second[-1] + PAUSE + 2, second[-1] + PAUSE + 3]
    assert [turn_at(each) for each in (first, second, third)] == [0, 1, 2]
    assert turn_at(third[::-1]) == turn_at(third)


def test_a_test_is_touched_by_its_file_or_its_folder():
    share = Share(0, frozenset({"gp", "ode/test_ode.py"}))
    assert share.is_touched("tests/gp/test_exact.py::test_a[b/c]")
    assert share.is_touched("tests/ode/test_ode.py::test_a")
    assert not share.is_touched("tests/ode/test_other.py::test_a")
    assert not share.is_touched("tests/test_slow_turns.py::test_a")


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        ("src/accord/gp/exact.py", {"gp"}),
        ("src/accord/storage/base.py", {"storage", "faults"}),
        ("tests/gp/test_exact.py", {"gp/test_exact.py"}),
        ("tests/faults/fault_models.py", {"faults"}),
        ("tests/distributions/data/extremes.json", {"distributions"}),
        ("tests/gp/test_that_was_deleted.py", set()),
        ("docs/tutorials/page.md", {"docs"}),
        ("examples/arK/model.py", {"examples", "posteriors"}),
        ("src/accord/__init__.py", set()),
        ("pyproject.toml", set()),
        ("tests/conftest.py", set()),
    ],
)
def test_a_change_touches_the_tests_of_its_room_and_what_shows_it_first(changed, touched):
    assert touched_by([changed], ROOT) == touched


def test_every_room_and_every_folder_of_tests_has_its_place_in_the_tables():
    rooms = {path.name for path in (ROOT / "src" / "accord").iterdir() if (path / "__init__.py").exists()}
    assert set(BESIDE) == rooms
    folders = {path.name for path in (ROOT / "tests").iterdir() if next(path.glob("**/test_*.py"), None)}
    named = {folder for table in (BESIDE, ELSEWHERE) for beside in table.values() for folder in beside}
    assert folders <= named | rooms
    assert named <= folders


def test_the_change_is_what_was_committed_since_the_last_pause(repository):
    repository("src/accord/ode/solve.py", 0)
    repository("src/accord/gp/exact.py", PAUSE + 1)
    root = repository("README.md", PAUSE + 2)
    assert share_here(root, MORNING) == Share(1, frozenset({"gp"}))


def test_the_change_of_a_branch_begins_where_it_left_the_other(repository):
    root = repository("README.md", 0)
    _git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    _git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repository("src/accord/gp/exact.py", 1)
    repository("README.md", 2 * PAUSE)
    assert share_here(root, MORNING) == Share(1, frozenset({"gp"}))


def test_without_a_history_nothing_is_touched_and_the_clock_says_whose_turn_it_is(repository, tmp_path):
    times = [MORNING + CLOCK * number for number in range(NUM_TURNS)]
    root = repository("src/accord/gp/exact.py", 0)
    repository("src/accord/gp/exact.py", 1)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{root}", str(clone)], check=True)
    for place in (clone, tmp_path / "no such folder"):
        shares = [share_here(place, now) for now in times]
        assert {share.turn for share in shares} == set(range(NUM_TURNS))
        assert not any(share.touched for share in shares)
