"""Run every broken model: none hangs, none returns as if nothing were wrong, and messages say what they must."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from failure_case import Case
from failure_outcome import SHORT, outcome, shortfall
from gallery import CASES

from accord import infer

HERE = [name for name, case in CASES.items() if case.num_devices == 1]
ON_TWO_DEVICES = [name for name, case in CASES.items() if case.num_devices == 2]


@pytest.mark.parametrize("name", HERE)
def test_a_broken_model_is_named(name):
    case = CASES[name]
    assert not shortfall(case, outcome(case, executor=infer.Serial(), **SHORT))


def test_a_broken_model_on_two_devices_is_named():
    """In a process of its own, since JAX is told the number of devices first."""
    script = Path(__file__).with_name("failures_on_two_devices.py")
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, str(script), *ON_TWO_DEVICES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == dict.fromkeys(ON_TWO_DEVICES, "")


def test_a_run_that_says_nothing_would_be_seen():
    def sound():
        return CASES["a normal beyond 40"].model()

    found = outcome(Case(sound, "warning", ("'v'",)), executor=infer.Serial(), **SHORT)
    assert "no warning" in shortfall(Case(sound, "warning", ("'v'",)), found)


def test_every_case_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
    for name in CASES:
        assert f"### {name[0].upper()}{name[1:]}\n" in page, "Run `python docs/make_failures.py`."


def test_no_model_is_known_to_accord():
    """By its name; those of one word are ordinary words, which a message may use."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in Path(infer.__file__).parent.rglob("*.py"))
    models = {getattr(case.model, "name", getattr(case.model, "__name__", "")) for case in CASES.values()}
    named = [name for name in models if "_" in name]
    assert len(named) > 40
    assert not [name for name in named if name in source]
