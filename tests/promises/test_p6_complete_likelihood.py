"""Hold promise P6: a likelihood whose data is shared out is complete, with the same bits on any number of devices.

Over processes, `tests/parallel/test_multihost.py` holds it; that a check proves it on the user's own model,
`tests/parallel/test_check.py`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "parallel" / "parallel_cases.py"
DEVICES = (1, 2, 3, 4, 8)
FEW = (1, 2, 8)
QUICK = (1, 2)
# XLA takes other steps for a program of one device, whose results may differ in their last bits where the model is
# evaluated at several positions at once.
BATCHED = ("hessian", "jacrev of grad", "jacfwd of jacfwd", "vmap", "vmap of grad")


def start(num_devices: int, num_rows: int) -> subprocess.Popen:
    command = [sys.executable, str(PROGRAM), str(num_devices), str(num_rows)]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen) -> dict:
    out, _ = child.communicate(timeout=600)
    assert child.returncode == 0
    return json.loads(out.splitlines()[-1])


@pytest.fixture(
    scope="module",
    params=[
        (37, QUICK),  # rows that no number of devices divides
        pytest.param((4003, DEVICES), marks=pytest.mark.slow),
        pytest.param((5, FEW), marks=pytest.mark.slow),  # fewer rows than there are blocks
    ],
    ids=str,
)
def found(request):
    """By number of devices."""
    num_rows, devices = request.param
    return {num_devices: finish(start(num_devices, num_rows)) for num_devices in devices}


def test_every_derivative_is_that_of_the_whole_model(found):
    for part, results in found[1]["errors"].items():
        for name, error in results.items():
            assert error < 1e-12, (part, name, error)


def test_a_parallel_likelihood_of_the_users_that_forgets_its_reduction_is_refused(found):
    for num_devices in set(found) - {1}:
        assert "does not sum the parts" in found[num_devices]["forgotten"]


def test_bits_are_the_same_on_any_number_of_devices(found):
    for num_devices in set(found) - {1, 2}:
        assert found[num_devices]["digests"] == found[2]["digests"], num_devices
    for part, digests in found[2]["digests"].items():
        if part != "draws, 2 lanes":
            for name in digests.keys() - BATCHED:
                assert digests[name] == found[1]["digests"][part][name], (part, name)
