"""Test that the reference has every public name, is what the code says, and that examples print what they show."""

import ast
import doctest
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from accord.cli import main
from accord.language import ModelFunction

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


def with_methods(things):
    """Return things and those of their methods that have an example, by name."""
    found = dict(things)
    for name, thing in things.items():
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if (
                not member.startswith("_")
                and callable(function)
                and "**Example**" in (function.__doc__ or "")
            ):
                found[f"{name}.{member}"] = function
    return found


# A method of a class that the reference does not name is here too.
WITH_EXAMPLES = with_methods(THINGS) | {"ac.model.bind": ModelFunction.bind}
SETUP = (DOCS / "reference_setup.py").read_text(encoding="utf-8")
# What takes long: to compile a sampler, also for the draws that are looked at, and to compute networks eagerly.
SAMPLES = re.compile(
    r"infer\.(sample|calibrate|divide|simulate_and_recover)\(|reparam\.propose\(|\bdraws\b(?!=)"
)
HAS_NETWORK = re.compile(r"NN\.init|Coupling")
FITS = re.compile(r"infer\.(fit|pathfinder)\(")
COMMAND = "import accord_command; accord_command.main()"
ALONE = {"run-numpyro"}  # in a process where NumPyro itself was not imported
WAITS = {"member", "watch", "stop"}  # for a run elsewhere
# That the tests do not bring.
PACKAGES = {
    "infer.Ray": "ray",
    **{f"interop.pymc.{name}": "pymc" for name in ("Sampler", "sample", "target")},
    "interop.numpyro.target": "numpyro",
    **{f"interop.stan.{name}": "httpstan" for name in ("messages", "target")},
}

NUMPYRO_SCRIPT = """
import argparse

from jax import random
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model():
    y = numpyro.sample("y", dist.Normal(0, 3))
    numpyro.sample("x", dist.Normal(0, numpyro.deterministic("scale", 2 ** (y / 6))))


parser = argparse.ArgumentParser()
parser.add_argument("--num-samples", type=int, default=10)
options = parser.parse_args()
mcmc = MCMC(NUTS(model), num_warmup=100, num_samples=options.num_samples, progress_bar=False)
mcmc.run(random.PRNGKey(0))
assert mcmc.get_samples()["x"].shape == (500,)
mcmc.print_summary()
"""


def with_marks(name):
    example = make_reference.example_of(WITH_EXAMPLES[name])
    is_slow = SAMPLES.search(example) or HAS_NETWORK.search(example)
    is_slow = is_slow or (name not in THINGS and FITS.search(example))
    marks = [pytest.mark.slow] if is_slow else []
    marks += [pytest.mark.stan] if name.startswith("interop.stan.") else []
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


def test_every_example_of_the_code_is_one_that_is_run():
    run = {make_reference.example_of(thing) for thing in WITH_EXAMPLES.values()}
    missed = []
    own = DOCS.parent / "src" / "accord"
    for file in {*own.rglob("*.py")} - {own / "numpyro" / "install.py"}:  # which has a test of its own
        text = file.read_text(encoding="utf-8")
        for part in ast.walk(ast.parse(text)) if ">>>" in text else ():
            if isinstance(part, ast.ClassDef | ast.FunctionDef | ast.Module):
                found = ast.get_docstring(part) or ""
                if ">>>" in found and found.partition("**Example**")[2].strip("\n") not in run:
                    missed.append(f"{file.name}: {getattr(part, 'name', 'the file')}")
    assert not missed


@pytest.mark.parametrize("name", [with_marks(name) for name in WITH_EXAMPLES])
def test_an_example_prints_what_it_shows(name, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = make_reference.example_of(WITH_EXAMPLES[name])
    names = request.getfixturevalue("with_draws" if SAMPLES.search(example) else "without_draws")
    test = doctest.DocTestParser().get_doctest(f"{example}\n", names, name, None, 0)
    report: list[str] = []
    with np.printoptions(precision=3, suppress=True):
        found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert found.attempted
    assert not found.failed, "".join(report)


@pytest.mark.slow
def test_the_example_of_what_takes_the_place_of_numpyro_prints_what_it_shows():
    """In a process of its own, where NumPyro itself was not imported."""
    code = """
import doctest, sys
import accord.numpyro
found = doctest.testmod(sys.modules["accord.numpyro.install"])
sys.exit(found.failed or not found.attempted)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


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
    Path("funnel.py").write_text(NUMPYRO_SCRIPT, encoding="utf-8")
    commands = reference_commands.commands()
    for name in [name for name in commands if name not in WAITS]:  # `sample` is the first
        for line in reference_commands.examples(commands[name]):
            words = shlex.split(line)[1:]
            if name in ALONE:
                done = subprocess.run(
                    [sys.executable, "-c", COMMAND, *words], check=True, stdout=subprocess.PIPE, text=True
                )
                assert "n_eff" in done.stdout
                continue
            with pytest.raises(SystemExit) as ended:
                main(words)
            assert not ended.value.code, line
    assert Path("ahead.npz").exists()
