"""Hold what files import of each other: import-linter has the order of rooms, and this how far files form circles.

Imports within functions count too: they let a circle load, and a reader follows them all the same. Those for type
checkers do not.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "accord"

# A file of each circle, and the most files that it may have.
CIRCLES = {
    "accord.distributions.base": 10,  # every distribution offers `truncate`, `expand` and `mask`, which make others
    "accord.runs.stopping.base": 2,  # rules are joined by `&` and `|`
}


def test_no_import_between_rooms_is_excepted_from_their_order():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        assert "ignore_imports" not in contract, contract["name"]


def test_circles_of_files_are_few_and_small():
    for circle in _circles(_imported()):
        most = max((CIRCLES[name] for name in circle if name in CIRCLES), default=1)
        assert len(circle) <= most, sorted(circle)


def test_a_circle_is_found_whatever_the_function_that_imports():
    files = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"g"}, "g": {"f"}}
    assert sorted(map(sorted, _circles(files))) == [["a", "b", "c"], ["f", "g"]]
    source = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f():\n    from . import c\n"
    lines = [ast.unparse(each) for each in _statements(ast.parse(source))]
    assert sorted(lines) == ["from . import c", "import b"]


def _imported() -> dict[str, set[str]]:
    """Return, by the name of each file as a module, the files that it imports."""
    files = {_module(path): path for path in PACKAGE.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        # A stub names the files that a package loads later.
        texts = [
            each.read_text(encoding="utf-8") for each in (path, path.with_suffix(".pyi")) if each.exists()
        ]
        named = (
            name
            for statement in _statements(ast.parse("\n".join(texts)))
            for name in _names(statement, package, files)
        )
        found[module] = {name for name in named if name in files and name != module}
    return found


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports at any depth, but for those that only type checkers read."""
    if isinstance(tree, ast.Import | ast.ImportFrom):
        yield tree
    if isinstance(tree, ast.If) and ast.unparse(tree.test) in ("TYPE_CHECKING", "_typing.TYPE_CHECKING"):
        inner = iter(tree.orelse)
    else:
        inner = ast.iter_child_nodes(tree)
    for each in inner:
        yield from _statements(each)


def _names(statement: ast.Import | ast.ImportFrom, package: str, files: dict[str, Path]) -> Iterator[str]:
    """Yield what a statement imports: a file, or the package that offers the name."""
    if isinstance(statement, ast.Import):
        yield from (each.name for each in statement.names)
        return
    above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    source = ".".join([*above, *([statement.module] if statement.module else [])])
    for each in statement.names:
        inside = f"{source}.{each.name}"
        yield inside if inside in files else source


def _circles(files: dict[str, set[str]]) -> Iterator[set[str]]:
    """Yield the sets of several files of which each leads to every other."""
    reached = {name: _reached(name, files) for name in files}
    left = set(files)
    while left:
        name = left.pop()
        circle = {other for other in reached[name] if name in reached[other]} | {name}
        left -= circle
        if len(circle) > 1:
            yield circle


def _reached(name: str, files: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [name]
    while ahead:
        new = files[ahead.pop()] - found
        found |= new
        ahead += new
    return found
