"""Hold that the lists of the core and of what is left to the slow tests name what is there, and touch every room."""

from pathlib import Path

import pytest
from core_tests import CORE, LEFT_TO_SLOW, is_core, is_left_to_slow

TESTS = Path(__file__).parent
ROOMS = sorted(path.parent.name for path in (TESTS.parent / "src" / "accord").glob("*/__init__.py"))
SHOWN_BY = {"executors": "parallel"}
"""Where tests of a room are whose folder has another name."""


@pytest.mark.parametrize("names", [CORE, LEFT_TO_SLOW], ids=["core", "left to slow"])
def test_what_is_listed_is_there_and_once(names):
    assert len(set(names)) == len(names)
    for name in names:
        file, _, function = name.partition("::")
        assert (TESTS / file).exists(), name
        if function:
            assert f"def {function.partition('[')[0]}(" in (TESTS / file).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("room", ROOMS)
def test_the_core_has_tests_of_every_room(room):
    assert any(name.split("/")[0] == SHOWN_BY.get(room, room) for name in CORE)


def test_a_test_is_listed_by_its_folder_its_file_its_function_or_itself():
    assert is_core("tests/storage/test_joined.py::test_a[b]")
    assert is_core("tests/gp/test_covariances.py::test_a")
    assert not is_core("tests/gp/test_exact.py::test_a")
    member = next(name for name in LEFT_TO_SLOW if "[" in name)
    function = member.partition("[")[0]
    assert is_left_to_slow(f"tests/{member}") and not is_left_to_slow(f"tests/{function}[no such member]")
    whole = next(name for name in LEFT_TO_SLOW if "[" not in name)
    assert is_left_to_slow(f"tests/{whole}") and is_left_to_slow(f"tests/{whole}[any]")


@pytest.mark.parametrize("promise", range(1, 11))
def test_each_promise_has_a_default_test(promise):
    """The sixth is held by the tests of parallel sums, since its own start many processes."""
    folder = "parallel" if promise == 6 else "promises"
    pattern = "test_rates.py" if promise == 6 else f"test_p{promise}_*.py"
    defaults = [
        f"{folder}/{file.name}::{line.split('(')[0].removeprefix('def ')}"
        for file in (TESTS / folder).glob(pattern)
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def test_")
    ]
    assert any(not is_left_to_slow(name) for name in defaults)
