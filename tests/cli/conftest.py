"""Give the command line an empty folder with a model and its data, and run it as a shell would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from accord.cli import main

MODELS = """
import accord as ac
import accord.distributions as dist
from neighbour import SCALE


@ac.model
def slope(x, y, scale=SCALE):
    b = ac.sample("b", dist.Normal(0, 10))
    ac.sample("y", dist.Normal(b * x, scale), obs=y)
"""
TWO = MODELS + "\n\n@ac.model\ndef other(y):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: `one.py` with one model, `two.py` and `other.py` with two, and data for them."""
    (tmp_path / "one.py").write_text(MODELS)
    (tmp_path / "two.py").write_text(TWO)
    (tmp_path / "other.py").write_text(TWO)
    (tmp_path / "neighbour.py").write_text("SCALE = 1.0\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "data.json").write_text(json.dumps({"x": [1, 2, 3], "y": [2.1, 3.9, 6.2]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `accord ARGUMENTS`: its exit status, and what it printed to the two streams."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ending:
            main(arguments)
        output = capsys.readouterr()
        return int(ending.value.code or 0), output.out, output.err

    return run
