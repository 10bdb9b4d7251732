"""Import the commands of `benchmarks/` in a test, and let go of them after it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@contextmanager
def importable(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> Iterator[None]:
    """Let modules of these folders be imported by name, as where they run, within the `with` block."""
    before = set(sys.modules)
    for folder in folders:
        monkeypatch.syspath_prepend(str(folder))
    yield
    for name in set(sys.modules) - before:
        if any((folder / f"{name}.py").exists() for folder in folders):
            del sys.modules[name]
