"""Press Ctrl-C on the command line, from its first line on: it ends with status 130 and without a traceback.

The moments of the tests in the default run are signs of the process itself: an import, a callback, a line of the model.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from accord import infer
from accord.core.errors import StorageError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as on POSIX")

MODEL = """
import signal
import accord as ac
import accord.distributions as dist

{at_import}

@ac.model
def one():
    {in_model}
    ac.sample("x", dist.Normal(0, 1))
"""
PRESS = "signal.raise_signal(signal.SIGINT)"
# Before the first line of the command: be as in a terminal, whatever the tests run in, and act once a module is looked
# for. `accord` is, when the command has begun to hear.
BOOT = """
import gc, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

def press(*_):
    if press in gc.callbacks:
        gc.callbacks.remove(press)
    signal.raise_signal(signal.SIGINT)

def press_in_a_callback():
    gc.callbacks.append(press)
    gc.collect()

class Watch:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            {act}

sys.meta_path.insert(0, Watch())
from accord_command import main
main()
"""
SAMPLE = ("sample", "model.py", "--out", "run", "--draws", "100000", "--warmup", "100", "--chains", "2")


def start(folder, module, act, at_import="", in_model="pass"):
    """Start a command in a folder, which acts once a module is looked for."""
    (folder / "model.py").write_text(MODEL.format(at_import=at_import, in_model=in_model))
    command = [sys.executable, "-c", BOOT.format(module=module, act=act), *SAMPLE]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


# The module that is looked for, what is done then, and what the model file does at its import and in its model.
MOMENTS = {
    "while the package is found": dict(module="accord", act="press()"),
    "while JAX is imported": dict(module="jaxlib", act="press()"),
    "in a callback of the collector": dict(module="accord.cli.app", act="press_in_a_callback()"),
    "in the model file": dict(module="", act="", at_import=PRESS),
    "while the model is traced": dict(module="", act="", in_model=PRESS),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_ctrl_c_before_the_run_ends_the_command(tmp_path, name):
    child = start(tmp_path, **MOMENTS[name])
    out, err = child.communicate(timeout=300)
    assert (child.returncode, out, err) == (130, "", "")
    assert not (tmp_path / "run").exists()


WITH_A_WORKER = """
import signal, sys
import accord.cli.app as app

def keep(address, wait):
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        print("ended its worker")

app.keep = keep
signal.signal(signal.SIGINT, signal.default_int_handler)
from accord_command import main
main()
"""


def test_ctrl_c_ends_what_a_member_has_started():
    """It ends its worker when an exception passes: the handler that ends the process alone would leave it."""
    command = [sys.executable, "-c", WITH_A_WORKER, "member", "127.0.0.1:1"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, "ended its worker\n", "")


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """How long the command takes from its first line on, once its programs are on disk."""
    for name in ("cold", "warm"):
        began = time.monotonic()
        status, out, err = press_after(tmp_path_factory.mktemp(name), None)
        assert status == 0, out + err
    return time.monotonic() - began


def press_after(folder, delay):
    """Wait for the first line, and press Ctrl-C after so many seconds: status and output."""
    child = start(folder, "accord", "os.write(2, b'begins\\n')")
    assert child.stderr.readline() == "begins\n"
    if delay is not None:
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
    return child.returncode, out, err


@pytest.mark.slow
def test_100_interrupts_at_random_moments_end_the_command_or_keep_what_was_drawn(tmp_path, seconds):
    rng = np.random.default_rng(19)
    before = 0
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        status, out, err = press_after(folder, rng.uniform(0, seconds))
        assert "Traceback" not in err and "Exception ignored" not in err, err
        try:
            draws = infer.load(folder / "run")
        except StorageError:
            draws = None
        is_whole = draws is not None and draws.num_draws == 100_000
        assert status == 130 or (status == 0 and is_whole), (status, out, err)
        before += draws is None or draws.num_draws == 0
        if "accord resume" in out:
            assert draws is not None
    print(f"of {seconds:.1f} seconds: before the first draw:", before)
    assert 10 <= before <= 95
