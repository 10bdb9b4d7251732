"""Hold that tests replace nothing private of accord: how a room does its work may change, and no test with it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PATCHES = {"setattr", "delattr", "setitem", "delitem", "patch", "object", "multiple"}
"""What monkeypatch, `mock.patch` and Python call that which replaces something."""

SIGNS = re.compile(r"\b(setattr|delattr|setitem|delitem|patch)\b|\._\w")
"""Without one of these a program has nothing to look for, and need not be parsed."""

FORBIDDEN = [
    'from accord.runs import ledger\nmonkeypatch.setattr(ledger, "_judge", None)',
    'monkeypatch.setattr("accord.runs.ledger._judge", None)',
    'from accord.runs import ledger\nmonkeypatch.setattr(ledger._rules, "judge", None)',
    'from accord.runs import ledger\nmonkeypatch.setitem(ledger._RULES, "judge", None)',
    'from accord.runs import ledger\nsetattr(ledger, "_judge", None)',
    'with mock.patch("accord.runs._ledger.judge"):\n    pass',
    'from accord.runs import Ledger\nwith mock.patch.object(Ledger, "_judge"):\n    pass',
    "import accord.runs.ledger\naccord.runs.ledger._judge = None",
    "def test():\n    from accord.runs import ledger\n    ledger._RULES['judge'] = None",
    "from accord.runs import ledger as other\nother._count += 1",
    "from accord.runs import ledger\ndel ledger._judge",
]
ALLOWED = [
    'from accord.runs import ledger\nmonkeypatch.setattr(ledger, "judge", None)',
    'monkeypatch.setattr("accord.runs.ledger.judge", _judge)',
    'from accord.runs import ledger\nmonkeypatch.setattr(ledger, "judge", lambda: ledger._judge)',
    "from accord.runs import ledger\nledger.judge = ledger._judge",
    "self._judge = None",
]


def private_patches(code: str) -> list[int]:
    """The lines of a program that replace a private name: by a call on anything, or in what comes from accord."""
    if not SIGNS.search(code):
        return []
    nodes = list(ast.walk(ast.parse(code)))
    ours = {name for node in nodes for name in _imported(node)}
    return sorted({node.lineno for node in nodes if _is_private_patch(node, ours)})


def _imported(node: ast.AST) -> Iterator[str]:
    """The names that a statement gives to something of accord."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "accord":
        yield from (each.asname or each.name for each in node.names)
    elif isinstance(node, ast.Import):
        names = [each for each in node.names if each.name.split(".")[0] == "accord"]
        yield from (each.asname or "accord" for each in names)


def _is_private_patch(node: ast.AST, ours: set[str]) -> bool:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return called in PATCHES and any(_is_private(path) for path in _replaced(node, called))
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    paths = [_path(target) for target in targets]
    return any(path[0] in ours and _is_private(path) for path in paths)


def _replaced(call: ast.Call, called: str) -> Iterator[list[str]]:
    """What a call replaces, as parts of dotted names; keys of a mapping are no names."""
    for number, argument in enumerate(call.args[:2]):
        if isinstance(argument, ast.Attribute):
            yield _path(argument) if number == 0 else []
        elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield [] if called.endswith("item") and number == 1 else argument.value.split(".")
    if called == "multiple":
        yield from ([keyword.arg] for keyword in call.keywords if keyword.arg)


def _path(target: ast.expr) -> list[str]:
    """The parts of `a.b[c].d`, with "" in front where it does not begin with a name."""
    if isinstance(target, ast.Attribute):
        return [*_path(target.value), target.attr]
    if isinstance(target, ast.Subscript):
        return _path(target.value)
    return [target.id if isinstance(target, ast.Name) else ""]


def _is_private(path: list[str]) -> bool:
    return any(part.startswith("_") for part in path)


@pytest.mark.parametrize("code", FORBIDDEN)
def test_a_private_name_that_is_replaced_is_found(code):
    assert len(private_patches(code)) == 1


@pytest.mark.parametrize("code", ALLOWED)
def test_what_is_public_may_be_replaced(code):
    assert not private_patches(code)


def test_no_test_replaces_a_private_name():
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        for line in private_patches(path.read_text(encoding="utf-8"))
    ]
    assert not found, "give the code a seam, or test what can be seen from outside"
