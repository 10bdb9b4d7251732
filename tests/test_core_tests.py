"""Hold that the lists of the core and of what is left to the slow tests name what is there, and touch every room."""

import ast
from pathlib import Path

import pytest
from core_tests import COLLECTED, CORE, LEFT_TO_SLOW, is_core, is_left_to_slow

TESTS = Path(__file__).parent
ROOMS = sorted(path.parent.name for path in (TESTS.parent / "src" / "accord").glob("*/__init__.py"))
SHOWN_BY = {"executors": "parallel"}
"""Where tests of a room are whose folder has another name."""
TARGETS = "sampler/test_known_targets.py::test_averages_are_right"
RUNS = {
    "NUTS": f"{TARGETS}[normal of dimension 10-NUTS()-1-2-16384]",
    "HMC": f"{TARGETS}[normal with correlation 0.99-HMC()-8-8-8192]",
    "ChEES": f"{TARGETS}[normal with correlation 0.99-ChEES()-64-64-2048]",
    "Processes": "faults/test_faults_workers.py::test_a_run_whose_workers_die_draws_the_same[1]",
    "Dask": "faults/test_faults_dask.py::test_a_run_whose_children_die_draws_the_same[1]",
    "Devices": "parallel/test_rates.py::test_the_posterior_is_the_exact_one[devices]",
    "MultiHost": "parallel/test_multihost.py::"
    "test_two_processes_that_read_their_rows_have_the_bits_of_one_device_and_leave_no_trace",
}
"""A default test of a run of each sampler and executor, but for threads, on which most tests run, and Ray."""
LISTS = {"core": CORE, "left to slow": LEFT_TO_SLOW, "runs": tuple(RUNS.values())}


@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS)
def test_what_is_listed_is_there_and_once(names):
    assert len(set(names)) == len(names)
    for name in names:
        file, _, function = name.partition("::")
        assert (TESTS / file).exists(), name
        if function:
            assert f"def {function.partition('[')[0]}(" in (TESTS / file).read_text(encoding="utf-8"), name


@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS)
def test_a_member_that_is_listed_is_one_of_its_table(names, request):
    """Of functions whose tests were all collected, as in a run of the whole suite: members are known only then."""
    if any("::" in argument for argument in request.config.args):
        pytest.skip("only some tests were asked for")
    collected = request.config.stash[COLLECTED]
    functions = {node.partition("[")[0] for node in collected}
    members = {f"tests/{name}" for name in names if "[" in name}
    assert not {name for name in members - collected if name.partition("[")[0] in functions}


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
        f"{folder}/{file.name}::{part.name}"
        for file in (TESTS / folder).glob(pattern)
        for part in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(part, ast.FunctionDef) and part.name.startswith("test_")
        if "pytest.mark.slow" not in map(ast.unparse, part.decorator_list)
    ]
    assert any(not is_left_to_slow(name) for name in defaults)


@pytest.mark.parametrize("name", RUNS.values(), ids=RUNS)
def test_each_sampler_and_executor_has_a_default_test_of_a_run(name):
    assert not is_left_to_slow(name)
