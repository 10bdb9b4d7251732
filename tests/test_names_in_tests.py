"""Look up what each test takes from the package, also those that seldom run: what moved is found on the same day."""

import ast
import builtins
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

TESTS = Path(__file__).parent
MISSPELT = {"core/test_dictionary.py"}
"""Files that ask for names which are not there, to read the error."""
FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.py"))


@pytest.mark.parametrize("file", sorted({*FILES} - MISSPELT))
def test_what_a_test_takes_from_the_package_is_there(file):
    tree = ast.parse((TESTS / file).read_text())
    modules, missing = {}, []
    for local, value, where in imported(tree):
        if value is None:
            missing.append(where)
        elif isinstance(value, ModuleType):
            modules[local] = value
    missing += [
        f"{file}:{line}: {name}.{attribute}"
        for name, attribute, line in taken(tree)
        if name in modules and not hasattr(modules[name], attribute) and not hasattr(builtins, attribute)
    ]
    assert missing == []


def test_a_name_that_moved_is_found():
    tree = ast.parse(
        "from accord.mcmc import memory\nfrom accord.core.errors import Gone\n"
        "def test_of(monkeypatch):\n    monkeypatch.setattr(memory, 'gone', 1)\n    memory._moved()\n"
    )
    assert [(local, value is None) for local, value, _ in imported(tree)] == [
        ("memory", False),
        ("Gone", True),
    ]
    assert sorted(attribute for name, attribute, _ in taken(tree) if name == "memory") == ["_moved", "gone"]


def imported(tree: ast.Module) -> Iterator[tuple[str, object, str]]:
    """Yield the local name, the value (None if it is not there) and the words of each import from the package."""
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.ImportFrom)
            or node.level
            or (node.module or "").split(".")[0] != "accord"
        ):
            continue
        assert node.module is not None
        for alias in node.names:
            where = f"from {node.module} import {alias.name}"
            yield alias.asname or alias.name, _value(node.module, alias.name), where


def _value(module: str, name: str) -> object:
    try:
        found = importlib.import_module(module)
        return getattr(found, name) if hasattr(found, name) else importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        return (
            None if (error.name or "").startswith("accord") else error
        )  # or it needs a package that is not here


def taken(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Yield each attribute read from a name, and each replaced in it for the time of a test."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Load()):
                yield name, attribute, node.lineno
            case ast.Call(
                func=ast.Attribute(attr="setattr"),
                args=[ast.Name(id=name), ast.Constant(value=str(text)), *_],
            ):
                yield name, text, node.lineno
