"""Plant a bug in a copy of the source, run the tests that must fail there, and write the table of bugs."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bugs import Bug

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "accord"


def planted(bug: Bug, folder: Path) -> Path:
    """A folder with a copy of the source that has the bug, to be the first on Python's path."""
    copy = folder / "accord"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / bug.file
    text = file.read_text()
    if text.count(bug.old) != 1:
        raise ValueError(f"{bug.file} has the text to be replaced {text.count(bug.old)} times:\n{bug.old}")
    file.write_text(text.replace(bug.old, bug.new))
    return folder


def survivors(bug: Bug, folder: Path) -> tuple[list[str], str]:
    """The named tests that do not fail with the bug, and what pytest printed."""
    path = os.pathsep.join([str(planted(bug, folder)), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "-rf", "-p", "no:cacheprovider", *bug.tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    failed = re.findall(r"^FAILED (\S.*?)(?: - .*)?$", run.stdout, re.MULTILINE)
    return [test for test in bug.tests if test not in failed], run.stdout + run.stderr


def table(bugs: Mapping[str, Bug]) -> str:
    """The bugs and the tests that catch them, as Markdown."""
    rows = ["| bug | planted in | caught by |", "|---|---|---|"]
    for bug in bugs.values():
        caught = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in bug.tests)
        rows.append(f"| {bug.what} | `{bug.file}` | {caught} |")
    return "\n".join(rows) + "\n"
