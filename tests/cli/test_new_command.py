"""Check `accord new`: what it writes runs, and passes the test that it writes."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_a_new_model_is_checked_and_passes_its_test(folder, accord):
    status, out, _ = accord("new", "growth")
    assert status == 0 and out.startswith("Written: growth.py, growth.json, test_growth.py.")
    status, out, _ = accord("check", "growth.py", "--data", "growth.json")
    assert status == 0 and "nothing wrong was found" in out
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_growth.py"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0 and "2 passed" in ended.stdout, ended.stdout


def test_nothing_is_overwritten(folder, accord):
    Path("test_growth.py").write_text("mine")
    status, _, err = accord("new", "growth")
    assert status == 2 and "test_growth.py is here already" in err
    assert not Path("growth.py").exists() and Path("test_growth.py").read_text() == "mine"


@pytest.mark.parametrize("name", ["two words", "class", "1st", "../up", "_hidden"])
def test_a_name_that_python_does_not_take_is_refused(folder, accord, name):
    status, _, err = accord("new", name)
    assert status == 2 and "cannot be the name of a model" in err
