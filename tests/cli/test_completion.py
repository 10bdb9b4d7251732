"""Check what a shell completes."""

import os
import subprocess
import sys

from accord.cli.completing import example_names, executor_names, run_folders


def test_run_folders_are_completed_and_ways_to_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("run", "runs/schools-1", "runs/schools-2", "rubbish"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("run", "runs/schools-1", "runs/schools-2"):
        (tmp_path / name / "manifest.json").write_text("{}")
    assert run_folders("r") == ["run", "runs/"]
    assert run_folders("runs/schools") == ["runs/schools-1", "runs/schools-2"]
    assert run_folders(f"{tmp_path}/runs/") == [f"{tmp_path}/runs/schools-1", f"{tmp_path}/runs/schools-2"]
    assert run_folders("nowhere/x") == []


def test_examples_and_executors_are_completed():
    assert example_names("eight") == ["eight_schools"]
    assert executor_names("") == ["threads", "processes", "serial", "dask", "ray"]
    assert executor_names("se") == ["serial"]


def test_a_shell_is_answered(folder):
    """As bash asks it: by words in the environment."""
    (folder / "kept").mkdir()
    (folder / "kept" / "manifest.json").write_text("{}")
    (folder / "accord").write_text("from accord_command import main\nmain()\n")
    asked = {"_ACCORD_COMPLETE": "complete_bash", "COMP_WORDS": "accord report ke", "COMP_CWORD": "2"}
    found = subprocess.run([sys.executable, "accord"], env=os.environ | asked, capture_output=True, text=True)
    assert found.stdout.split() == ["kept"], found.stderr
