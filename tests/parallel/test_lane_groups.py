"""Share out groups of lanes over several devices of the CPU, which stand for accelerators."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_each_device_has_its_group_and_the_draws_are_those_of_one_device():
    environment = {
        **os.environ,
        "JAX_NUM_CPU_DEVICES": "3",
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path]),
    }
    command = [sys.executable, str(HERE / "lane_groups.py")]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["is_same"]
    groups = ["(0, 1)", "(2, 3)", "(4, 5)"]
    assert sorted(found["where"]) == groups
    # A group stays where it was, through dozens of tasks.
    assert sorted(found["where"][group] for group in groups) == [[0], [1], [2]]
    assert "idle_devices" not in found["codes"] and "idle_devices" in found["codes of one group"]
    assert found["devices of one group"] == [[0]]
