"""Complete words at the shell: run folders, examples and executors."""

from pathlib import Path

from ..core.errors import OptionError
from . import examples

EXECUTORS = ("threads", "processes", "serial", "dask", "ray")
"""Names of executors at the command line."""


def run_folders(incomplete: str) -> list[str]:
    """Return the folders with a run that begin so, beside those on the way to one."""
    parent, _, begun = incomplete.rpartition("/")
    there = Path(parent or ("/" if incomplete.startswith("/") else "."))
    try:
        folders = sorted(each for each in there.iterdir() if each.is_dir() and each.name.startswith(begun))
    except OSError:  # there is no such folder, or it cannot be read
        return []
    before = incomplete[: len(incomplete) - len(begun)]
    runs = [each for each in folders if (each / "manifest.json").is_file()]
    above = [each for each in folders if each not in runs and any(each.glob("*/manifest.json"))]
    return [f"{before}{each.name}" for each in runs] + [f"{before}{each.name}/" for each in above]


def example_names(incomplete: str) -> list[str]:
    """Return the names of examples that begin so."""
    try:
        return [each.name for each in examples.find_all() if each.name.startswith(incomplete)]
    except OptionError:  # this installation has none
        return []


def executor_names(incomplete: str) -> list[str]:
    """Return the names of executors that begin so."""
    return [name for name in EXECUTORS if name.startswith(incomplete)]
