"""Test that the reference has every public name, is what the code says, and that examples print what they show."""

import ast
import doctest
import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from accord.cli import main

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
try:
    import make_reference
    import reference_commands
    import reference_names
    from constraint_examples import EXAMPLES
finally:
    sys.path.remove(str(DOCS))

THINGS = {
    page.prefix + name: thing
    for page in reference_names.pages().values()
    for name, thing in page.things.items()
}
SETUP = (DOCS / "reference_setup.py").read_text(encoding="utf-8")
# What takes long: to compile a sampler, also for the draws that are looked at, and to compute networks eagerly.
SAMPLES = re.compile(r"infer\.(sample|calibrate|simulate_and_recover)\(|reparam\.propose\(|\bdraws\b(?!=)")
HAS_NETWORK = re.compile(r"NN\.init|Coupling")
WAITS = {"member", "watch", "stop"}  # for a run elsewhere
PACKAGES = {"infer.Ray": "ray"}  # that the tests do not bring


def with_marks(name):
    example = make_reference.example_of(THINGS[name])
    marks = [pytest.mark.slow] if SAMPLES.search(example) or HAS_NETWORK.search(example) else []
    if (package := PACKAGES.get(name)) and importlib.util.find_spec(package) is None:
        marks.append(pytest.mark.skip(reason=f"{package} is not installed"))
    return pytest.param(name, marks=marks)


def execute(code, names=None):
    names = names or {"__name__": "reference"}
    with np.printoptions():  # the setup chooses some, which end here
        exec(compile(code, "reference_setup.py", "exec"), names)
    return names


def with_one_model(name):
    """Return the imports and one model of the setup, as a file that a command is given."""
    parts = ast.parse(SETUP).body
    kept = [
        part
        for part in parts
        if isinstance(part, ast.Import | ast.ImportFrom)
        or (isinstance(part, ast.FunctionDef) and part.name == name)
    ]
    return "\n\n".join(ast.unparse(part) for part in kept)


@pytest.fixture(scope="module")
def without_draws():
    return execute(SETUP.partition("\ndraws = ")[0])


@pytest.fixture(scope="module")
def with_draws():
    return execute(SETUP)


def test_every_public_name_has_an_example():
    assert len(THINGS) > 100
    assert not [name for name, thing in THINGS.items() if not make_reference.example_of(thing)]


@pytest.mark.parametrize("name", [with_marks(name) for name in THINGS])
def test_an_example_prints_what_it_shows(name, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = make_reference.example_of(THINGS[name])
    names = request.getfixturevalue("with_draws" if SAMPLES.search(example) else "without_draws")
    test = doctest.DocTestParser().get_doctest(f"{example}\n", names, name, None, 0)
    report: list[str] = []
    with np.printoptions(precision=3, suppress=True):
        found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert found.attempted
    assert not found.failed, "".join(report)


def test_the_pages_are_what_the_code_gives():
    made = make_reference.make_pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")}
    assert there == made, "Run `python docs/make_reference.py`."


@pytest.mark.parametrize("name", sorted(reference_names.constraints.__all__))
def test_a_constraint_allows_the_first_value_of_its_example_alone(name):
    names = {"np": np, "constraints": reference_names.constraints, "dist": reference_names.dist}
    assert list(eval(EXAMPLES[name], names)) == [True, False]


def test_every_command_has_an_example_in_its_help():
    for name, command in reference_commands.commands().items():
        lines = reference_commands.examples(command)
        assert lines and all(line.split()[:2] == ["accord", name] for line in lines)


@pytest.mark.slow
def test_the_examples_of_commands_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(with_one_model("coin"), encoding="utf-8")
    Path("data.json").write_text(json.dumps({"num_tosses": 4, "y": [1, 0, 1, 1]}), encoding="utf-8")
    Path("new.json").write_text(json.dumps({"num_tosses": 4}), encoding="utf-8")
    rows = [f"{i % 7}.5,{i % 5},{i % 3},{i % 4},{i % 2},{1 + i % 3}" for i in range(30)]
    Path("table.csv").write_text("\n".join(["y,x,school,count,treatment,days", *rows]), encoding="utf-8")
    commands = reference_commands.commands()
    for name in [name for name in commands if name not in WAITS]:  # `sample` is the first
        for line in reference_commands.examples(commands[name]):
            with pytest.raises(SystemExit) as ended:
                main(shlex.split(line)[1:])
            assert not ended.value.code, line
    assert Path("ahead.npz").exists()
